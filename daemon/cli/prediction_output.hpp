// What a model answered: for people, as CSV, or as JSON lines.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "daemon/cli/row_reader.hpp"

namespace samovar::cli {

class App;

// One answer with its reasons.
std::string prediction_text(const nlohmann::json& answer);

// Many answers, a line each, in the order of the rows.
class PredictionWriter {
 public:
  PredictionWriter(App& app, std::vector<std::string> keep, bool reasons);

  // The rows of one request and what came back for them.
  void write(const std::vector<InputRow>& rows, const nlohmann::json& answer);
  // What was odd about the rows that come next in write(), or stand alone.
  void count(const nlohmann::json& warnings);
  // Each kind of warning once, with how often it came.
  void finish();
  std::uint64_t rows() const { return rows_; }

 private:
  std::string csv_header(const nlohmann::json& answer) const;
  std::string csv_row(const InputRow& row, const nlohmann::json& prediction) const;
  std::string json_row(const InputRow& row, const nlohmann::json& prediction) const;

  struct Warned {
    std::uint64_t rows = 0;  // 0: it holds for all of them
    std::uint64_t first = 0;
    std::string detail;
  };

  App& app_;
  const std::vector<std::string> keep_;
  const bool reasons_;
  std::uint64_t rows_ = 0;
  std::size_t classes_ = 0;
  std::map<std::pair<std::string, std::string>, Warned> warned_;  // by code and input
};

}  // namespace samovar::cli
