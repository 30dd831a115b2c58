#include "daemon/cli/evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "daemon/cli/app.hpp"
#include "daemon/cli/view.hpp"

namespace samovar::cli {

using nlohmann::json;

namespace {

struct Name {
  std::string_view key, text;
};

// In the order in which they are shown.
constexpr std::array<Name, 12> kNames = {{{"auc", "AUC"},
                                          {"pr_auc", "PR-AUC"},
                                          {"log_loss", "log loss"},
                                          {"accuracy", "accuracy"},
                                          {"f1", "F1"},
                                          {"brier", "Brier"},
                                          {"ks", "KS"},
                                          {"lift10", "lift, first 10 %"},
                                          {"deviance", "deviance"},
                                          {"rmse", "RMSE"},
                                          {"mae", "MAE"},
                                          {"r2", "R²"}}};

std::string name_of(std::string_view key) {
  for (const Name& name : kNames) {
    if (name.key == key) return std::string(name.text);
  }
  return printable(key);
}

std::size_t rank_of(std::string_view key) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i].key == key) return i;
  }
  return kNames.size();
}

std::string number_text(const json& value) {
  if (!value.is_number()) return {};
  const double number = value.get<double>();
  return std::abs(number) < 10 ? fmt::format("{:.4f}", number) : fmt::format("{:.6g}", number);
}

// A metric is {"value","low","high"}, or a number alone.
json value_of(const json& metric) { return metric.is_object() ? metric.value("value", json()) : metric; }

json member(const json& from, const std::string& key) {
  return from.is_object() && from.contains(key) ? from[key] : json();
}

std::string interval_text(const json& metric) {
  const std::string low = number_text(member(metric, "low"));
  const std::string high = number_text(member(metric, "high"));
  return low.empty() || high.empty() ? std::string() : low + " – " + high;
}

std::vector<std::string> keys_of(const json& metrics) {
  std::vector<std::string> keys;
  for (const char* part : {"test", "valid", "train"}) {
    const json some = member(metrics, part);
    if (!some.is_object()) continue;
    for (const auto& entry : some.items()) {
      if (std::find(keys.begin(), keys.end(), entry.key()) == keys.end()) keys.push_back(entry.key());
    }
  }
  std::stable_sort(keys.begin(), keys.end(),
                   [](const std::string& a, const std::string& b) { return rank_of(a) < rank_of(b); });
  return keys;
}

std::string metrics_table(const json& evaluation) {
  const json metrics = member(evaluation, "metrics");
  const json baseline = member(evaluation, "baseline");
  std::vector<std::vector<std::string>> rows;
  for (const std::string& key : keys_of(metrics)) {
    const json test = member(member(metrics, "test"), key);
    rows.push_back({name_of(key), number_text(value_of(test)), interval_text(test),
                    number_text(value_of(member(baseline, key))),
                    number_text(value_of(member(member(metrics, "valid"), key))),
                    number_text(value_of(member(member(metrics, "train"), key)))});
  }
  return format_table({{"METRIC"},
                       {"TEST", Align::right},
                       {"95 % INTERVAL"},
                       {"BASELINE", Align::right},
                       {"VALIDATION", Align::right},
                       {"TRAINING", Align::right}},
                      rows);
}

std::string importance_table(const json& evaluation, std::size_t most) {
  json items = member(evaluation, "importance");
  if (!items.is_array() || items.empty() || most == 0) return {};
  const auto weight = [](const json& item) {
    const json permutation = member(item, "permutation");
    const json standardised = member(item, "standardised");
    return permutation.is_number()    ? permutation.get<double>()
           : standardised.is_number() ? std::abs(standardised.get<double>())
                                      : 0;
  };
  std::stable_sort(items.begin(), items.end(),
                   [&](const json& a, const json& b) { return weight(a) > weight(b); });
  std::vector<std::vector<std::string>> rows;
  for (const json& item : items) {
    if (rows.size() == most) break;
    rows.push_back({cell_text(item, {"", "/input"}), number_text(member(item, "permutation")),
                    number_text(member(item, "standardised"))});
  }
  return "\n" +
         format_table({{"INPUT"}, {"LOSS WITHOUT IT", Align::right}, {"STANDARDISED", Align::right}}, rows);
}

std::string coefficient_table(const json& evaluation) {
  const json items = member(evaluation, "coefficients");
  if (!items.is_array() || items.empty()) return "\nNo coefficients were kept.\n";
  std::vector<std::vector<std::string>> rows;
  const json intercept = member(evaluation, "intercept");
  if (intercept.is_number()) rows.push_back({"(intercept)", "", number_text(intercept), "", "", ""});
  if (intercept.is_object())
    rows.push_back({"(intercept)", "", number_text(member(intercept, "estimate")),
                    number_text(member(intercept, "se")), number_text(member(intercept, "z")),
                    number_text(member(intercept, "p"))});
  for (const json& item : items) {
    const std::string level = cell_text(item, {"", "/level"});
    rows.push_back({cell_text(item, {"", "/input"}), level == "–" ? "" : level,
                    number_text(member(item, "estimate")), number_text(member(item, "se")),
                    number_text(member(item, "z")), number_text(member(item, "p"))});
  }
  return "\n" + format_table({{"INPUT"},
                              {"LEVEL"},
                              {"ESTIMATE", Align::right},
                              {"SE", Align::right},
                              {"Z", Align::right},
                              {"P", Align::right}},
                             rows);
}

std::string sentences(const json& evaluation, const char* key, std::string_view mark) {
  std::string out;
  for (const json& sentence : evaluation.value(key, json::array())) {
    if (sentence.is_string()) out += fmt::format("{}{}\n", mark, printable(sentence.get<std::string>()));
  }
  return out;
}

}  // namespace

std::string headline_text(const json& headline) {
  if (!headline.is_object()) return {};
  std::vector<std::string> keys;
  for (const auto& entry : headline.items()) {
    if (value_of(entry.value()).is_number()) keys.push_back(entry.key());
  }
  std::stable_sort(keys.begin(), keys.end(),
                   [](const std::string& a, const std::string& b) { return rank_of(a) < rank_of(b); });
  std::string text;
  for (const std::string& key : keys)
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", name_of(key), number_text(value_of(headline[key])));
  return text;
}

std::string evaluation_text(App&, const json& evaluation, const std::string& title,
                            const EvaluationParts& parts) {
  const json rows = member(evaluation, "rows");
  std::string out =
      fmt::format("{}: measured on {} rows kept apart, trained on {}, {} for stopping\n\n", printable(title),
                  cell_text(rows, {"", "/test", Shape::count}), cell_text(rows, {"", "/train", Shape::count}),
                  cell_text(rows, {"", "/valid", Shape::count}));
  out += metrics_table(evaluation);
  out += importance_table(evaluation, parts.inputs);
  if (parts.coefficients) out += coefficient_table(evaluation);
  const std::string remarks =
      sentences(evaluation, "leakage", "Warning: ") + sentences(evaluation, "notes", "Note: ");
  if (!remarks.empty()) out += "\n" + remarks;
  return out;
}

}  // namespace samovar::cli
