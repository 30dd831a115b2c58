#include "trainer/sync/sliced.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "trainer/sync/local_group.hpp"
#include "trainer/sync/strategies.hpp"

namespace samovar::trainer {
namespace {

// Hears nothing until the other has said so much; then all of it at once.
class SlowToHear final : public PeerGroup {
 public:
  SlowToHear(PeerGroup& group, std::function<bool()> may_hear) : group_(group), may_hear_(may_hear) {}
  const Membership& membership() const override { return group_.membership(); }
  Result<void> send(std::uint32_t to, ByteView body) override { return group_.send(to, body); }
  Result<std::optional<PeerMessage>> receive(std::chrono::milliseconds wait) override {
    if (wait.count() == 0 && !may_hear_()) return std::optional<PeerMessage>();
    while (!may_hear_()) std::this_thread::yield();
    return group_.receive(wait);
  }

 private:
  PeerGroup& group_;
  std::function<bool()> may_hear_;
};

// Its first pieces come together with what was agreed on, before the other has begun: they count all the
// same.
TEST(Sliced, WhatAQuickMemberTellsBeforeTheOtherBeginsIsNotForgotten) {
  for (const std::string_view codec : codec_names()) {
    StrategySpec strategy;
    strategy.codec = codec;
    strategy.tau = 1;
    LocalGroup group({{0}, {1}});
    std::atomic<bool> failed = false, over = false;
    const auto work = [&](PeerGroup& own, const std::function<bool()>& enough) {
      Council council(own, false);
      std::vector<float> head(24), tail(2);
      const auto together = make_strategy(council, strategy, {2, true});
      Result<void> went;
      if (const auto began = together->begin({head, tail}, {}); !began) went = began.error();
      while (went && !failed && !enough()) {
        for (std::size_t i = 0; i < head.size(); ++i) head[i] += 0.25f;
        went = together->stepped(10, 0.001, 0.001);
        std::this_thread::yield();
      }
      EXPECT_TRUE(went.has_value()) << codec << ": " << went.error().message();
      if (!went) failed = true;
    };
    std::thread quick([&] {
      work(group.member(0), [&] { return group.messages_sent(0) > 12; });
      over = true;
    });
    // What was agreed on, and a piece.
    SlowToHear slow(group.member(1), [&] { return group.messages_sent(0) >= 2 || failed || over; });
    work(slow, [&] { return over.load(); });
    quick.join();
  }
}

}  // namespace
}  // namespace samovar::trainer
