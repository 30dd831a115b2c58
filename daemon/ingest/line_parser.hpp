// Formats whose rows are lines, other than CSV: libsvm, ARFF, JSON lines. The pipeline cuts lines, deals them
// to shards and then parses each shard's lines on some thread, so a parser knows nothing but its own line.
//
// Threading: one parser per thread; parsing one line leaves nothing behind for the next.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "daemon/ingest/options.hpp"
#include "trainer/data/schema.hpp"

namespace samovar::ingest {

// One row, as text. Views point into the line or into `scratch`, and hold until the next line.
struct LineCells {
  std::vector<std::string_view> cells;  // one a column, in the schema's order; unescaped, blanks trimmed
  std::vector<std::uint8_t> missing;    // one a column: 1 where the row has no value (options.missing too)
  std::vector<std::uint32_t> indices;   // the row's pairs, for the one sparse column, rising
  std::vector<float> values;
  std::vector<std::string> scratch;  // strings that had to be unescaped (reserve: views stay valid)
  std::string reason;                // why the line is no row
};

enum class LineKind : std::uint8_t { row, nothing, bad };  // nothing: blank or a comment

class LineParser {
 public:
  virtual ~LineParser() = default;
  // `line` is well-formed UTF-8 without NUL, without its line end.
  virtual LineKind parse(std::string_view line, LineCells& out) = 0;
};

// Errc::unsupported for csv and pairs, which the pipeline reads itself.
Result<std::unique_ptr<LineParser>> make_line_parser(const ParseOptions& options,
                                                     const trainer::Schema& schema);

// How many lines stand before the first row, besides options.skip_lines (ARFF: up to and with @data).
// Asked line by line from the first on: true while `line` still belongs to the head.
class LinePrologue {
 public:
  explicit LinePrologue(Format format) : open_(format == Format::arff) {}
  bool takes(std::string_view line) noexcept;

 private:
  bool open_;
};

}  // namespace samovar::ingest
