// Scores of rows with two classes, and everything that follows from their order: ROC, precision and recall,
// calibration, lift, thresholds.
//
// Up to kExactRows rows are kept as they are; beyond, they are counted in bins so fine that no figure changes
// in its fourth digit. Bounded memory either way.
//
// Threading: values.
#pragma once
#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <utility>
#include <vector>

#include "trainer/solvers/state.hpp"

namespace samovar::trainer {

struct Estimate {
  double value = 0;
  double low = 0;  // 95 %
  double high = 0;
};
// Within what a share can be.
Estimate clamped(Estimate estimate, double low, double high);
// Wilson's interval of a share of n.
Estimate share_of(double share, double n);

class ScoreList {
 public:
  void add(double probability, bool positive, double weight);
  void put(StateWriter& out) const;
  void merge(StateReader& in);
  // Call once all are added, before any figure.
  void finish();

  double positives() const noexcept { return positives_; }
  double negatives() const noexcept { return negatives_; }
  double rows() const noexcept { return positives_ + negatives_; }
  bool both() const noexcept { return positives_ > 0 && negatives_ > 0; }

  Estimate auc() const;     // DeLong et al. 1988
  Estimate pr_auc() const;  // average precision; interval by Boyd et al. 2013
  Estimate ks() const;
  Estimate lift(double share) const;  // of the rows with the highest scores
  struct Counts {
    double tp = 0, fp = 0, tn = 0, fn = 0;
  };
  Counts at(double threshold) const;

  nlohmann::json roc() const;  // at most 200 points
  nlohmann::json precision_recall() const;
  nlohmann::json calibration() const;  // ten bins of as many rows
  nlohmann::json lift_curve() const;
  nlohmann::json thresholds() const;  // 0, 0.01, …, 1

 private:
  struct Group {
    double probability = 0;
    double positive = 0;
    double negative = 0;
  };
  struct Row {
    float probability;
    float weight;  // negative: of the negative class
  };
  void to_bins();
  void add_to_bin(double probability, bool positive, double weight);

  static constexpr std::size_t kExactRows = 200'000;
  static constexpr std::size_t kBins = 32'768;
  std::vector<Row> exact_;
  std::vector<std::array<double, 3>> bins_;  // positive, negative, Σ weight · probability
  std::vector<Group> groups_;                // rising
  double positives_ = 0;
  double negatives_ = 0;
};

}  // namespace samovar::trainer
