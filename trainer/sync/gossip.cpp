// GossipGraD (Daily et al. 2018), with models instead of gradients: every tau steps a member sends its vector
// to one other, who goes on from the mean of both. After ceil(log2 p) rounds what one knew has come to all;
// then the partners are drawn anew.
#include <algorithm>

#include "trainer/sync/paired.hpp"
#include "trainer/sync/strategies.hpp"

namespace samovar::trainer {

namespace {

class Gossip final : public Paired {
 public:
  using Paired::Paired;

 private:
  // A mean of p sums is one of p parts of their whole.
  double parts_of(std::size_t members) const override { return static_cast<double>(members); }

  std::optional<std::uint32_t> partner(std::uint64_t round) const override {
    const std::size_t members = council_.membership().members.size();
    if (members < 2) return std::nullopt;
    std::uint64_t rounds = 1;  // until everybody has heard of everybody
    while ((std::size_t{1} << rounds) < members) ++rounds;
    const std::vector<std::uint32_t> order = drawn_order(round / rounds);
    const auto self = std::find(order.begin(), order.end(), council_.membership().self);
    const auto place = static_cast<std::size_t>(self - order.begin());
    return order[(place + (std::size_t{1} << (round % rounds))) % members];
  }

  void take(std::uint32_t, std::size_t first, std::span<const float> theirs, bool) override {
    x_.each_run(first, theirs.size(), [&](float* x, std::size_t count, std::size_t at) {
      for (std::size_t i = 0; i < count; ++i) x[i] = 0.5f * (x[i] + theirs[at + i]);
    });
  }
};

}  // namespace

std::unique_ptr<Together> make_gossip(Council& council, const StrategySpec& strategy, CellKind cell) {
  return std::make_unique<Gossip>(council, strategy, cell, make_codec(strategy.codec));
}

}  // namespace samovar::trainer
