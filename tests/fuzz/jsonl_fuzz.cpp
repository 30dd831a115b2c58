// Lines of one JSON object a line: rows whose cells are well-formed, or a reason.
#include "tests/fuzz/line_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return samovar::ingest::fuzz_lines(samovar::ingest::Format::jsonl, {data, size});
}
