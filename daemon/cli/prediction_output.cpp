#include "daemon/cli/prediction_output.hpp"

#include <fmt/format.h>

#include <charconv>

#include "daemon/cli/app.hpp"
#include "daemon/cli/view.hpp"

namespace samovar::cli {

using nlohmann::json;

namespace {

constexpr std::size_t kReasonColumns = 3;

std::string number_text(const json& value) {
  if (!value.is_number()) return "–";
  return fmt::format("{:.6g}", value.get<double>());
}

// All its digits, for programs.
std::string exact(const json& value) { return value.is_number() ? value.dump() : std::string(); }

std::string label_of(const json& prediction) {
  const json label = prediction.value("label", json());
  return label.is_string() ? label.get<std::string>() : std::string();
}

std::string reason_text(const json& reason) {
  const double effect = reason.value("contribution", 0.0);
  return fmt::format("{}={} ({:+.3f})", cell_text(reason, {"", "/input"}), cell_text(reason, {"", "/value"}),
                     effect);
}

std::string class_name(const json& name) { return name.is_string() ? name.get<std::string>() : name.dump(); }

bool has_classes(const json& answer) {
  return answer.contains("classes") && answer["classes"].is_array() && !answer["classes"].empty();
}

}  // namespace

std::string prediction_text(const json& answer) {
  std::string out;
  for (const json& prediction : answer.value("predictions", json::array())) {
    const std::string label = label_of(prediction);
    out += label.empty() ? fmt::format("Prediction: {}\n", number_text(prediction.value("value", json())))
                         : fmt::format("Prediction: {}\n", printable(label));
    const json probabilities = prediction.value("probabilities", json());
    if (has_classes(answer) && probabilities.is_array()) {
      std::vector<std::vector<std::string>> rows;
      for (std::size_t i = 0; i < answer["classes"].size() && i < probabilities.size(); ++i) {
        const double share = probabilities[i].is_number() ? probabilities[i].get<double>() : 0;
        rows.push_back({printable(class_name(answer["classes"][i])), fmt::format("{:.2f} %", share * 100)});
      }
      out += "\n" + format_table({{"CLASS"}, {"PROBABILITY", Align::right}}, rows);
    }
    const json reasons = prediction.value("reasons", json::array());
    if (!reasons.is_array() || reasons.empty()) continue;
    std::vector<std::vector<std::string>> rows;
    for (const json& reason : reasons)
      rows.push_back({cell_text(reason, {"", "/input"}), cell_text(reason, {"", "/value"}),
                      fmt::format("{:+.3f}", reason.value("contribution", 0.0))});
    out += "\n" + format_table({{"BECAUSE OF"}, {"BEING"}, {"EFFECT", Align::right}}, rows);
  }
  return out;
}

PredictionWriter::PredictionWriter(App& app, std::vector<std::string> keep, bool reasons)
    : app_(app), keep_(std::move(keep)), reasons_(reasons) {}

std::string PredictionWriter::csv_header(const json& answer) const {
  std::string out;
  for (const std::string& name : keep_) out += csv_cell(name) + ",";
  out += "prediction";
  if (has_classes(answer)) {
    for (const json& name : answer["classes"]) out += "," + csv_cell("probability_" + class_name(name));
  }
  for (std::size_t i = 0; reasons_ && i < kReasonColumns; ++i) out += fmt::format(",reason_{}", i + 1);
  return out + "\r\n";
}

std::string PredictionWriter::csv_row(const InputRow& row, const json& prediction) const {
  std::string out;
  for (const std::string& cell : row.kept) out += csv_cell(cell) + ",";
  const std::string label = label_of(prediction);
  out += label.empty() ? exact(prediction.value("value", json())) : csv_cell(label);
  const json probabilities = prediction.value("probabilities", json::array());
  for (std::size_t i = 0; i < classes_; ++i)
    out += "," +
           (probabilities.is_array() && i < probabilities.size() ? exact(probabilities[i]) : std::string());
  const json reasons = prediction.value("reasons", json::array());
  for (std::size_t i = 0; reasons_ && i < kReasonColumns; ++i)
    out +=
        "," + (reasons.is_array() && i < reasons.size() ? csv_cell(reason_text(reasons[i])) : std::string());
  return out + "\r\n";
}

std::string PredictionWriter::json_row(const InputRow& row, const json& prediction) const {
  json line = prediction;
  for (std::size_t i = 0; i < keep_.size() && i < row.kept.size(); ++i) line["row"][keep_[i]] = row.kept[i];
  return line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

void PredictionWriter::count(const json& warnings) {
  if (!warnings.is_array()) return;
  for (const json& warning : warnings) {
    Warned& entry = warned_[{warning.value("code", ""), warning.value("input", "")}];
    const std::string detail = warning.value("detail", "");
    const json row = warning.value("row", json());
    if (row.is_number()) {
      if (entry.rows++ == 0) entry.first = rows_ + row.get<std::uint64_t>() + 1;
    } else if (entry.rows > 0) {
      // Of many alike the box names a few, and then how many more there are.
      std::uint64_t more = 0;
      const std::size_t digits = detail.find_first_of("0123456789");
      if (digits != std::string::npos)
        std::from_chars(detail.data() + digits, detail.data() + detail.size(), more);
      entry.rows += more;
      continue;
    }
    if (entry.detail.empty()) entry.detail = detail;
  }
}

void PredictionWriter::write(const std::vector<InputRow>& rows, const json& answer) {
  const bool as_json = app_.json_like();
  const json predictions = answer.value("predictions", json::array());
  std::string out;
  if (rows_ == 0 && !as_json) {
    classes_ = has_classes(answer) ? answer["classes"].size() : 0;
    out += csv_header(answer);
  }
  for (std::size_t i = 0; i < rows.size() && i < predictions.size(); ++i)
    out += as_json ? json_row(rows[i], predictions[i]) : csv_row(rows[i], predictions[i]);
  app_.io().out(out);
  count(answer.value("warnings", json::array()));
  rows_ += rows.size();
}

void PredictionWriter::finish() {
  for (const auto& [key, entry] : warned_) {
    std::string text = entry.detail.empty() ? key.first : entry.detail;
    if (text.find(key.second) == std::string::npos) text = key.second + ": " + text;
    if (entry.rows > 1) {
      text += fmt::format(" ({} rows, the first is row {})", entry.rows, entry.first);
    } else if (entry.rows == 1 && rows_ > 1) {
      text += fmt::format(" (row {})", entry.first);
    }
    app_.warn(printable(text));
  }
}

}  // namespace samovar::cli
