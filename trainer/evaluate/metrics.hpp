// The figures of one set of rows: how well a model's answers agree with what happened, with 95 % intervals.
//
// Threading: values.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "trainer/evaluate/score_list.hpp"
#include "trainer/features/encoded_batch.hpp"
#include "trainer/models/glm.hpp"
#include "trainer/solvers/state.hpp"

namespace samovar::trainer {

enum class Task : std::uint8_t { binary, classes, number, count };
Task task_of(Family family) noexcept;
const char* to_string(Task task) noexcept;

// A mean and the spread of what it is the mean of.
class Average {
 public:
  void add(double value, double weight) {
    weight_ += weight;
    const double before = value - mean_;
    mean_ += before * weight / weight_;
    spread_ += weight * before * (value - mean_);
    squares_ += weight * weight;
  }
  double weight() const noexcept { return weight_; }
  double mean() const noexcept { return mean_; }
  double variance() const noexcept { return weight_ > 0 ? spread_ / weight_ : 0; }
  // Of the mean.
  double standard_error() const noexcept;
  Estimate estimate() const noexcept;
  void put(StateWriter& out) const;
  void merge(StateReader& in);

 private:
  double weight_ = 0;
  double mean_ = 0;
  double spread_ = 0;
  double squares_ = 0;
};

class Metrics {
 public:
  explicit Metrics(const GlmModel& model);

  // One row: its expected values (model.outputs() of them), what happened, and its weight.
  void add(const float* expected, double target, double weight);
  void finish();
  // Before finish(): those of other rows under the same model.
  void put(StateWriter& out) const;
  void merge(StateReader& in);

  std::uint64_t rows() const noexcept { return rows_; }
  // {"auc":{"value","low","high"},…}; {} when there are no rows.
  nlohmann::json to_json() const;
  // Classes: the figures of a model that always answers with their shares among the rows of training.
  static nlohmann::json baseline(const GlmModel& model, const Metrics& test, double train_mean,
                                 const std::vector<double>& train_shares);
  const ScoreList& scores() const noexcept { return scores_; }
  nlohmann::json confusion(const std::vector<std::string>& classes) const;
  // The loss that training minimises, per row: log loss or deviance.
  double loss() const noexcept;

 private:
  void add_classes(const float* expected, std::size_t target, double weight);

  // Constant after construction.
  Family family_;
  double theta_;
  double power_;
  double threshold_;
  Task task_;
  std::size_t classes_;

  std::uint64_t rows_ = 0;
  Average log_loss_, brier_, deviance_, squared_, absolute_, right_, target_;
  std::vector<double> counts_;  // confusion, true class by predicted class
  ScoreList scores_;
};

// Unit deviance of a row: 2 (the best log likelihood there could be - the model's).
double unit_deviance(Family family, double target, double mean, double theta, double power) noexcept;

}  // namespace samovar::trainer
