// Blockwise model-update filtering (Chen and Huo 2016): what a round changed is taken with momentum.
//
//   G = mean - start      D = mu D + G      W = W + D      start = W, or W + mu D (Nesterov)
//
// mu = 1 - 1/N unless the job says otherwise: in the long run a step of the N members then counts as much as
// N steps of one. The model W and the point where the next round starts are kept apart: to take the
// look-ahead for the model, as is often done, loses what Nesterov's momentum gains.
#include <algorithm>

#include "trainer/sync/rules.hpp"
#include "trainer/sync/weighted_mean.hpp"

namespace samovar::trainer {

namespace {

class BmufRule final : public SliceRule {
 public:
  BmufRule(double momentum, bool nesterov) : momentum_(momentum), nesterov_(nesterov) {}

  // A mean has one of N parts of what the members found, the momentum makes 1 / (1 - mu) of it.
  double parts(std::size_t members) const override {
    return std::max(1.0, static_cast<double>(members) * (1 - mu(members)));
  }
  bool waits() const override { return true; }
  bool sets() const override { return true; }

  void begin(std::span<const float> own, std::size_t members, CellKind cell) override {
    mu_ = mu(members);
    cell_ = cell;
    model_.assign(own.begin(), own.end());
    start_ = model_;
    change_.assign(own.size(), 0);
  }
  void meet(std::size_t, Given&) override {}
  void close(std::size_t at, std::span<Given> all) override {
    if (all.empty()) return;
    weighted_mean(all, mean_);
    for (std::size_t i = 0; i < mean_.size(); ++i) step(at + i, mean_[i]);
    const std::span<const float> start = std::span<const float>(start_).subspan(at, mean_.size());
    for (Given& one : all) std::copy(start.begin(), start.end(), one.x.begin());
  }

  std::span<const float> centre() const override { return model_; }
  void save(StateWriter& out) const override {
    out.put(model_);
    out.put(start_);
    out.put(change_);
  }
  void load(StateReader& in) override {
    std::vector<float> model, start, change;
    in.get(model);
    in.get(start);
    in.get(change);
    if (model.size() != model_.size() || start.size() != model.size() || change.size() != model.size())
      return;
    model_ = std::move(model);
    start_ = std::move(start);
    change_ = std::move(change);
  }

 private:
  double mu(std::size_t members) const {
    if (members < 2) return 0;
    return momentum_ > 0 ? momentum_ : 1 - 1 / static_cast<double>(members);
  }
  void step(std::size_t i, double mean) {
    const bool weight = i % cell_.floats == 0;
    if (!weight && !cell_.sums()) {
      // What a solver keeps of its own momentum begins anew with each round; Adam's moments are averaged.
      model_[i] = start_[i] = cell_.squares ? static_cast<float>(mean) : 0;
      return;
    }
    const auto mu = static_cast<float>(mu_);
    change_[i] = mu * change_[i] + static_cast<float>(mean - static_cast<double>(start_[i]));
    model_[i] += change_[i];
    start_[i] = nesterov_ ? model_[i] + mu * change_[i] : model_[i];
    if (weight) return;
    // A sum of squares only grows.
    model_[i] = std::max(model_[i], 0.0f);
    start_[i] = std::max(start_[i], 0.0f);
  }

  const double momentum_;
  const bool nesterov_;
  double mu_ = 0;
  CellKind cell_;
  std::vector<float> model_, start_, change_;
  std::vector<double> mean_;
};

}  // namespace

std::unique_ptr<SliceRule> make_bmuf_rule(const StrategySpec& strategy) {
  return std::make_unique<BmufRule>(strategy.momentum, strategy.nesterov);
}

}  // namespace samovar::trainer
