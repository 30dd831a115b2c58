#include "trainer/sync/elastic.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "trainer/sync/pull_loops.hpp"
#include "trainer/sync/rules.hpp"

namespace samovar::trainer {

double elastic_alpha(double beta, std::size_t members, double rows, double all) {
  if (members < 2) return 0;
  const double share = all > 0 ? rows / all : 1 / static_cast<double>(members);
  return std::min(0.5, beta * share);
}

namespace {

class ElasticRule final : public SliceRule {
 public:
  ElasticRule(double beta, bool in_rounds, double quorum)
      : beta_(beta), in_rounds_(in_rounds), quorum_(quorum) {}

  // p members and the centre share what p members found.
  double parts(std::size_t members) const override {
    return members < 2 ? 1 : static_cast<double>(members) + 1;
  }
  bool waits() const override { return in_rounds_; }
  double quorum() const override { return quorum_; }
  bool keeps_squares() const override { return true; }

  void begin(std::span<const float> own, std::size_t members, CellKind cell) override {
    members_ = members;
    cell_ = cell;
    centre_.assign(own.begin(), own.end());
    met_.clear();
    all_met_ = false;
  }

  void meet(std::size_t at, Given& one) override {
    join(at, one);
    const auto alpha = static_cast<float>(elastic_alpha(beta_, members_, one.rows, one.all_rows));
    pull_centre(one.x.data(), centre_.data() + at, one.x.size(), alpha);
  }

  void meet_owner(std::size_t at, Given& one) override {
    join(at, one);
    const auto alpha = static_cast<float>(elastic_alpha(beta_, members_, one.rows, one.all_rows));
    pull_both(one.x.data(), centre_.data() + at, one.x.size(), alpha);
  }

  // All differences are taken before the centre moves.
  void close(std::size_t at, std::span<Given> all) override {
    if (all.empty()) return;
    const std::size_t count = all.front().x.size();
    float* const centre = centre_.data() + at;
    for (Given& one : all) join(at, one);
    moved_.assign(count, 0);
    for (Given& one : all) {
      // Of this round: one that is left alone in it must not be pulled.
      const auto alpha = static_cast<float>(elastic_alpha(beta_, all.size(), one.rows, one.all_rows));
      float* const x = one.x.data();
      for (std::size_t i = 0; i < count; ++i) {
        x[i] = alpha * (x[i] - centre[i]);
        moved_[i] += x[i];
      }
    }
    for (std::size_t i = 0; i < count; ++i) centre[i] += moved_[i];
  }

  // The centre gets what the member gives off, no more: of cells that are sums none is made twice.
  void left_out(std::size_t at, std::uint32_t, std::span<const float> by) override {
    float* const centre = centre_.data() + at;
    for (std::size_t i = 0; i < by.size(); ++i) centre[i] -= by[i];
    if (!cell_.squares) return;
    for (std::size_t i = cell_.squares_at; i < by.size(); i += cell_.floats)
      centre[i] = std::max(centre[i], 0.0f);
  }

  std::span<const float> centre() const override { return centre_; }

  void save(StateWriter& out) const override { out.put(centre_); }
  void load(StateReader& in) override {
    std::vector<float> centre;
    in.get(centre);
    if (centre.size() != centre_.size()) return;
    centre_ = std::move(centre);
    // Between two rounds everybody has been heard.
    all_met_ = true;
  }

 private:
  // The first word of a member in this epoch: the centre is the mean of those heard.
  void join(std::size_t at, const Given& one) {
    if (all_met_) return;
    auto& met = met_[at];
    if (!met.insert(one.member).second) return;
    const auto weight = 1 / static_cast<float>(met.size());
    float* const centre = centre_.data() + at;
    for (std::size_t i = 0; i < one.x.size(); ++i) centre[i] += weight * (one.x[i] - centre[i]);
  }

  const double beta_;
  const bool in_rounds_;
  const double quorum_;
  std::size_t members_ = 1;
  CellKind cell_;
  std::vector<float> centre_;
  std::vector<float> moved_;
  bool all_met_ = false;
  std::map<std::size_t, std::set<std::uint32_t>> met_;  // by piece: whom the centre has heard
};

}  // namespace

std::unique_ptr<SliceRule> make_elastic_rule(double beta, bool in_rounds, double quorum) {
  return std::make_unique<ElasticRule>(beta, in_rounds, quorum);
}

std::unique_ptr<SliceRule> make_easgd_rule(const StrategySpec& strategy) {
  return make_elastic_rule(strategy.beta, strategy.sync);
}

}  // namespace samovar::trainer
