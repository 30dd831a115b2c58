// Plain model averaging (McDonald et al. 2010; local SGD): every round all members go on from their mean,
// each weighed by the rows it did.
#include "trainer/sync/rules.hpp"
#include "trainer/sync/weighted_mean.hpp"

namespace samovar::trainer {

namespace {

class AveragingRule final : public SliceRule {
 public:
  // A mean of p sums is one of p parts of their whole.
  double parts(std::size_t members) const override { return static_cast<double>(members); }
  bool waits() const override { return true; }
  bool sets() const override { return true; }
  bool keeps_squares() const override { return true; }

  void begin(std::span<const float> own, std::size_t, CellKind) override {
    mean_.assign(own.begin(), own.end());
  }
  // One that comes alone has no others to be averaged with.
  void meet(std::size_t, Given&) override {}
  void close(std::size_t at, std::span<Given> all) override {
    if (all.empty()) return;
    weighted_mean(all, sums_);
    const std::span<float> mean = std::span(mean_).subspan(at, all.front().x.size());
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] = static_cast<float>(sums_[i]);
    for (Given& one : all) std::copy(mean.begin(), mean.end(), one.x.begin());
  }

  std::span<const float> centre() const override { return mean_; }
  void save(StateWriter& out) const override { out.put(mean_); }
  void load(StateReader& in) override {
    std::vector<float> mean;
    in.get(mean);
    if (mean.size() == mean_.size()) mean_ = std::move(mean);
  }

 private:
  std::vector<float> mean_;
  std::vector<double> sums_;
};

}  // namespace

std::unique_ptr<SliceRule> make_averaging_rule(const StrategySpec&) {
  return std::make_unique<AveragingRule>();
}

}  // namespace samovar::trainer
