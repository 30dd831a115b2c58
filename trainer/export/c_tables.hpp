// The tables of a C export, read back from its text, and scored by the arithmetic that the text holds too.
//
// Threading: pure functions.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace samovar::trainer {

// The values of a table `name[] = {…};`, a list of one for plain ones and of several for structs: numbers and
// names as they are written, texts without quotes and escapes.
struct CTable {
  std::vector<std::string> values;
  std::size_t width = 0;  // values of an element
};
Result<CTable> read_c_table(std::string_view text, std::string_view name);

// The scores of the test rows in the text: rows × outputs. Errc::internal when it does not fit together.
struct CSelfTest {
  std::vector<double> scores;
  std::vector<double> predictors;  // before the link: where scores end at 0 and 1, these still tell
  std::vector<double> expected;    // as the text has them
};
Result<CSelfTest> run_c_export(std::string_view text);

}  // namespace samovar::trainer
