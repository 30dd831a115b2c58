// Shards: their index as bytes of anybody, and whole files under a known key. The seeds hold a pattern, and
// nothing else may ever come out of one.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "base/sim/sim_disk.hpp"
#include "daemon/store/shard_file.hpp"

using namespace samovar;
using namespace samovar::store;

namespace {

const security::SecretBytes& key() {
  static const security::SecretBytes kKey = [] {
    security::SecretBytes bytes(32);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes.mutable_view()[i] = static_cast<std::uint8_t>(i);
    return bytes;
  }();
  return kKey;
}

std::uint8_t pattern(std::uint64_t at) { return static_cast<std::uint8_t>(at * 7 + at / 997); }

void decode_index(ByteView input) {
  if (input.size() < 8) return;
  std::uint64_t plain_bytes = 0;
  std::memcpy(&plain_bytes, input.data(), sizeof plain_bytes);
  const ByteView tail = input.subspan(8);
  const auto blocks = decode_shard_index(tail, plain_bytes);
  if (!blocks) return;
  std::uint64_t offset = 0;
  for (const BlockPlace& block : *blocks) {
    if (block.offset != offset || block.bytes > kShardBlockBytesMax) __builtin_trap();
    offset += block.bytes;
  }
  const Bytes again = encode_shard_index(*blocks);
  if (offset + again.size() != plain_bytes || again != to_bytes(tail.last(again.size()))) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 1 << 20) return 0;
  const ByteView input(data, size);
  decode_index(input);
  SimDisk disk(1);
  if (!disk.make_dir("/d") || !disk.write_file("/d/f", input)) std::abort();
  auto file = disk.open("/d/f", OpenMode::read);
  if (!file) std::abort();
  auto reader = ShardReader::open(*std::move(file), key(), shard_place("dst_01J", 1, 9));
  if (!reader) return 0;
  Bytes block;
  for (std::size_t i = 0; i < (*reader)->blocks().size(); ++i) {
    if (!(*reader)->read(i, block)) continue;
    const std::uint64_t at = (*reader)->blocks()[i].offset;
    for (std::size_t k = 0; k < block.size(); ++k) {
      if (block[k] != pattern(at + k)) __builtin_trap();
    }
  }
  return 0;
}
