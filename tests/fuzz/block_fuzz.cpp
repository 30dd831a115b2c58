// Blocks from a process that parsed outside input. The schema is made to fit the types the input claims, and
// the length it claims is set right, so that mutations get past the door.
#include <cstdint>
#include <cstring>

#include "tests/support/block_samples.hpp"
#include "trainer/data/block.hpp"
#include "trainer/data/block_format.hpp"

using namespace samovar;
using namespace samovar::trainer;

namespace {

Schema claimed_schema(ByteView input) {
  block_format::BlockHead head;
  Schema schema;
  if (input.size() < sizeof head) return schema;
  std::memcpy(&head, input.data(), sizeof head);
  for (std::size_t i = 0; i < head.columns && i < kColumnsMax; ++i) {
    const std::size_t at = sizeof head + i * sizeof(block_format::ColumnHead);
    if (at >= input.size()) break;
    schema.columns.push_back({"c", static_cast<ColumnType>(input[at] % 7)});
  }
  return schema;
}

void try_block(ByteView bytes, const Schema& schema) {
  const auto view = BlockView::open(bytes, schema);
  if (view) tests::touch_everything(*view, schema);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView input(data, size);
  Schema schema = claimed_schema(input);
  try_block(input, schema);
  Bytes fitting = to_bytes(input);
  if (fitting.size() >= sizeof(block_format::BlockHead)) {
    const auto bytes = static_cast<std::uint32_t>(fitting.size());
    std::memcpy(fitting.data() + offsetof(block_format::BlockHead, bytes), &bytes, sizeof bytes);
    try_block(fitting, schema);
    // Integers where the schema has become real.
    for (ColumnSpec& column : schema.columns) {
      if (column.type == ColumnType::integer) column.type = ColumnType::real;
    }
    try_block(fitting, schema);
  }
  return 0;
}
