// Questions and answers on a simulated network that loses, doubles and cuts.
#include "daemon/net/exchange.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "base/sim/sim_transport.hpp"
#include "daemon/net/envelope.hpp"

namespace samovar::net {
namespace {

using namespace std::chrono_literals;

struct End {
  End(SimScheduler& world, SimNetwork& network, const std::string& name, ExchangeOptions options = {})
      : loop(std::make_unique<SimLoop>(world)),
        transport(network.attach(name, *loop)),
        exchange(std::make_unique<Exchange>(*loop, *transport, options)) {}
  std::unique_ptr<SimLoop> loop;
  std::unique_ptr<SimTransport> transport;
  std::unique_ptr<Exchange> exchange;
};

class ExchangeTest : public ::testing::Test {
 protected:
  using Answer = std::optional<Result<Bytes>>;

  // The answer appears where the caller looks.
  void ask(End& from, const std::string& to, const std::string& text, Answer& answer,
           AskOptions options = {}) {
    from.loop->post([&from, to, text, &answer, options] {
      spawn<Result<Bytes>>(from.exchange->ask(to, Topic::propose, to_bytes(text), options),
                           [&answer](Result<Bytes> result) {
                             ASSERT_FALSE(answer) << "one result for one question";
                             answer.emplace(std::move(result));
                           });
    });
  }
  static Task<Result<Bytes>> echo(std::string, Bytes body) {
    body.push_back('!');
    co_return body;
  }
  bool run(const Answer& answer) {
    return world_.run_until([&] { return answer.has_value(); }, 1h);
  }

  SimScheduler world_{7};
  SimNetwork network_{world_, {}};
  End a_{world_, network_, "a"};
  End b_{world_, network_, "b"};
};

TEST_F(ExchangeTest, AQuestionGetsItsAnswer) {
  b_.exchange->on_ask(Topic::propose, &echo);
  Answer answer;
  ask(a_, "b", "hello", answer);
  ASSERT_TRUE(run(answer));
  ASSERT_TRUE(*answer) << answer->error().message();
  EXPECT_EQ(as_text(**answer), "hello!");
  EXPECT_EQ(a_.exchange->open_questions(), 0u);
}

TEST_F(ExchangeTest, OnesOwnQuestionsAreAnsweredWithoutANetwork) {
  a_.exchange->on_ask(Topic::propose, &echo);
  Answer answer;
  ask(a_, "a", "me", answer);
  ASSERT_TRUE(run(answer));
  ASSERT_TRUE(*answer);
  EXPECT_EQ(as_text(**answer), "me!");
  EXPECT_EQ(network_.sent(), 0u);
}

TEST_F(ExchangeTest, AnErrorArrivesWithItsCodeAndSentence) {
  b_.exchange->on_ask(Topic::propose, [](std::string, Bytes) -> Task<Result<Bytes>> {
    co_return Error{Errc::conflict, "the name is taken"};
  });
  Answer answer;
  ask(a_, "b", "x", answer);
  ASSERT_TRUE(run(answer));
  ASSERT_FALSE(*answer);
  EXPECT_EQ(answer->error().code(), Errc::conflict);
  EXPECT_EQ(answer->error().message(), "the name is taken");
}

TEST_F(ExchangeTest, AnUnknownTopicIsUnsupported) {
  Answer answer;
  ask(a_, "b", "x", answer);
  ASSERT_TRUE(run(answer));
  ASSERT_FALSE(*answer);
  EXPECT_EQ(answer->error().code(), Errc::unsupported);
}

TEST_F(ExchangeTest, TellsAreDeliveredByTopic) {
  std::vector<std::string> got;
  b_.exchange->on_tell(Topic::raft, [&](const std::string& from, Bytes body) {
    got.push_back(from + std::string(as_text(body)));
  });
  ASSERT_TRUE(a_.exchange->tell("b", Topic::raft, to_bytes("1")));
  ASSERT_TRUE(a_.exchange->tell("b", Topic::farewell, to_bytes("2")));
  ASSERT_TRUE(a_.exchange->tell("b", Topic::raft, {}));
  world_.run_for(1s);
  std::sort(got.begin(), got.end());
  EXPECT_EQ(got, (std::vector<std::string>{"a", "a1"}));
}

TEST_F(ExchangeTest, ALostQuestionEndsAtItsDeadline) {
  b_.exchange->on_ask(Topic::propose, &echo);
  network_.set_options({.loss_per_million = 1'000'000});
  Answer answer;
  const MonoTime start = world_.clock().mono();
  ask(a_, "b", "x", answer, {.deadline = 3s});
  ASSERT_TRUE(run(answer));
  ASSERT_FALSE(*answer);
  EXPECT_EQ(answer->error().code(), Errc::timeout);
  EXPECT_EQ(world_.clock().mono() - start, 3s);
}

TEST_F(ExchangeTest, ALateAnswerIsNobodys) {
  std::function<void(Result<Bytes>)> later;
  b_.exchange->on_ask(Topic::propose, [&](std::string, Bytes) -> Task<Result<Bytes>> {
    std::function<void(std::function<void(Result<Bytes>)>)> keep = [&](auto done) { later = done; };
    Result<Bytes> result = co_await from_callback<Result<Bytes>>(std::move(keep));
    co_return result;
  });
  Answer answer;
  ask(a_, "b", "x", answer, {.deadline = 1s});
  ASSERT_TRUE(run(answer));
  EXPECT_EQ(answer->error().code(), Errc::timeout);
  b_.loop->post([&] { later(to_bytes("late")); });
  world_.run_for(1s);
  EXPECT_EQ(answer->error().code(), Errc::timeout);
  EXPECT_EQ(a_.exchange->open_questions(), 0u);
}

TEST_F(ExchangeTest, DoubledMessagesGiveOneResultEach) {
  network_.set_options({.duplicate_per_million = 1'000'000});
  int served = 0;
  b_.exchange->on_ask(Topic::propose, [&](std::string, Bytes body) -> Task<Result<Bytes>> {
    ++served;
    co_return body;
  });
  Answer answer;
  ask(a_, "b", "x", answer);
  ASSERT_TRUE(run(answer));
  world_.run_for(1s);
  EXPECT_TRUE(*answer);
  EXPECT_EQ(served, 2)
      << "who must not do a thing twice has to know the request: the exchange repeats nothing";
}

TEST_F(ExchangeTest, AnAnswerFromSomebodyElseIsNotTaken) {
  End c(world_, network_, "c");
  network_.partition({"b"});
  Answer answer;
  ask(a_, "b", "x", answer, {.deadline = 5s});
  world_.run_for(1s);
  // c guesses every request there may be: it knows a's first.
  End guessed(world_, network_, "d", {.first_request = 41});
  Answer stolen;
  ask(guessed, "b", "x", stolen, {.deadline = 5s});
  world_.run_for(1s);
  Bytes forged = to_bytes("forged");
  append_envelope(forged,
                  {EnvelopeKind::answer, static_cast<std::uint8_t>(Topic::propose), Lane::control, 42});
  ASSERT_TRUE(c.transport->send("d", forged));
  ASSERT_TRUE(run(stolen));
  EXPECT_EQ(stolen->error().code(), Errc::timeout);
}

TEST_F(ExchangeTest, ALostPeerEndsItsQuestionsAndNoOthers) {
  End c(world_, network_, "c");
  b_.exchange->on_ask(Topic::propose, &echo);
  c.exchange->on_ask(Topic::propose, &echo);
  network_.set_options({.latency_min = 1s, .latency_max = 1s});
  Answer to_b;
  Answer to_c;
  ask(a_, "b", "x", to_b, {.deadline = 1h});
  ask(a_, "c", "x", to_c, {.deadline = 1h});
  world_.run_for(500ms);
  a_.exchange->lost("b");
  ASSERT_TRUE(to_b);
  EXPECT_EQ(to_b->error().code(), Errc::unavailable);
  EXPECT_FALSE(to_c);
  ASSERT_TRUE(run(to_c));
  EXPECT_TRUE(*to_c);
}

TEST_F(ExchangeTest, OpenQuestionsAreBounded) {
  End c(world_, network_, "c", {.open_max = 3, .open_per_peer_max = 2});
  std::array<Answer, 5> answers;
  for (int i = 0; i < 3; ++i) ask(c, "b", "x", answers[static_cast<std::size_t>(i)]);
  world_.run_for(0s);
  ASSERT_TRUE(answers[2]);
  EXPECT_EQ(answers[2]->error().code(), Errc::busy) << "two per peer";
  ask(c, "a", "x", answers[3]);
  ask(c, "a", "x", answers[4]);
  world_.run_for(0s);
  EXPECT_FALSE(answers[3]);
  ASSERT_TRUE(answers[4]);
  EXPECT_EQ(answers[4]->error().code(), Errc::busy) << "three in all";
  world_.run_for(1min);
  EXPECT_TRUE(answers[0] && answers[1] && answers[3]);
  EXPECT_EQ(c.exchange->open_questions(), 0u);
}

TEST_F(ExchangeTest, WorkForOnePeerIsBounded) {
  End c(world_, network_, "c", {.served_per_peer_max = 1});
  std::vector<std::function<void(Result<Bytes>)>> waiting;
  c.exchange->on_ask(Topic::propose, [&](std::string, Bytes) -> Task<Result<Bytes>> {
    std::function<void(std::function<void(Result<Bytes>)>)> keep = [&](auto done) {
      waiting.push_back(done);
    };
    Result<Bytes> result = co_await from_callback<Result<Bytes>>(std::move(keep));
    co_return result;
  });
  Answer first;
  Answer second;
  ask(a_, "c", "x", first, {.deadline = 1h});
  world_.run_for(1s);
  ask(a_, "c", "x", second, {.deadline = 1h});
  ASSERT_TRUE(run(second));
  EXPECT_EQ(second->error().code(), Errc::busy);
  ASSERT_EQ(waiting.size(), 1u);
  c.loop->post([&] { waiting[0](Bytes{}); });
  ASSERT_TRUE(run(first));
  EXPECT_TRUE(*first);
}

// The answer does not fit into the lane any more: that is an answer, too, and takes the other lane.
TEST_F(ExchangeTest, AFullBulkLaneIsSaidOnTheControlLane) {
  network_.set_options({.bulk_bytes_per_second = 1000, .bulk_queue_bytes_max = 4000});
  b_.exchange->on_ask(Topic::propose, [](std::string, Bytes) -> Task<Result<Bytes>> {
    Bytes answer(3000);
    co_return answer;
  });
  Answer first;
  Answer second;
  ask(a_, "b", "x", first, {.deadline = 1min, .lane = Lane::bulk});
  ask(a_, "b", "x", second, {.deadline = 1min, .lane = Lane::bulk});
  ASSERT_TRUE(run(second));
  ASSERT_FALSE(*second);
  EXPECT_EQ(second->error().code(), Errc::busy);
  EXPECT_FALSE(first) << "it is still on its way";
  ASSERT_TRUE(run(first));
  EXPECT_TRUE(*first);
}

TEST_F(ExchangeTest, OpenQuestionsEndWithTheExchange) {
  Answer answer;
  ask(a_, "b", "x", answer, {.deadline = 1h});
  world_.run_for(0s);
  a_.exchange.reset();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->error().code(), Errc::unavailable);
  world_.run_for(2h);
}

TEST_F(ExchangeTest, WorkThatOutlivesTheExchangeEndsQuietly) {
  std::function<void(Result<Bytes>)> later;
  b_.exchange->on_ask(Topic::propose, [&](std::string, Bytes) -> Task<Result<Bytes>> {
    std::function<void(std::function<void(Result<Bytes>)>)> keep = [&](auto done) { later = done; };
    Result<Bytes> result = co_await from_callback<Result<Bytes>>(std::move(keep));
    co_return result;
  });
  Answer answer;
  ask(a_, "b", "x", answer, {.deadline = 10s});
  world_.run_for(1s);
  b_.exchange.reset();
  later(to_bytes("too late"));
  ASSERT_TRUE(run(answer));
  EXPECT_EQ(answer->error().code(), Errc::timeout);
}

TEST_F(ExchangeTest, RubbishIsDroppedAndHurtsNobody) {
  b_.exchange->on_ask(Topic::propose, &echo);
  for (const Bytes& bytes : {Bytes{}, Bytes{1}, Bytes{1, 2, 1}, Bytes(3, 0xff), Bytes(64, 1)})
    ASSERT_TRUE(a_.transport->send("b", bytes));
  world_.run_for(1s);
  Answer answer;
  ask(a_, "b", "x", answer);
  ASSERT_TRUE(run(answer));
  EXPECT_TRUE(*answer);
}

TEST(Envelope, ComesOffAsItWentOn) {
  for (const auto kind : {EnvelopeKind::tell, EnvelopeKind::ask, EnvelopeKind::answer, EnvelopeKind::error}) {
    for (const Lane lane : {Lane::control, Lane::bulk}) {
      const Envelope envelope{kind, 200, lane, kind == EnvelopeKind::tell ? 0u : 0x0102030405060708u};
      Bytes message = to_bytes("body");
      append_envelope(message, envelope);
      const auto taken = take_envelope(message);
      ASSERT_TRUE(taken);
      EXPECT_EQ(*taken, envelope);
      EXPECT_EQ(as_text(message), "body");
    }
  }
}

TEST(Envelope, AnErrorOfALaterVersionIsInternal) {
  EXPECT_EQ(decode_error(Bytes{200, 'x'}).code(), Errc::internal);
  EXPECT_EQ(decode_error({}).code(), Errc::internal);
  const Error back = decode_error(encode_error(Error{Errc::no_space, std::string(5000, 'y')}));
  EXPECT_EQ(back.code(), Errc::no_space);
  EXPECT_EQ(back.message().size(), kErrorTextBytesMax);
}

}  // namespace
}  // namespace samovar::net
