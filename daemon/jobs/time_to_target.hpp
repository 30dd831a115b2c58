// When a training was good enough: the first moment its validation loss reached a target, and what it had
// taken until then.
#pragma once
#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "daemon/jobs/model_service.hpp"

namespace samovar::jobs {

struct TimeToTarget {
  double loss = 0;                // the target
  std::optional<double> seconds;  // nothing: not reached
  std::optional<double> joules;   // likewise, or not measured
};

inline constexpr double kNearTarget = 0.01;

inline const std::vector<double>* told_column(const JobMetrics& metrics, std::string_view name) {
  const auto found = std::find(metrics.names.begin(), metrics.names.end(), name);
  if (found == metrics.names.end()) return nullptr;
  const auto& values = metrics.columns[static_cast<std::size_t>(found - metrics.names.begin())];
  return std::any_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); })
             ? &values
             : nullptr;
}

inline std::optional<double> told_at(const std::vector<double>* values, std::size_t place) {
  if (values == nullptr || place >= values->size() || !std::isfinite((*values)[place])) return std::nullopt;
  return (*values)[place];
}

// Without a target: one percent above the last loss. Nothing when no loss was told. Of jobs without
// validation rows the training loss counts.
inline std::optional<TimeToTarget> time_to_target(const JobMetrics& metrics, std::optional<double> target) {
  const auto* losses = told_column(metrics, "valid_loss");
  if (losses == nullptr) losses = told_column(metrics, "train_loss");
  if (losses == nullptr) return std::nullopt;
  if (!target) {
    const auto last =
        std::find_if(losses->rbegin(), losses->rend(), [](double value) { return std::isfinite(value); });
    target = *last + kNearTarget * std::abs(*last);
  }
  TimeToTarget found;
  found.loss = *target;
  const auto first =
      std::find_if(losses->begin(), losses->end(), [&](double value) { return value <= *target; });
  if (first == losses->end()) return found;
  const auto place = static_cast<std::size_t>(first - losses->begin());
  found.seconds = told_at(told_column(metrics, "seconds"), place);
  found.joules = told_at(told_column(metrics, "joules"), place);
  return found;
}

}  // namespace samovar::jobs
