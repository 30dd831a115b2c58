// Lines of dense and sparse rows of ARFF: rows whose cells are well-formed, or a reason.
#include "tests/fuzz/line_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return samovar::ingest::fuzz_lines(samovar::ingest::Format::arff, {data, size});
}
