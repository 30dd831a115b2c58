#include "daemon/cluster/placement_weights.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>

namespace samovar::cluster {
namespace {

constexpr std::size_t kExactMax = 64;  // beyond, R is small against the number of nodes and capacities do
constexpr int kGrid = 96;
constexpr int kRounds = 40;
constexpr double kClose = 1e-4;
constexpr double kAlways = 1e9;  // against weights around 1: before all others

// How probable each is among the first `wanted` when all draw with these rates.
std::vector<double> inclusion(const std::vector<double>& weights, unsigned wanted) {
  const std::size_t n = weights.size();
  std::vector<double> result(n, 0.0);
  std::vector<double> before(n, 0.0);
  std::vector<double> drawn(n);
  std::vector<double> count(wanted);
  for (int step = 0; step < kGrid; ++step) {
    // At the middle of the step, how many of the others have drawn; during it, does this one?
    const double middle = -std::log(1.0 - (step + 0.5) / kGrid);
    for (std::size_t i = 0; i < n; ++i) drawn[i] = 1.0 - std::exp(-weights[i] * middle);
    for (std::size_t i = 0; i < n; ++i) {
      std::fill(count.begin(), count.end(), 0.0);
      count[0] = 1.0;
      for (std::size_t j = 0; j < n; ++j) {
        if (j == i) continue;
        for (std::size_t k = wanted; k-- > 0;)
          count[k] = count[k] * (1.0 - drawn[j]) + (k > 0 ? count[k - 1] * drawn[j] : 0.0);
      }
      const double few = std::accumulate(count.begin(), count.end(), 0.0);
      const double until = step + 1 == kGrid ? 1.0 : 1.0 - std::pow(1.0 - (step + 1.0) / kGrid, weights[i]);
      result[i] += few * (until - before[i]);
      before[i] = until;
    }
  }
  return result;
}

bool all_equal(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(),
                     [&](double value) { return std::abs(value - values[0]) <= 1e-9 * values[0]; });
}

// Rates for those who are not certain to get a copy; targets add up to `wanted`.
std::vector<double> solve(const std::vector<double>& targets, unsigned wanted) {
  std::vector<double> weights = targets;
  const auto normalise = [&weights] {
    const double mean =
        std::accumulate(weights.begin(), weights.end(), 0.0) / static_cast<double>(weights.size());
    for (double& weight : weights) weight /= mean;
  };
  normalise();
  if (wanted <= 1 || all_equal(targets) || targets.size() > kExactMax) return weights;
  for (int round = 0; round < kRounds; ++round) {
    const auto now = inclusion(weights, wanted);
    double worst = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double off = targets[i] / std::max(now[i], 1e-12);
      worst = std::max(worst, std::abs(off - 1.0));
      // What is missing counts more the nearer one is to certain.
      weights[i] *= std::pow(off, 1.0 / std::max(1.0 - targets[i], 0.05));
    }
    normalise();
    if (worst < kClose) break;
  }
  return weights;
}

}  // namespace

namespace {

std::vector<double> work_out(const std::vector<double>& capacities, unsigned wanted) {
  std::vector<double> weights(capacities.size(), 1.0);
  // Whose share would be more than one copy of each file gets exactly one of each.
  std::vector<bool> always(capacities.size(), false);
  unsigned left = wanted;
  double sum = std::accumulate(capacities.begin(), capacities.end(), 0.0);
  for (bool again = true; again;) {
    again = false;
    for (std::size_t i = 0; i < capacities.size() && left > 0; ++i) {
      if (always[i] || capacities[i] * left < sum * (1.0 - 1e-9)) continue;
      always[i] = again = true;
      sum -= capacities[i];
      --left;
    }
  }
  std::vector<double> targets;
  for (std::size_t i = 0; i < capacities.size(); ++i)
    if (!always[i]) targets.push_back(left == 0 ? 1.0 : capacities[i] * left / sum);
  const auto solved = targets.empty() ? targets : solve(targets, left);
  for (std::size_t i = 0, k = 0; i < capacities.size(); ++i) weights[i] = always[i] ? kAlways : solved[k++];
  return weights;
}

}  // namespace

std::vector<double> placement_weights(const std::vector<double>& capacities, unsigned wanted) {
  if (capacities.size() <= wanted || wanted == 0) return std::vector<double>(capacities.size(), 1.0);
  // Disks do not grow between two files: the last answer is nearly always the right one.
  struct Known {
    std::vector<double> capacities;
    std::vector<double> weights;
  };
  thread_local std::map<unsigned, Known> memory;
  Known& known = memory[std::min(wanted, 8u)];
  if (known.capacities != capacities || wanted > 7) known = {capacities, work_out(capacities, wanted)};
  return known.weights;
}

}  // namespace samovar::cluster
