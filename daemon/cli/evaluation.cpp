#include "daemon/cli/evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/json.hpp"
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

// Of numbers of any size.
std::string digits_text(const json& value) {
  return value.is_number() ? fmt::format("{:.5g}", value.get<double>()) : std::string();
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

struct Part {
  std::string_view key, title, text;
};
constexpr std::array<Part, 3> kParts = {
    {{"test", "TEST", "kept apart"},
     {"valid", "VALIDATION", "that also decided when to stop"},
     {"train", "TRAINING", "it was trained on, for none were kept apart"}}};

// The rows that count: those kept for the test, unless there were none.
const Part& main_part(const json& evaluation) {
  const std::string shown = evaluation.value("shown", "test");
  for (const Part& part : kParts) {
    if (part.key == shown) return part;
  }
  return kParts[0];
}

std::string metrics_table(const json& evaluation) {
  const json metrics = member(evaluation, "metrics");
  const json baseline = member(evaluation, "baseline");
  const Part& main = main_part(evaluation);
  std::vector<TableColumn> columns = {
      {"METRIC"}, {std::string(main.title), Align::right}, {"95 % INTERVAL"}, {"BASELINE", Align::right}};
  for (const Part& part : kParts) {
    if (part.key != main.key) columns.push_back({std::string(part.title), Align::right});
  }
  std::vector<std::vector<std::string>> rows;
  for (const std::string& key : keys_of(metrics)) {
    const json value = member(member(metrics, std::string(main.key)), key);
    auto& row = rows.emplace_back(std::vector<std::string>{name_of(key), number_text(value_of(value)),
                                                           interval_text(value),
                                                           number_text(value_of(member(baseline, key)))});
    for (const Part& part : kParts) {
      if (part.key != main.key)
        row.push_back(number_text(value_of(member(member(metrics, std::string(part.key)), key))));
    }
  }
  return format_table(columns, rows);
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
  return "\n" + format_table(
                    {{"INPUT"}, {"WORSE WITHOUT IT BY", Align::right}, {"STANDARDISED", Align::right}}, rows);
}

std::vector<std::string> coefficient_row(std::string input, std::string level, const json& known,
                                         bool classes) {
  std::vector<std::string> row = {std::move(input), std::move(level)};
  if (classes) row.push_back(known.contains("class") ? cell_text(known, {"", "/class"}) : "");
  for (const char* key : {"estimate", "se", "z"}) row.push_back(digits_text(member(known, key)));
  const json p = member(known, "p");
  row.push_back(p.is_number() && p.get<double>() < 0.0001 ? "<0.0001" : number_text(p));
  return row;
}

std::string coefficient_table(const json& evaluation) {
  const json items = member(evaluation, "coefficients");
  if (!items.is_array() || items.empty()) return "\nNo coefficients were kept.\n";
  const bool classes = items[0].contains("class");
  std::vector<std::vector<std::string>> rows;
  const json intercept = member(evaluation, "intercept");
  json known = member(evaluation, "intercept_inference");
  if (!known.is_object()) known = json::object();
  if (intercept.is_number()) {
    known["estimate"] = intercept;
    rows.push_back(coefficient_row("(intercept)", "", known, classes));
  }
  for (const json& item : items) {
    const std::string level = cell_text(item, {"", "/level"});
    rows.push_back(
        coefficient_row(cell_text(item, {"", "/input"}), level == "–" ? "" : level, item, classes));
  }
  std::vector<TableColumn> columns = {{"INPUT"}, {"LEVEL"}};
  if (classes) columns.push_back({"CLASS"});
  for (const char* title : {"ESTIMATE", "SE", "Z", "P"}) columns.push_back({title, Align::right});
  return "\n" + format_table(columns, rows);
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
  // The one that decides for this kind of target, with its interval; else the first two.
  const std::string chosen = headline.value("metric", "");
  std::string text;
  if (!chosen.empty() && value_of(headline.value("value", json())).is_number()) {
    text = fmt::format("{} {}", name_of(chosen), number_text(headline["value"]));
    const std::string interval = interval_text(headline);
    return interval.empty() ? text : text + " (" + interval + ")";
  }
  unsigned more = 0;
  for (const Name& name : kNames) {
    const json value = value_of(member(headline, std::string(name.key)));
    if (!value.is_number() || more == 2) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name.text, number_text(value));
    ++more;
  }
  return text;
}

std::string evaluation_text(App&, const json& evaluation, const std::string& title,
                            const EvaluationParts& parts) {
  const json rows = member(evaluation, "rows");
  const Part& main = main_part(evaluation);
  std::string out = fmt::format(
      "{}: measured on {} rows {}; {} trained it, {} decided when to stop\n\n", printable(title),
      cell_text(json{{"n", member(rows, std::string(main.key))}}, {"", "/n", Shape::count}), main.text,
      cell_text(rows, {"", "/train", Shape::count}), cell_text(rows, {"", "/valid", Shape::count}));
  out += metrics_table(evaluation);
  out += importance_table(evaluation, parts.inputs);
  if (parts.coefficients) out += coefficient_table(evaluation);
  const std::string remarks =
      sentences(evaluation, "leakage", "Warning: ") + sentences(evaluation, "notes", "Note: ");
  if (!remarks.empty()) out += "\n" + remarks;
  return out;
}

}  // namespace samovar::cli
