#include "daemon/ingest/record_cutter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "daemon/ingest/text_marks.hpp"

namespace samovar::ingest {
namespace {

// Fits the second-level cache together with what is made of it.
constexpr std::size_t kReadBytes = 256u << 10;

std::size_t find(const char* text, std::size_t begin, std::size_t end, char c) noexcept {
  if (begin >= end) return end;
  const void* hit = std::memchr(text + begin, c, end - begin);
  return hit == nullptr ? end : static_cast<std::size_t>(static_cast<const char*>(hit) - text);
}

}  // namespace

RecordCutter::RecordCutter(Source& source, const CutRules& rules)
    : source_(source), rules_(rules), capacity_(2 * kReadBytes) {
  buffer_ = std::make_unique_for_overwrite<char[]>(capacity_ + kRowSlack);
}

Result<void> RecordCutter::fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  // What is left is one record that is not whole yet. As much again is read, so that a long one is not looked
  // at from its beginning too often.
  if (end_ > kRecordBytesMax) return too_long();
  const std::size_t goal = end_ + std::max(kReadBytes, end_);
  if (goal > capacity_) {
    const std::size_t larger = std::max(2 * capacity_, goal);
    auto grown = std::make_unique_for_overwrite<char[]>(larger + kRowSlack);
    std::memcpy(grown.get(), buffer_.get(), end_);
    buffer_ = std::move(grown);
    capacity_ = larger;
  }
  while (!at_end_ && end_ < goal) {
    SAMOVAR_TRY(const std::size_t got,
                source_.read({reinterpret_cast<std::uint8_t*>(buffer_.get()) + end_, goal - end_}));
    at_end_ = got == 0;
    end_ += got;
    bytes_read_ += got;
  }
  if (!newline_known_ && end_ > 0) {
    // Files of old Macs end their lines with a carriage return alone.
    newline_known_ = true;
    const bool has_newline = find(buffer_.get(), 0, end_, '\n') < end_;
    newline_ = !has_newline && find(buffer_.get(), 0, end_, '\r') < end_ ? '\r' : '\n';
  }
  return {};
}

Result<void> RecordCutter::check_lengths(const RecordBatch& batch) {
  for (const RecordBatch::Record& record : batch.records) {
    if (record.end - record.begin <= kRecordBytesMax) continue;
    line_ = batch.first_line + record.line;
    return too_long();
  }
  return {};
}

Error RecordCutter::too_long() const {
  if (quote_open_) {
    return Error{Errc::invalid,
                 fmt::format("the quote ({}) opened in the row of line {} does not end within {} MiB: "
                             "correct the file, or say that quotes are ordinary characters",
                             *rules_.quote, line_, kRecordBytesMax >> 20)};
  }
  return Error{Errc::invalid,
               fmt::format("the row of line {} is longer than {} MiB: is this a table, and are its "
                           "lines ended?",
                           line_, kRecordBytesMax >> 20)};
}

void RecordCutter::add(RecordBatch& batch, std::size_t begin, std::size_t end, std::size_t line) const {
  if (newline_ == '\n' && end > begin && buffer_[end - 1] == '\r') --end;
  batch.records.push_back(
      {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), static_cast<std::uint32_t>(line)});
}

void RecordCutter::cut_lines(RecordBatch& batch, bool only_one) {
  if (only_one) {
    const std::size_t end = find(buffer_.get(), begin_, end_, newline_);
    if (end == end_) return;
    add(batch, begin_, end, 0);
    begin_ = end + 1;
    ++line_;
    return;
  }
  if (end_ - begin_ > 4 * kReadBytes) {
    // A long record made the buffer long: marks of all of it would take four times as much.
    if (rules_.quote && find(buffer_.get(), begin_, end_, *rules_.quote) < end_)
      return cut_quoted(batch, false);
    for (std::size_t end = find(buffer_.get(), begin_, end_, newline_); end < end_;
         end = find(buffer_.get(), begin_, end_, newline_)) {
      add(batch, begin_, end, static_cast<std::size_t>(line_ - batch.first_line));
      begin_ = end + 1;
      ++line_;
    }
    return;
  }
  if (marks_.size() < end_ - begin_ + 64) marks_.resize(end_ - begin_ + 64);
  bool quote_seen = false;
  const std::size_t found = find_line_ends(buffer_.get(), begin_, end_, newline_,
                                           rules_.quote.value_or(newline_), marks_.data(), quote_seen);
  if (rules_.quote && quote_seen) return cut_quoted(batch, false);
  std::size_t begin = begin_;
  batch.records.resize(found);
  const char* const text = buffer_.get();
  const std::size_t returns =
      newline_ == '\n' ? 1 : 0;  // a carriage return before it belongs to the line end
  RecordBatch::Record* record = batch.records.data();
  for (std::size_t i = 0; i < found; ++i, ++record) {
    const std::size_t end = marks_[i];
    const std::size_t cut = end > begin && text[end - 1] == '\r' ? returns : 0;
    *record = {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end - cut),
               static_cast<std::uint32_t>(i)};
    begin = end + 1;
  }
  begin_ = begin;
  line_ += found;
}

// A quote opens only where a field begins; within quotes two of them stand for one.
void RecordCutter::cut_quoted(RecordBatch& batch, bool only_one) {
  const char quote = *rules_.quote;
  const char* const text = buffer_.get();
  std::size_t record = begin_;
  std::size_t at = begin_;
  std::size_t lines = 0;         // before `record`
  std::size_t lines_inside = 0;  // of the record so far
  std::size_t next_quote = find(text, at, end_, quote);
  quote_open_ = false;
  while (true) {
    const std::size_t newline = find(text, at, next_quote, newline_);
    if (newline < next_quote) {
      add(batch, record, newline, lines);
      lines += lines_inside + 1;
      lines_inside = 0;
      record = at = newline + 1;
      if (only_one) break;
      continue;
    }
    if (next_quote == end_) break;
    if (next_quote == record || text[next_quote - 1] == rules_.delimiter) {
      std::size_t close = find(text, next_quote + 1, end_, quote);
      while (close + 1 < end_ && text[close + 1] == quote) close = find(text, close + 2, end_, quote);
      // A quote that is the last byte read may be the first of two.
      if (close == end_ || (close + 1 == end_ && !at_end_)) {
        quote_open_ = true;
        break;
      }
      for (std::size_t n = find(text, next_quote, close, newline_); n < close;
           n = find(text, n + 1, close, newline_)) {
        ++lines_inside;
      }
      at = close + 1;
    } else {
      at = next_quote + 1;
    }
    next_quote = find(text, at, end_, quote);
  }
  begin_ = record;
  line_ += lines;
}

Result<bool> RecordCutter::next_records(RecordBatch& batch, bool only_one) {
  batch.records.clear();
  while (true) {
    batch.first_line = line_;
    if (begin_ < end_) {
      if (only_one && rules_.quote)
        cut_quoted(batch, true);
      else
        cut_lines(batch, only_one);
    }
    batch.text = buffer_.get();
    if (end_ > kRecordBytesMax) SAMOVAR_CHECK(check_lengths(batch));
    if (!batch.records.empty()) return true;
    if (at_end_) break;
    SAMOVAR_CHECK(fill());
  }
  if (begin_ == end_) return false;
  if (end_ - begin_ > kRecordBytesMax) return too_long();
  // The last line may lack its end.
  quote_open_at_end_ = quote_open_;
  add(batch, begin_, end_, 0);
  begin_ = end_;
  ++line_;
  return true;
}

Result<bool> RecordCutter::next(RecordBatch& batch) { return next_records(batch, false); }
Result<bool> RecordCutter::next_one(RecordBatch& batch) { return next_records(batch, true); }

Result<void> RecordCutter::skip_lines(std::uint64_t count) {
  while (count > 0) {
    const std::size_t end = find(buffer_.get(), begin_, end_, newline_);
    if (end < end_) {
      begin_ = end + 1;
      ++line_;
      --count;
    } else if (at_end_) {
      begin_ = end_;
      return {};
    } else {
      begin_ = newline_known_ ? end_ : begin_;
      SAMOVAR_CHECK(fill());
    }
  }
  return {};
}

}  // namespace samovar::ingest
