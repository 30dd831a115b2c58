// A shard: blocks, one after the other, and their index, in one sealed file.
//
// Threading: one object is used by one thread at a time; calls block on the disk.
// Format:    docs/formats/shard.md
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/disk.hpp"
#include "base/result.hpp"
#include "security/hash.hpp"
#include "security/sealed_file.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::store {

// Where the files of a version belong: what is sealed for one place does not open in another.
security::SealedFileId shard_place(std::string_view dataset, std::uint32_t version, std::uint32_t number);
// Objects beside the shards: "profile", "bad-rows", or any other name.
security::SealedFileId object_place(std::string_view dataset, std::uint32_t version, std::string_view name);

inline constexpr std::size_t kShardBlockBytesMax = std::size_t{64} << 20;
inline constexpr std::uint32_t kShardBlocksMax = 1u << 20;

struct BlockPlace {
  std::uint64_t offset = 0;  // in the plain content
  std::uint32_t bytes = 0;
  std::uint32_t rows = 0;
};

// The index at the end of a shard's content, as bytes and back. `tail` is the end of the content, at least
// as long as the index or the whole of it; `plain_bytes` is the content's length.
inline constexpr std::size_t kShardTrailerBytes = 16;
inline constexpr std::size_t kShardEntryBytes = 8;
Bytes encode_shard_index(const std::vector<BlockPlace>& blocks);
// How many blocks the trailer names: its last kShardTrailerBytes.
Result<std::uint32_t> decode_shard_trailer(ByteView trailer);
Result<std::vector<BlockPlace>> decode_shard_index(ByteView tail, std::uint64_t plain_bytes);

struct ShardSummary {
  std::uint64_t rows = 0;
  std::uint32_t blocks = 0;
  std::uint64_t plain_bytes = 0;
  std::uint64_t stored_bytes = 0;  // of the file
  security::Hash256 hash{};        // SHA-256 of the file as it lies on the disk
};

// Writes into a file that its caller opened (the worker has no names of files), synced by finish().
class ShardWriter {
 public:
  static Result<std::unique_ptr<ShardWriter>> create(std::unique_ptr<File> file,
                                                     const security::SecretBytes& key,
                                                     const security::SealedFileId& id);
  ~ShardWriter();
  ShardWriter(const ShardWriter&) = delete;
  ShardWriter& operator=(const ShardWriter&) = delete;

  // After an error the file is worthless.
  Result<void> append(std::uint32_t rows, ByteView block);
  std::uint64_t plain_bytes() const noexcept;  // so far
  Result<ShardSummary> finish();

 private:
  struct State;
  explicit ShardWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

class ShardReader {
 public:
  static Result<std::unique_ptr<ShardReader>> open(std::unique_ptr<File> file,
                                                   const security::SecretBytes& key,
                                                   const security::SealedFileId& expected);
  ~ShardReader();
  ShardReader(const ShardReader&) = delete;
  ShardReader& operator=(const ShardReader&) = delete;

  const std::vector<BlockPlace>& blocks() const noexcept;
  // Errc::corrupt when anything does not verify: `out` is then empty. A buffer that is handed in again is
  // not allocated anew; blocks read in order open no chunk of the file twice.
  Result<void> read(std::size_t block, Bytes& out);

 private:
  struct State;
  explicit ShardReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace samovar::store
