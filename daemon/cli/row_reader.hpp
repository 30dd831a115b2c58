// Rows of a CSV or JSON-lines file for a model, one after the other, in bounded memory.
//
// Ownership: the source of bytes is borrowed by the function given.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"

namespace samovar::cli {

// What a model takes: the type of each input by its name. Empty: not known, everything is sent.
using InputTypes = std::map<std::string, std::string, std::less<>>;
InputTypes input_types(const nlohmann::json& signature);

// A cell as the API wants it: null for "" and the usual words for a missing value, a number for a number.
nlohmann::json cell_value(std::string_view cell, std::string_view type, char decimal);

struct RowFormat {
  enum class Kind : std::uint8_t { found, csv, jsonl };
  Kind kind = Kind::found;
  char delimiter = 0;  // 0: the most frequent of , ; tab | in the header
  char decimal = '.';
};

struct InputRow {
  nlohmann::json values = nlohmann::json::object();  // the model's inputs
  std::vector<std::string> kept;                     // what was asked to be kept, as text
};

class RowReader {
 public:
  // Fills `out` with what is there, at most `room` bytes; 0 at the end.
  using Read = std::function<Result<std::size_t>(char* out, std::size_t room)>;

  RowReader(Read read, RowFormat format, InputTypes types, std::vector<std::string> keep);

  // The next row, nothing at the end. Errc::invalid names the line.
  Result<std::optional<InputRow>> next();

 private:
  Result<bool> fill();  // false at the end of the source
  Result<std::optional<char>> peek();
  Result<void> read_first_line();
  Result<void> begin();  // skips a byte order mark, finds the kind, reads the header
  Result<bool> record(std::vector<std::string>& cells);  // one CSV record, false at the end
  Result<bool> line(std::string& text);
  Result<void> read_header();
  Result<std::optional<InputRow>> next_csv();
  Result<std::optional<InputRow>> next_json();
  Error fault(std::uint64_t line, std::string what) const;

  Read read_;
  RowFormat format_;
  const InputTypes types_;
  const std::vector<std::string> keep_;
  std::string buffer_;
  std::size_t at_ = 0;
  bool ended_ = false;
  bool begun_ = false;
  std::uint64_t line_ = 1;  // where the next byte is
  std::vector<std::string> header_;
  std::vector<std::size_t> kept_columns_;
};

}  // namespace samovar::cli
