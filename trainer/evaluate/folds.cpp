#include "trainer/evaluate/folds.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "trainer/solvers/distributions.hpp"

namespace samovar::trainer {

namespace {

using nlohmann::json;

struct Range {
  double low;
  double high;
};
Range range_of(const std::string& metric) {
  constexpr double kEnd = std::numeric_limits<double>::infinity();
  if (metric == "r2") return {-kEnd, 1};
  for (const char* share : {"auc", "pr_auc", "accuracy", "f1", "ks"}) {
    if (metric == share) return {0, 1};
  }
  return {0, kEnd};
}

// Those folds that have it: one without both classes has no AUC.
std::vector<double> values_of(const json& folds, const char* part, const std::string& metric) {
  std::vector<double> out;
  for (const json& fold : folds) {
    const auto found = fold[part].find(metric);
    if (found != fold[part].end() && found->is_number()) out.push_back(found->get<double>());
  }
  return out;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

json estimate(const std::string& metric, const std::vector<double>& values) {
  const double mean = mean_of(values);
  json out = {{"value", mean}, {"low", nullptr}, {"high", nullptr}};
  if (values.size() < 2) return out;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const auto count = static_cast<double>(values.size());
  const double half = student_bound(count - 1) * std::sqrt(squares / (count - 1) / count);
  const Range range = range_of(metric);
  out["low"] = std::max(mean - half, range.low);
  out["high"] = std::min(mean + half, range.high);
  return out;
}

std::vector<std::string> names_in(const json& folds, const char* part) {
  std::vector<std::string> names;
  for (const json& fold : folds) {
    for (const auto& [name, value] : fold[part].items()) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

}  // namespace

json fold_figures(const json& evaluation) {
  json metrics = json::object();
  const json& test = evaluation["metrics"]["test"];
  for (const auto& [name, value] : test.items()) metrics[name] = value["value"];
  const bool of_test = evaluation["shown"] == "test";
  return {{"rows", evaluation["rows"]["test"]},
          {"metrics", std::move(metrics)},
          {"baseline", of_test ? evaluation["baseline"] : json::object()}};
}

void add_folds(const json& folds, json& evaluation) {
  json metrics = json::object();
  for (const std::string& name : names_in(folds, "metrics")) {
    const std::vector<double> values = values_of(folds, "metrics", name);
    if (!values.empty()) metrics[name] = estimate(name, values);
  }
  json baseline = json::object();
  for (const std::string& name : names_in(folds, "baseline")) {
    const std::vector<double> values = values_of(folds, "baseline", name);
    if (!values.empty()) baseline[name] = mean_of(values);
  }
  std::uint64_t rows = 0;
  for (const json& fold : folds) rows += fold["rows"].get<std::uint64_t>();

  // Curves need scores of one model. Those of rows that were trained on would flatter it.
  std::string curves = evaluation["shown"] == "valid" ? "Curves are those of the validation rows." : "";
  if (curves.empty()) {
    for (const char* name : {"roc", "pr", "calibration", "lift", "thresholds", "confusion"})
      evaluation.erase(name);
    curves = "There are no curves: no row was left out for them.";
  }
  evaluation["shown"] = "test";
  evaluation["metrics"]["test"] = std::move(metrics);
  evaluation["rows"]["test"] = rows;
  evaluation["baseline"] = std::move(baseline);
  evaluation["folds"] = folds;
  evaluation["notes"] = json::array(
      {"Cross-validated: the test figures are the mean over " + std::to_string(folds.size()) +
       " folds, each judged by a model that had not seen it, and the interval says how far folds differ. The "
       "model kept was then trained on all folds together" +
       (evaluation["rows"]["valid"] == 0 ? ". " : ", without the validation rows. ") + curves});
}

}  // namespace samovar::trainer
