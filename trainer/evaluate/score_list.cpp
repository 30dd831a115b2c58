#include "trainer/evaluate/score_list.hpp"
#include "base/json.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace samovar::trainer {

namespace {

using nlohmann::json;

constexpr double kZ = 1.959963984540054;
constexpr double kLogitMost = 16;
constexpr std::size_t kPointsMax = 200;

double logistic(double x) { return 1 / (1 + std::exp(-x)); }
double rounded(double x) { return std::round(x * 1e6) / 1e6; }

// At most kPointsMax of them, ends kept.
template <class Point>
json thinned(const std::vector<Point>& points) {
  json out = json::array();
  const std::size_t count = std::min(points.size(), kPointsMax);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = count == 1 ? 0 : i * (points.size() - 1) / (count - 1);
    out.push_back(json::array({rounded(points[at].first), rounded(points[at].second)}));
  }
  return out;
}

// Whole numbers in the order of the floats.
std::uint32_t rank_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return bits ^ ((bits >> 31) != 0 ? 0xffff'ffffu : 0x8000'0000u);
}

// Rising by probability: eleven bits of it at a time, the least first, which keeps the order of those before.
template <class Row>
void sort_rows(std::vector<Row>& rows) {
  constexpr unsigned kBits = 11;
  constexpr std::size_t kFew = 4096;
  if (rows.size() < kFew) {
    std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
      return rank_of(a.probability) < rank_of(b.probability);
    });
    return;
  }
  std::vector<Row> other(rows.size());
  for (unsigned shift = 0; shift < 32; shift += kBits) {
    const auto digit = [shift](const Row& row) {
      return rank_of(row.probability) >> shift & ((1u << kBits) - 1);
    };
    std::array<std::size_t, 1u << kBits> next{};
    for (const Row& row : rows) ++next[digit(row)];
    std::size_t before = 0;
    for (std::size_t& place : next) before += std::exchange(place, before);
    for (const Row& row : rows) other[next[digit(row)]++] = row;
    rows.swap(other);
  }
}

}  // namespace

Estimate clamped(Estimate e, double low, double high) {
  e.low = std::clamp(e.low, low, high);
  e.high = std::clamp(e.high, low, high);
  return e;
}

Estimate share_of(double share, double n) {
  if (n <= 0) return {share, 0, 1};
  const double z2 = kZ * kZ;
  const double middle = (share + z2 / (2 * n)) / (1 + z2 / n);
  const double half = kZ / (1 + z2 / n) * std::sqrt(share * (1 - share) / n + z2 / (4 * n * n));
  return clamped({share, middle - half, middle + half}, 0, 1);
}

void ScoreList::add(double probability, bool positive, double weight) {
  if (bins_.empty()) {
    exact_.push_back({static_cast<float>(probability), static_cast<float>(positive ? weight : -weight)});
    if (exact_.size() > kExactRows) to_bins();
  } else {
    add_to_bin(probability, positive, weight);
  }
}

void ScoreList::add_to_bin(double probability, bool positive, double weight) {
  const double p = std::clamp(probability, 1e-12, 1 - 1e-12);
  const double place = (std::log(p / (1 - p)) + kLogitMost) / (2 * kLogitMost) * static_cast<double>(kBins);
  auto& bin = bins_[static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(kBins - 1)))];
  bin[positive ? 0 : 1] += weight;
  bin[2] += weight * probability;
}

void ScoreList::to_bins() {
  bins_.assign(kBins, {});
  for (const Row& row : exact_)
    add_to_bin(static_cast<double>(row.probability), row.weight > 0,
               std::abs(static_cast<double>(row.weight)));
  exact_ = {};
}

void ScoreList::finish() {
  groups_.clear();
  sort_rows(exact_);
  for (const Row& row : exact_) {
    if (groups_.empty() || groups_.back().probability != static_cast<double>(row.probability))
      groups_.push_back({static_cast<double>(row.probability), 0, 0});
    (row.weight > 0 ? groups_.back().positive : groups_.back().negative) +=
        std::abs(static_cast<double>(row.weight));
  }
  for (const auto& bin : bins_) {
    const double weight = bin[0] + bin[1];
    if (weight > 0) groups_.push_back({bin[2] / weight, bin[0], bin[1]});
  }
  positives_ = negatives_ = 0;
  for (const Group& group : groups_) {
    positives_ += group.positive;
    negatives_ += group.negative;
  }
}

Estimate ScoreList::auc() const {
  // The place of a positive among the negatives, and the other way round; ties count half.
  double below_negative = 0;
  double below_positive = 0;
  double sum = 0;
  double positive_squares = 0;
  double negative_squares = 0;
  double negative_sum = 0;
  for (const Group& group : groups_) {
    const double of_positive = (below_negative + 0.5 * group.negative) / negatives_;
    const double of_negative = 1 - (below_positive + 0.5 * group.positive) / positives_;
    sum += group.positive * of_positive;
    positive_squares += group.positive * of_positive * of_positive;
    negative_sum += group.negative * of_negative;
    negative_squares += group.negative * of_negative * of_negative;
    below_negative += group.negative;
    below_positive += group.positive;
  }
  const double auc = sum / positives_;
  const auto variance = [](double total, double squares, double n) {
    return n > 1 ? std::max(0.0, (squares - total * total / n) / (n - 1)) / n : 0;
  };
  const double se = std::sqrt(variance(sum, positive_squares, positives_) +
                              variance(negative_sum, negative_squares, negatives_));
  return clamped({auc, auc - kZ * se, auc + kZ * se}, 0, 1);
}

Estimate ScoreList::pr_auc() const {
  double tp = 0;
  double all = 0;
  double area = 0;
  for (auto group = groups_.rbegin(); group != groups_.rend(); ++group) {
    tp += group->positive;
    all += group->positive + group->negative;
    area += group->positive / positives_ * (tp / all);
  }
  const double held = std::clamp(area, 1e-9, 1 - 1e-9);
  const double logit = std::log(held / (1 - held));
  const double se = 1 / std::sqrt(positives_ * held * (1 - held));
  return {area, logistic(logit - kZ * se), logistic(logit + kZ * se)};
}

Estimate ScoreList::ks() const {
  double tp = positives_;
  double fp = negatives_;
  double best = 0;
  double se = 0;
  for (const Group& group : groups_) {
    tp -= group.positive;
    fp -= group.negative;
    const double tpr = tp / positives_;
    const double fpr = fp / negatives_;
    if (tpr - fpr <= best) continue;
    best = tpr - fpr;
    se = std::sqrt(tpr * (1 - tpr) / positives_ + fpr * (1 - fpr) / negatives_);
  }
  return clamped({best, best - kZ * se, best + kZ * se}, 0, 1);
}

Estimate ScoreList::lift(double share) const {
  double left = share * rows();
  const double wanted = left;
  double positive = 0;
  for (auto group = groups_.rbegin(); group != groups_.rend() && left > 0; ++group) {
    const double all = group->positive + group->negative;
    const double part = std::min(1.0, left / all);
    positive += part * group->positive;
    left -= part * all;
  }
  const double base = positives_ / rows();
  const Estimate precision = share_of(wanted > 0 ? std::min(1.0, positive / wanted) : 0, wanted);
  return {precision.value / base, precision.low / base, precision.high / base};
}

ScoreList::Counts ScoreList::at(double threshold) const {
  Counts counts;
  for (const Group& group : groups_) {
    const bool yes = group.probability >= threshold;
    (yes ? counts.tp : counts.fn) += group.positive;
    (yes ? counts.fp : counts.tn) += group.negative;
  }
  return counts;
}

json ScoreList::roc() const {
  std::vector<std::pair<double, double>> points = {{0, 0}};
  double tp = 0;
  double fp = 0;
  for (auto group = groups_.rbegin(); group != groups_.rend(); ++group) {
    tp += group->positive;
    fp += group->negative;
    points.emplace_back(fp / negatives_, tp / positives_);
  }
  return thinned(points);
}

json ScoreList::precision_recall() const {
  std::vector<std::pair<double, double>> points;
  double tp = 0;
  double all = 0;
  for (auto group = groups_.rbegin(); group != groups_.rend(); ++group) {
    tp += group->positive;
    all += group->positive + group->negative;
    points.emplace_back(tp / positives_, tp / all);
  }
  return thinned(points);
}

json ScoreList::calibration() const {
  json out = json::array();
  const double each = rows() / 10;
  Group bin;
  double low = groups_.empty() ? 0 : groups_.front().probability;
  double predicted = 0;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const Group& group = groups_[i];
    const double all = group.positive + group.negative;
    bin.positive += group.positive;
    bin.negative += group.negative;
    predicted += all * group.probability;
    const double in_bin = bin.positive + bin.negative;
    const bool last = i + 1 == groups_.size();
    if (in_bin < each * (1 - 1e-9) && !last) continue;
    out.push_back({{"low", rounded(low)},
                   {"high", rounded(group.probability)},
                   {"rows", std::round(in_bin)},
                   {"predicted", rounded(predicted / in_bin)},
                   {"observed", rounded(bin.positive / in_bin)}});
    bin = {};
    predicted = 0;
    if (!last) low = groups_[i + 1].probability;
  }
  return out;
}

json ScoreList::lift_curve() const {
  json out = json::array();
  for (int tenth = 1; tenth <= 10; ++tenth)
    out.push_back({{"share", tenth / 10.0}, {"lift", rounded(lift(tenth / 10.0).value)}});
  return out;
}

json ScoreList::thresholds() const {
  json out = json::array();
  std::size_t at = 0;
  Counts counts;
  counts.tp = positives_;
  counts.fp = negatives_;
  for (int percent = 0; percent <= 100; ++percent) {
    const double threshold = percent / 100.0;
    for (; at < groups_.size() && groups_[at].probability < threshold; ++at) {
      counts.tp -= groups_[at].positive;
      counts.fn += groups_[at].positive;
      counts.fp -= groups_[at].negative;
      counts.tn += groups_[at].negative;
    }
    out.push_back({{"threshold", threshold},
                   {"tp", std::round(std::max(counts.tp, 0.0))},
                   {"fp", std::round(std::max(counts.fp, 0.0))},
                   {"tn", std::round(counts.tn)},
                   {"fn", std::round(counts.fn)}});
  }
  return out;
}

}  // namespace samovar::trainer
