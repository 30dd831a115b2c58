// Downpour SGD (Dean et al. 2012): members push what they changed and go on from what the owners have, nobody
// waits; the owners' steps are AdaGrad's.
//
// Of solvers with sums of squares of their own the owners keep those of all workers. For plain SGD the owner
// has its own sum: a change u counts as rate · u / √Σu².
#include <cmath>

#include "trainer/sync/additive.hpp"
#include "trainer/sync/rules.hpp"

namespace samovar::trainer {

namespace {

class DownpourRule final : public AdditiveRule {
 public:
  explicit DownpourRule(double rate) : rate_(static_cast<float>(rate)) {}

  void begin(std::span<const float> own, std::size_t members, CellKind cell) override {
    AdditiveRule::begin(own, members, cell);
    squares_.assign(cell.sums() ? 0 : own.size(), 0);
  }

 private:
  float scaled(std::size_t i, float change) override {
    if (sums()) return change;
    squares_[i] += change * change;
    return squares_[i] > 0 ? rate_ * change / std::sqrt(squares_[i]) : 0;
  }

  const float rate_;
  std::vector<float> squares_;
};

}  // namespace

std::unique_ptr<SliceRule> make_downpour_rule(const StrategySpec& strategy) {
  return std::make_unique<DownpourRule>(strategy.server_rate);
}

}  // namespace samovar::trainer
