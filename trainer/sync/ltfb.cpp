// Tournaments ("let a thousand flowers bloom", Jacobs et al. 2017): every member trains a model of its own on
// its own rows; now and then pairs are drawn, send each other their models, and each goes on with the one
// that does better on the validation rows that it has. At the end the best of all is the model.
#include <algorithm>
#include <cmath>

#include "trainer/sync/paired.hpp"
#include "trainer/sync/strategies.hpp"

namespace samovar::trainer {

namespace {

class Tournament final : public Paired {
 public:
  using Paired::Paired;
  bool best_is_taken() const override { return true; }

 private:
  // Each model is whole, and knows the rows of one worker.
  double parts_of(std::size_t) const override { return 1; }

  // Pairs of an order that all draw alike; of an odd number one has a rest.
  std::optional<std::uint32_t> partner(std::uint64_t round) const override {
    const std::vector<std::uint32_t> order = drawn_order(round);
    const auto self = std::find(order.begin(), order.end(), council_.membership().self);
    const auto other = static_cast<std::size_t>(self - order.begin()) ^ 1u;
    if (other >= order.size()) return std::nullopt;
    return order[other];
  }

  void take(std::uint32_t from, std::size_t first, std::span<const float> theirs, bool last) override {
    std::vector<float>& all = coming_[from];
    all.resize(x_.size());
    std::copy(theirs.begin(), theirs.end(), all.begin() + static_cast<std::ptrdiff_t>(first));
    if (!last || !judge_) return;
    const std::span<float> whole(all);
    const double loss = judge_({whole.first(x_.head.size()), whole.subspan(x_.head.size())});
    if (!(loss < judge_(x_))) return;
    x_.copy_from(0, all);
    if (replaced_) replaced_();
  }

  std::map<std::uint32_t, std::vector<float>> coming_;
};

}  // namespace

std::unique_ptr<Together> make_ltfb(Council& council, const StrategySpec& strategy, CellKind cell) {
  return std::make_unique<Tournament>(council, strategy, cell, make_codec(strategy.codec));
}

}  // namespace samovar::trainer
