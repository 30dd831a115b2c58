// The index of a shard and the places of its files: shard_file.hpp, docs/formats/shard.md.
#include <algorithm>

#include "daemon/store/shard_file.hpp"
#include "security/wire.hpp"

namespace samovar::store {
namespace {

constexpr std::string_view kMagic = "SMVSHRD\n";
constexpr std::uint16_t kVersion = 1;
// Numbers of objects lie above all numbers of shards.
constexpr std::uint64_t kObjects = std::uint64_t{1} << 63;

Error damaged(std::string_view what) {
  return Error{Errc::corrupt,
               "a shard is damaged (" + std::string(what) + "): restore it from a replica or a backup"};
}

std::string version_name(std::string_view dataset, std::uint32_t version) {
  return std::string(dataset) + "." + std::to_string(version);
}

}  // namespace

security::SealedFileId shard_place(std::string_view dataset, std::uint32_t version, std::uint32_t number) {
  return {version_name(dataset, version), number, 1};
}

security::SealedFileId object_place(std::string_view dataset, std::uint32_t version, std::string_view name) {
  // 56 bits of the name's hash: names are few and ours.
  const security::Hash256 hash = security::blake2b_256(as_bytes(name));
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 7; ++i) number |= std::uint64_t{hash[i]} << (8 * i);
  return {version_name(dataset, version), kObjects | number, 1};
}

Bytes encode_shard_index(const std::vector<BlockPlace>& blocks) {
  Bytes out;
  out.reserve(blocks.size() * kShardEntryBytes + kShardTrailerBytes);
  security::WireWriter writer(out);
  for (const BlockPlace& block : blocks) {
    writer.number(block.bytes);
    writer.number(block.rows);
  }
  writer.raw(as_bytes(kMagic));
  writer.number(kVersion);
  writer.number(std::uint16_t{0});
  writer.number(static_cast<std::uint32_t>(blocks.size()));
  return out;
}

Result<std::uint32_t> decode_shard_trailer(ByteView trailer) {
  if (trailer.size() != kShardTrailerBytes) return damaged("no index");
  security::WireReader reader(trailer);
  if (as_text(reader.raw(kMagic.size())) != kMagic) return damaged("no index");
  if (reader.number<std::uint16_t>() != kVersion)
    return Error{Errc::unsupported, "a shard is of a later version of Samovar: install that version"};
  if (reader.number<std::uint16_t>() != 0) return damaged("index");
  const auto count = reader.number<std::uint32_t>();
  if (count > kShardBlocksMax) return damaged("index");
  return count;
}

Result<std::vector<BlockPlace>> decode_shard_index(ByteView tail, std::uint64_t plain_bytes) {
  if (tail.size() < kShardTrailerBytes || tail.size() > plain_bytes) return damaged("no index");
  SAMOVAR_TRY(const std::uint32_t count, decode_shard_trailer(tail.last(kShardTrailerBytes)));
  const std::size_t index_bytes = std::size_t{count} * kShardEntryBytes + kShardTrailerBytes;
  if (tail.size() < index_bytes) return damaged("index cut off");
  security::WireReader reader(tail.last(index_bytes));
  std::vector<BlockPlace> blocks;
  blocks.reserve(count);
  std::uint64_t offset = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    BlockPlace block;
    block.offset = offset;
    block.bytes = reader.number<std::uint32_t>();
    block.rows = reader.number<std::uint32_t>();
    if (block.bytes > kShardBlockBytesMax) return damaged("index");
    offset += block.bytes;
    blocks.push_back(block);
  }
  if (offset + index_bytes != plain_bytes) return damaged("index");
  return blocks;
}

}  // namespace samovar::store
