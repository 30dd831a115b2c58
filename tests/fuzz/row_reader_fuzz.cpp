// Files of rows to predict: rows, or an error that names the line; however the bytes are cut into pieces.
#include "daemon/cli/row_reader.hpp"

#include <algorithm>
#include <cstdlib>

namespace {

using samovar::cli::InputRow;
using samovar::cli::RowReader;

std::string read_all(std::string_view text, std::size_t piece) {
  std::size_t at = 0;
  RowReader reader(
      [&](char* out, std::size_t room) -> samovar::Result<std::size_t> {
        const std::size_t count = text.copy(out, std::min(room, piece), at);
        at += count;
        return count;
      },
      {}, {{"age", "integer"}, {"ward", "category"}}, {});
  std::string all;
  for (;;) {
    auto row = reader.next();
    if (!row) return all + row.error().message();
    if (!*row) return all;
    all += (*row)->values.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // What the file is and its delimiter are found in the first piece, so that one is the same.
  if (read_all(text, size) != read_all(text, size + 1)) std::abort();
  read_all(text, 1);
  return 0;
}
