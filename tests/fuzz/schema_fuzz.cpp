// Schemas as the ingest's process reports them and manifests hold them.
#include <cstdint>

#include "base/bytes.hpp"
#include "trainer/data/schema.hpp"

using namespace samovar;
using namespace samovar::trainer;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto schema = decode_schema(as_text({data, size}));
  if (!schema) return 0;
  const auto again = decode_schema(encode_schema(*schema));
  if (!again || *again != *schema) __builtin_trap();  // what is taken is written the same
  for (const ColumnSpec& column : schema->columns) {
    if (!schema->find(column.name)) __builtin_trap();
  }
  return 0;
}
