#include "trainer/evaluate/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/json.hpp"
#include "trainer/data/order.hpp"

namespace samovar::trainer {

namespace {

using nlohmann::json;

constexpr double kZ = 1.959963984540054;
constexpr double kLeast = 1e-15;

json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }
json to_json(const Estimate& e) {
  return {{"value", number(e.value)}, {"low", number(e.low)}, {"high", number(e.high)}};
}

// A row of 0, where y log y is 0.
double y_log(double y, double ratio) { return y > 0 ? y * std::log(ratio) : 0; }

// F1 from counts, its interval by drawing the counts again: they are all it depends on.
Estimate f1_of(double tp, double fp, double fn) {
  const auto f1 = [](double t, double p, double n) { return t > 0 ? 2 * t / (2 * t + p + n) : 0; };
  SeededOrder order(7);
  const auto normal = [&] {
    const double u = (static_cast<double>(order.next() >> 11) + 0.5) / 9007199254740992.0;
    const double v = static_cast<double>(order.next() >> 11) / 9007199254740992.0;
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * M_PI * v);
  };
  const auto drawn = [&](double count) { return std::max(0.0, count + std::sqrt(count) * normal()); };
  std::vector<double> draws(400);
  for (double& draw : draws) {
    const double t = drawn(tp);
    const double p = drawn(fp);
    const double n = drawn(fn);
    draw = f1(t, p, n);
  }
  std::sort(draws.begin(), draws.end());
  return {f1(tp, fp, fn), draws[10], draws[389]};
}

Estimate root(Estimate e) {
  return {std::sqrt(e.value), std::sqrt(std::max(e.low, 0.0)), std::sqrt(std::max(e.high, 0.0))};
}

}  // namespace

Task task_of(Family family) noexcept {
  switch (family) {
    case Family::binomial:
      return Task::binary;
    case Family::multinomial:
      return Task::classes;
    case Family::poisson:
    case Family::negative_binomial:
      return Task::count;
    default:
      return Task::number;
  }
}

const char* to_string(Task task) noexcept {
  switch (task) {
    case Task::binary:
      return "binary";
    case Task::classes:
      return "classes";
    case Task::number:
      return "number";
    case Task::count:
      return "count";
  }
  return "number";
}

double Average::standard_error() const noexcept {
  if (weight_ <= 0 || squares_ <= 0) return 0;
  // Of so many rows of equal weight (Kish).
  const double rows = weight_ * weight_ / squares_;
  return rows > 1 ? std::sqrt(variance() / (rows - 1)) : 0;
}
Estimate Average::estimate() const noexcept {
  const double se = standard_error();
  return {mean_, mean_ - kZ * se, mean_ + kZ * se};
}

double unit_deviance(Family family, double y, double mean, double theta, double power) noexcept {
  const double mu = std::max(mean, kLeast);
  switch (family) {
    case Family::gaussian:
      return (y - mean) * (y - mean);
    case Family::binomial:
    case Family::multinomial: {
      const double p = std::clamp(mean, kLeast, 1 - kLeast);
      return -2 * (y * std::log(p) + (1 - y) * std::log1p(-p));
    }
    case Family::poisson:
      return 2 * (y_log(y, y / mu) - (y - mu));
    case Family::gamma: {
      const double held = std::max(y, kLeast);
      return 2 * (-std::log(held / mu) + (held - mu) / mu);
    }
    case Family::negative_binomial:
      return 2 * (y_log(y, y / mu) - (y + theta) * std::log((y + theta) / (mu + theta)));
    case Family::tweedie:
      return 2 * ((y > 0 ? std::pow(y, 2 - power) / ((1 - power) * (2 - power)) : 0) -
                  y * std::pow(mu, 1 - power) / (1 - power) + std::pow(mu, 2 - power) / (2 - power));
  }
  return 0;
}

Metrics::Metrics(const GlmModel& model)
    : family_(model.family),
      theta_(model.theta),
      power_(model.power),
      threshold_(model.threshold),
      task_(task_of(model.family)),
      classes_(model.classes),
      counts_(task_ == Task::classes ? classes_ * classes_ : 0) {}

void Metrics::add_classes(const float* expected, std::size_t target, double weight) {
  std::size_t best = 0;
  double squares = 0;
  for (std::size_t i = 0; i < classes_; ++i) {
    if (expected[i] > expected[best]) best = i;
    const double miss = static_cast<double>(expected[i]) - (i == target ? 1 : 0);
    squares += miss * miss;
  }
  log_loss_.add(-std::log(std::max(static_cast<double>(expected[target]), kLeast)), weight);
  brier_.add(squares, weight);
  right_.add(best == target ? 1 : 0, weight);
  counts_[target * classes_ + best] += weight;
}

void Metrics::add(const float* expected, double target, double weight) {
  ++rows_;
  target_.add(target, weight);
  if (task_ == Task::classes) return add_classes(expected, static_cast<std::size_t>(target), weight);
  const double mean = static_cast<double>(expected[0]);
  if (task_ == Task::binary) {
    const double p = std::clamp(mean, 1e-7, 1 - 1e-7);
    log_loss_.add(target > 0.5 ? -std::log(p) : -std::log1p(-p), weight);
    brier_.add((mean - target) * (mean - target), weight);
    right_.add((mean >= threshold_) == (target > 0.5) ? 1 : 0, weight);
    scores_.add(mean, target > 0.5, weight);
    return;
  }
  deviance_.add(unit_deviance(family_, target, mean, theta_, power_), weight);
  squared_.add((target - mean) * (target - mean), weight);
  absolute_.add(std::abs(target - mean), weight);
}

void Metrics::finish() {
  if (task_ == Task::binary) scores_.finish();
}

double Metrics::loss() const noexcept {
  return task_ == Task::binary || task_ == Task::classes ? log_loss_.mean() : deviance_.mean();
}

json Metrics::to_json() const {
  json out = json::object();
  if (rows_ == 0) return out;
  if (task_ == Task::binary || task_ == Task::classes) {
    out["log_loss"] = trainer::to_json(log_loss_.estimate());
    out["brier"] = trainer::to_json(brier_.estimate());
    out["accuracy"] = trainer::to_json(share_of(right_.mean(), right_.weight()));
  }
  if (task_ == Task::binary) {
    Estimate deviance = log_loss_.estimate();
    for (double* one : {&deviance.value, &deviance.low, &deviance.high}) *one *= 2;
    out["deviance"] = trainer::to_json(deviance);
    const ScoreList::Counts counts = scores_.at(threshold_);
    out["f1"] = trainer::to_json(f1_of(counts.tp, counts.fp, counts.fn));
    if (scores_.both()) {
      out["auc"] = trainer::to_json(scores_.auc());
      out["pr_auc"] = trainer::to_json(scores_.pr_auc());
      out["ks"] = trainer::to_json(scores_.ks());
      out["lift10"] = trainer::to_json(scores_.lift(0.1));
    }
  } else if (task_ == Task::classes) {
    // The mean of the classes' F1, each class the same.
    Estimate mean;
    double classes = 0;
    for (std::size_t c = 0; c < classes_; ++c) {
      double tp = counts_[c * classes_ + c];
      double fp = -tp;
      double fn = -tp;
      for (std::size_t other = 0; other < classes_; ++other) {
        fn += counts_[c * classes_ + other];
        fp += counts_[other * classes_ + c];
      }
      if (tp + fn <= 0) continue;
      const Estimate f1 = f1_of(tp, fp, fn);
      const double half = (f1.high - f1.low) / 2;
      mean.value += f1.value;
      mean.high += half * half;
      ++classes;
    }
    if (classes > 0) {
      const double half = std::sqrt(mean.high) / classes;
      mean.value /= classes;
      mean = clamped({mean.value, mean.value - half, mean.value + half}, 0, 1);
      out["f1"] = trainer::to_json(mean);
    }
  } else {
    const Estimate mse = squared_.estimate();
    out["rmse"] = trainer::to_json(root(mse));
    out["mae"] = trainer::to_json(absolute_.estimate());
    out["deviance"] = trainer::to_json(deviance_.estimate());
    const double variance = target_.variance();
    if (variance > 0)
      out["r2"] = trainer::to_json(
          Estimate{1 - mse.value / variance, 1 - mse.high / variance, 1 - mse.low / variance});
  }
  return out;
}

json Metrics::baseline(const GlmModel& model, const Metrics& test, double train_mean,
                       const std::vector<double>& train_shares) {
  json out = json::object();
  if (test.rows_ == 0) return out;
  if (test.task_ == Task::binary) {
    const double p = std::clamp(train_mean, 1e-7, 1 - 1e-7);
    const double positive = test.target_.mean();
    out["log_loss"] = -(positive * std::log(p) + (1 - positive) * std::log1p(-p));
    out["deviance"] = 2 * out["log_loss"].get<double>();
    out["brier"] = positive * (1 - p) * (1 - p) + (1 - positive) * p * p;
    out["accuracy"] = p >= model.threshold ? positive : 1 - positive;
    out["auc"] = 0.5;
    out["pr_auc"] = positive;
    out["ks"] = 0;
    out["lift10"] = 1;
  } else {
    double loss = 0;
    double total = 0;
    std::size_t most = 0;
    double right = 0;
    for (std::size_t c = 0; c < train_shares.size(); ++c) {
      if (train_shares[c] > train_shares[most]) most = c;
    }
    for (std::size_t c = 0; c < train_shares.size(); ++c) {
      double rows = 0;
      for (std::size_t other = 0; other < train_shares.size(); ++other)
        rows += test.counts_[c * train_shares.size() + other];
      total += rows;
      loss -= rows * std::log(std::max(train_shares[c], kLeast));
      if (c == most) right = rows;
    }
    out["log_loss"] = loss / total;
    out["accuracy"] = right / total;
  }
  return out;
}

json Metrics::confusion(const std::vector<std::string>& classes) const {
  json counts = json::array();
  if (task_ == Task::binary) {
    const ScoreList::Counts at = scores_.at(threshold_);
    counts = json::array({json::array({std::round(at.tn), std::round(at.fp)}),
                          json::array({std::round(at.fn), std::round(at.tp)})});
  } else {
    for (std::size_t c = 0; c < classes_; ++c) {
      json line = json::array();
      for (std::size_t other = 0; other < classes_; ++other)
        line.push_back(std::round(counts_[c * classes_ + other]));
      counts.push_back(std::move(line));
    }
  }
  return {{"classes", classes}, {"counts", std::move(counts)}};
}

}  // namespace samovar::trainer
