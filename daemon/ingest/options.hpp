// How a file is to be understood: what detection found, or a person corrected.
//
// Threading: values.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "trainer/data/schema.hpp"

namespace samovar::ingest {

enum class Format : std::uint8_t {
  csv,     // any delimiter, RFC 4180 quoting
  libsvm,  // label index:value …
  arff,
  jsonl,  // one JSON object a line
  pairs,  // parallel text: two text columns, tab separated, nothing quoted; delimiter ' ': two or more spaces
};
enum class Compression : std::uint8_t { none, gzip, zstd, xz, zip };
enum class Encoding : std::uint8_t {
  utf8,
  latin1,  // read as Windows-1252
  utf16le,
  utf16be,
  idx,  // no text at all: MNIST's numbers, written out as CSV with a header
};
enum class DateOrder : std::uint8_t { day_first, month_first };  // of 3/4/2024 and 3.4.2024

std::string_view to_string(Format format) noexcept;
std::string_view to_string(Compression compression) noexcept;
std::string_view to_string(Encoding encoding) noexcept;
std::string_view to_string(DateOrder order) noexcept;

// Of cells in general: blanks around an unquoted cell do not belong to it, and a blank line is no row.
struct ParseOptions {
  Format format = Format::csv;
  Compression compression = Compression::none;
  Encoding encoding = Encoding::utf8;
  char delimiter = ',';             // ' ': any run of blanks, and those before the first cell do not count
  std::optional<char> quote = '"';  // none: quotes are ordinary characters
  bool header = true;
  char decimal = '.';      // or ','
  bool thousands = false;  // "1,234.5" or "1.234,5": the sign that is not `decimal` groups digits
  DateOrder date_order = DateOrder::day_first;
  std::vector<std::string> missing = {"", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "?", "-", "\\N"};
  std::uint64_t skip_lines = 0;  // before the header or the first row
  // One a column: the member of a jsonl object it is read from, "address.city" for a nested one; of arff,
  // what a sparse row means by leaving the column out. Empty for the other formats.
  std::vector<std::string> fields;
  friend bool operator==(const ParseOptions&, const ParseOptions&) = default;
};

nlohmann::json to_json(const ParseOptions& options);
// Absent members keep those of `base`. Errc::invalid names the member and what it may be.
Result<ParseOptions> parse_options(const nlohmann::json& json, ParseOptions base);

// Why a column has its type, for a person to judge.
struct ColumnFinding {
  trainer::ColumnSpec spec;
  std::string evidence;               // "all 9,812 values are whole numbers from 17 to 90"
  std::vector<std::string> examples;  // up to 5 distinct values; masked when sensitive
  std::uint64_t missing = 0;          // in the sample
  bool constant = false;
  bool identifier = false;       // (nearly) every value differs: of no use for training
  std::string sensitive_reason;  // "looks like e-mail addresses", or empty
};

struct Detection {
  ParseOptions options;
  std::vector<ColumnFinding> columns;
  std::uint64_t sample_rows = 0;
  std::vector<std::string> notes;  // sentences: what is doubtful, and what to correct
};
nlohmann::json to_json(const Detection& detection);
Result<Detection> parse_detection(const nlohmann::json& json);  // from the sandbox: checked

}  // namespace samovar::ingest
