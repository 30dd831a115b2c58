// What a member makes of messages that come at an awkward moment: a group whose messages a test has written.
#include <gtest/gtest.h>

#include <deque>

#include "trainer/sync/strategies.hpp"

namespace samovar::trainer {
namespace {

class Scripted final : public PeerGroup {
 public:
  explicit Scripted(Membership first) : now_(std::move(first)) {}
  const Membership& membership() const override { return now_; }
  Result<void> send(std::uint32_t, ByteView body) override {
    sent.emplace_back(body.begin(), body.end());
    return {};
  }
  Result<std::optional<PeerMessage>> receive(std::chrono::milliseconds wait) override {
    // What comes at once ends with a pause.
    if (script_.empty() && wait.count() == 0) return std::optional<PeerMessage>();
    if (script_.empty()) return Error{Errc::unavailable, "waits for more than there is"};
    Event event = std::move(script_.front());
    script_.pop_front();
    if (event.members) now_ = *event.members;
    if (event.message) event.message->epoch = now_.epoch;
    return std::move(event.message);
  }

  void says(std::uint32_t from, Bytes body) { script_.push_back({std::nullopt, PeerMessage{from, 0, body}}); }
  void pause() { script_.push_back({}); }
  void become(Membership next) { script_.push_back({std::move(next), std::nullopt}); }

  std::vector<Bytes> sent;

 private:
  struct Event {
    std::optional<Membership> members;
    std::optional<PeerMessage> message;
  };
  Membership now_;
  std::deque<Event> script_;
};

// As the council has them (council.cpp).
enum : std::uint8_t { kPart = 1, kResult = 2 };
Bytes of_council(std::uint8_t kind, std::uint64_t epoch, std::string_view about, const Bytes& value) {
  StateWriter out;
  out.put(kind);
  out.put(epoch);
  out.put(about);
  for (int i = 0; i < 2; ++i) out.put(std::uint8_t{1});  // the first piece, and the last
  out.put(std::uint8_t{1});                              // no error
  out.put(value);
  return out.take();
}
Bytes start_part(bool resumed, bool exact) {
  StateWriter out;
  out.put(static_cast<std::uint8_t>(resumed));
  out.put(std::uint64_t{0});
  out.put(static_cast<std::uint8_t>(exact));
  return out.take();
}
Bytes start_result(std::uint64_t epoch) {
  StateWriter out;
  out.put_raw(start_part(false, false));
  out.put(epoch);
  return out.take();
}

constexpr std::size_t kStateFloats = 500'000;
// A piece of a vector all of whose floats are `value`.
Bytes state_piece(std::uint64_t first, float value) {
  StateWriter out;
  out.put(std::uint8_t{19});
  out.put(first);
  out.put(std::uint64_t{0});  // rows before
  out.put(std::uint64_t{0});  // members seen
  out.put(std::vector<float>(kStateFloats, value));
  return out.take();
}

TEST(Scripted, PiecesOfALeadThatWasLostAreNotTakenForThoseOfTheNext) {
  Scripted group({5, 7, {1, 2, 7}, {}});
  group.says(1, of_council(kResult, 5, "start", start_result(5)));
  group.pause();
  // The first lead is lost: what it sent comes after that, and what the next one is asked for later still.
  group.become({6, 7, {2, 7}, {}});
  group.pause();
  group.says(1, state_piece(0, 1));
  group.says(1, state_piece(kStateFloats, 1));
  group.pause();
  group.says(2, state_piece(0, 2));
  group.pause();
  // Asked for twice.
  group.says(2, state_piece(0, 3));
  group.pause();
  group.says(2, state_piece(kStateFloats, 2));
  Council council(group, true);
  std::vector<float> x(2 * kStateFloats);
  const auto together = make_strategy(council, StrategySpec{}, {1, false});
  Together::Start start;
  start.joining = true;
  const auto began = together->begin({x, {}}, std::move(start));
  ASSERT_TRUE(began) << began.error().message();
  EXPECT_EQ(x[0], 2);
  EXPECT_EQ(x[kStateFloats], 2) << "a hole";
  EXPECT_EQ(x.back(), 2);
}

Bytes whole_state(std::uint8_t what) {
  StateWriter out;
  for (const std::uint8_t byte : {28, 1, 1}) out.put(byte);
  out.put(std::uint64_t{100});
  out.put(what);
  return out.take();
}

TEST(Scripted, TheStateOfOneThatDoesNotLeadIsNotTaken) {
  Scripted group({5, 7, {1, 2, 7}, {}});
  group.says(1, of_council(kResult, 5, "start", start_result(5)));
  group.pause();
  group.says(2, whole_state(2));
  group.pause();
  group.says(1, whole_state(1));
  Council council(group, true);
  std::vector<float> x(8);
  StrategySpec strategy;
  strategy.kind = "allreduce";
  const auto together = make_strategy(council, strategy, {2, false});
  Bytes taken;
  together->set_state([] { return Bytes(); },
                      [&](ByteView state) -> Result<void> {
                        taken.assign(state.begin(), state.end());
                        return {};
                      });
  Together::Start start;
  start.joining = true;
  const auto began = together->begin({x, {}}, std::move(start));
  ASSERT_TRUE(began) << began.error().message();
  EXPECT_EQ(taken, Bytes{1});
}

TEST(Scripted, NobodyWaitsForTheStateOfOneThatHasEnded) {
  Scripted group({5, 1, {1, 2}, {}});
  group.says(2, of_council(kPart, 5, "start", start_part(false, false)));
  Council council(group, false);
  std::vector<float> x(8);
  StrategySpec strategy;
  strategy.kind = "averaging";
  const auto together = make_strategy(council, strategy, {1, false});
  ASSERT_TRUE(together->begin({x, {}}, {}));
  StateWriter done;
  done.put(std::uint8_t{20});
  done.put(std::uint64_t{10});
  group.says(2, done.take());
  const auto all = together->gather(Bytes{1, 2, 3});
  ASSERT_TRUE(all) << all.error().message();
  EXPECT_TRUE(all->empty());
}

TEST(Scripted, WithOtherMembersThanAgreedNobodyGoesOnFromItsOwn) {
  for (const bool lost : {false, true}) {
    Scripted group({5, 1, {1, 2}, {}});
    group.says(2, of_council(kPart, 5, "start", start_part(true, true)));
    group.pause();
    if (lost) {
      group.become({6, 1, {1}, {}});
    } else {
      group.says(2, of_council(kPart, 5, "begun", {}));
    }
    Council council(group, false);
    std::vector<float> x(8);
    StrategySpec strategy;
    strategy.kind = "averaging";
    const auto together = make_strategy(council, strategy, {1, false});
    Together::Start start;
    start.resumed = true;
    start.exact = [&] { return council.membership().members.size() == 2; };
    const auto exact = together->begin({x, {}}, std::move(start));
    ASSERT_TRUE(exact) << exact.error().message();
    EXPECT_EQ(*exact, !lost);
  }
}

TEST(Scripted, AStateThatIsTooLongIsDamaged) {
  Scripted group({5, 1, {1}, {}});
  Council council(group, false);
  std::vector<float> x(8);
  StrategySpec strategy;
  strategy.kind = "averaging";
  const auto together = make_strategy(council, strategy, {1, false});
  Together::Start start;
  start.resumed = true;
  start.exact = [] { return true; };
  start.state = together->save();
  start.state.insert(start.state.end(), {1, 2, 3});
  const auto began = together->begin({x, {}}, std::move(start));
  ASSERT_FALSE(began);
  EXPECT_EQ(began.error().code(), Errc::corrupt);
}

// The piece of the owner that lies in two runs of memory, inputs and intercepts, is one piece as for others.
TEST(Scripted, ThePieceWithTheInterceptsIsMetAsAWhole) {
  for (const char* kind : {"easgd", "downpour"}) {
    Scripted group({5, 2, {1, 2}, {}});
    group.says(1, of_council(kResult, 5, "start", start_result(5)));
    Council council(group, false);
    std::vector<float> head(12), tail(4);
    StrategySpec strategy;
    strategy.kind = kind;
    strategy.tau = 1;
    const auto together = make_strategy(council, strategy, {2, true});
    ASSERT_TRUE(together->begin({head, tail}, {}));
    StateWriter push(64);
    push.put(std::uint8_t{32});
    push.put(std::uint8_t{1});
    push.put(std::uint64_t{5});  // epoch
    push.put(std::uint64_t{8});  // first float: 8 to 15 are this member's
    for (int i = 0; i < 2; ++i) push.put(std::uint32_t{0});
    for (int i = 0; i < 2; ++i) push.put(std::uint64_t{10});
    Bytes body = push.take();
    body.resize(64);
    const std::vector<float> other(8, 10.0f);
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(other.data());
    body.insert(body.end(), bytes, bytes + 8 * sizeof(float));
    group.says(1, body);
    group.pause();
    const auto stepped = together->stepped(10, 0.001, 0.001);
    ASSERT_TRUE(stepped) << stepped.error().message();
    ASSERT_EQ(together->slice().size(), 8u);
    EXPECT_GT(together->slice()[0], 1) << "the other's counts";
    for (const float value : together->slice()) EXPECT_EQ(value, together->slice()[0]) << kind;
    EXPECT_EQ(tail[0], head[8]) << kind;
  }
}

}  // namespace
}  // namespace samovar::trainer
