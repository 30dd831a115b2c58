// A stream of text, cut into records: lines, or what quotes hold together over several lines.
//
// A piece of text without a quote is cut by vectors alone; quotes are walked one by one.
//
// Threading: one thread. Borrows the Source.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "daemon/ingest/source.hpp"

namespace samovar::ingest {

inline constexpr std::size_t kRecordBytesMax = 16u << 20;

struct CutRules {
  std::optional<char> quote;
  char delimiter = ',';
};

// Whole records, in order. The text stays until the next call; kRowSlack bytes after it are readable.
struct RecordBatch {
  struct Record {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;   // without the line end
    std::uint32_t line = 0;  // first_line + line is where it begins, counted from 1
  };
  const char* text = nullptr;
  std::uint64_t first_line = 1;
  std::vector<Record> records;
};

class RecordCutter {
 public:
  RecordCutter(Source& source, const CutRules& rules);

  // Drops whole lines, whatever they hold. Before the first next().
  Result<void> skip_lines(std::uint64_t count);
  // False at the end. Errc::invalid when a record is longer than kRecordBytesMax.
  Result<bool> next(RecordBatch& batch);
  // The same for a single record, for a header.
  Result<bool> next_one(RecordBatch& batch);

  std::uint64_t bytes_read() const noexcept { return bytes_read_; }
  // The last record of the file began a quote and did not end it.
  bool quote_open_at_end() const noexcept { return quote_open_at_end_; }

 private:
  Result<void> fill();
  Result<bool> next_records(RecordBatch& batch, bool only_one);
  void cut_lines(RecordBatch& batch, bool only_one);
  void cut_quoted(RecordBatch& batch, bool only_one);
  void add(RecordBatch& batch, std::size_t begin, std::size_t end, std::size_t line) const;
  Result<void> check_lengths(const RecordBatch& batch);
  Error too_long() const;

  Source& source_;
  const CutRules rules_;
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;  // first byte not yet handed out
  std::size_t end_ = 0;    // of what was read
  std::uint64_t bytes_read_ = 0;
  std::uint64_t line_ = 1;  // of the byte at begin_
  char newline_ = '\n';
  bool newline_known_ = false;
  bool at_end_ = false;
  bool quote_open_ = false;  // what stands at begin_ has an open quote
  bool quote_open_at_end_ = false;
  std::vector<std::uint32_t> marks_;
};

}  // namespace samovar::ingest
