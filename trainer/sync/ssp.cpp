// Stale synchronous parallel (Ho et al. 2013): members add what they changed to the slices, and none is more
// than `staleness` rounds ahead of the slowest. An owner answers a member in its round c when it has the
// changes of all members up to round c - staleness: with 0 everybody waits for everybody.
#include "trainer/sync/additive.hpp"
#include "trainer/sync/rules.hpp"

namespace samovar::trainer {

namespace {

class SspRule final : public AdditiveRule {
 public:
  explicit SspRule(std::uint32_t staleness) : staleness_(staleness) {}
  bool waits() const override { return true; }
  std::uint32_t rounds_ahead() const override { return staleness_; }

 private:
  const std::uint32_t staleness_;
};

}  // namespace

std::unique_ptr<SliceRule> make_ssp_rule(const StrategySpec& strategy) {
  return std::make_unique<SspRule>(strategy.staleness);
}

}  // namespace samovar::trainer
