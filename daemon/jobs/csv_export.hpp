// Blocks as CSV for people: RFC 4180, UTF-8, times in RFC 3339, missing values empty.
//
// Text that a spreadsheet would take for a formula (= + - @ and control characters in front) gets a ' before
// it, so that opening a download runs nothing.
//
// Threading: any thread; pure.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "trainer/data/block.hpp"
#include "trainer/data/schema.hpp"

namespace samovar::jobs {

// One cell. Numbers are as short as they can be without loss.
void append_csv_text(std::string_view text, std::string& out);
void append_csv_number(float value, std::string& out);

// Chosen columns of some rows of a block, a row at a time. Borrows block and schema.
class CsvRows {
 public:
  CsvRows(const trainer::BlockView& block, const trainer::Schema& schema,
          std::span<const std::size_t> columns, std::uint32_t first, std::uint32_t count);
  ~CsvRows();
  CsvRows(const CsvRows&) = delete;
  CsvRows& operator=(const CsvRows&) = delete;
  // The cells of row first + index, with commas between them; no end of line.
  void append(std::uint32_t index, std::string& out) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

void append_csv_header(const trainer::Schema& schema, std::string& out);
// Rows [first, first + count) of a block of this schema.
void append_csv_rows(const trainer::BlockView& block, const trainer::Schema& schema, std::uint32_t first,
                     std::uint32_t count, std::string& out);

}  // namespace samovar::jobs
