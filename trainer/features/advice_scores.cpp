#include "trainer/features/advice_scores.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>

namespace samovar::trainer {

namespace {

constexpr std::size_t kRowsMin = 100;  // of the half that is measured
constexpr std::size_t kBins = 64;

// Every other row fits, the rest measures.
bool fits(std::size_t row) { return row % 2 == 0; }

struct Mean {
  double sum = 0;
  double count = 0;
};

// A value for each row of the measured half: the mean of its code in the other one.
std::vector<std::pair<double, float>> scored(std::span<const std::uint32_t> codes,
                                             std::span<const float> target) {
  std::unordered_map<std::uint32_t, Mean> means;
  Mean all;
  for (std::size_t row = 0; row < codes.size(); ++row) {
    if (!fits(row)) continue;
    Mean& mean = means[codes[row]];
    mean.sum += target[row];
    ++mean.count;
    all.sum += target[row];
    ++all.count;
  }
  std::vector<std::pair<double, float>> out;
  const double overall = all.count == 0 ? 0 : all.sum / all.count;
  for (std::size_t row = 0; row < codes.size(); ++row) {
    if (fits(row)) continue;
    const auto at = means.find(codes[row]);
    out.emplace_back(at == means.end() ? overall : at->second.sum / at->second.count, target[row]);
  }
  return out;
}

}  // namespace

std::vector<std::uint32_t> quantile_codes(std::span<const float> values) {
  std::vector<float> sorted;
  for (const float value : values) {
    if (std::isfinite(value)) sorted.push_back(value);
  }
  std::sort(sorted.begin(), sorted.end());
  std::vector<float> cuts;
  for (std::size_t bin = 1; bin < kBins && !sorted.empty(); ++bin) {
    const float cut = sorted[sorted.size() * bin / kBins];
    if (cuts.empty() || cut > cuts.back()) cuts.push_back(cut);
  }
  std::vector<std::uint32_t> out;
  out.reserve(values.size());
  for (const float value : values) {
    const auto at = std::upper_bound(cuts.begin(), cuts.end(), value) - cuts.begin();
    out.push_back(std::isfinite(value) ? static_cast<std::uint32_t>(at) : kBins);
  }
  return out;
}

double auc_alone(std::span<const std::uint32_t> codes, std::span<const float> target) {
  auto rows = scored(codes, target);
  std::sort(rows.begin(), rows.end());
  double positives = 0;
  double ranks = 0;  // of the positives, ties sharing theirs
  for (std::size_t first = 0; first < rows.size();) {
    std::size_t end = first;
    double here = 0;
    for (; end < rows.size() && rows[end].first == rows[first].first; ++end)
      here += rows[end].second > 0.5f ? 1 : 0;
    ranks += here * (static_cast<double>(first + end) + 1) / 2;
    positives += here;
    first = end;
  }
  const double negatives = static_cast<double>(rows.size()) - positives;
  if (rows.size() < kRowsMin || positives < 10 || negatives < 10) return 0.5;
  return (ranks - positives * (positives + 1) / 2) / (positives * negatives);
}

double r2_alone(std::span<const std::uint32_t> codes, std::span<const float> target) {
  const auto rows = scored(codes, target);
  if (rows.size() < kRowsMin) return 0;
  double mean = 0;
  for (const auto& [score, value] : rows) mean += value;
  mean /= static_cast<double>(rows.size());
  double left = 0;
  double whole = 0;
  for (const auto& [score, value] : rows) {
    left += (value - score) * (value - score);
    whole += (value - mean) * (value - mean);
  }
  return whole > 0 ? 1 - left / whole : 0;
}

double r2_linear(std::span<const float> values, std::span<const float> target) {
  double count = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (!std::isfinite(values[row])) continue;
    // Means on the run (Welford): sums of squares of large numbers would lose all that counts.
    ++count;
    const double dx = values[row] - x;
    const double dy = target[row] - y;
    x += dx / count;
    y += dy / count;
    xx += dx * (values[row] - x);
    yy += dy * (target[row] - y);
    xy += dx * (target[row] - y);
  }
  if (count < 2 * kRowsMin || count < 0.5 * static_cast<double>(values.size()) || xx <= 0 || yy <= 0)
    return 0;
  return xy * xy / (xx * yy);
}

double accuracy_alone(std::span<const std::uint32_t> codes, std::span<const float> target) {
  std::map<std::uint32_t, std::map<int, std::size_t>> counts;
  for (std::size_t row = 0; row < codes.size(); ++row) {
    if (fits(row)) ++counts[codes[row]][static_cast<int>(target[row])];
  }
  std::unordered_map<std::uint32_t, int> best;
  for (const auto& [code, classes] : counts) {
    best[code] = std::max_element(classes.begin(), classes.end(), [](const auto& a, const auto& b) {
                   return a.second < b.second;
                 })->first;
  }
  std::size_t right = 0;
  std::size_t all = 0;
  for (std::size_t row = 0; row < codes.size(); ++row) {
    if (fits(row)) continue;
    ++all;
    const auto at = best.find(codes[row]);
    right += at != best.end() && at->second == static_cast<int>(target[row]) ? 1 : 0;
  }
  return all < kRowsMin ? 0 : static_cast<double>(right) / static_cast<double>(all);
}

}  // namespace samovar::trainer
