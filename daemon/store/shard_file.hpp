// A shard: blocks, one after the other, and their index, in one sealed file.
//
// Threading: one object is used by one thread at a time; calls block on the disk.
// Format:    docs/formats/shard.md
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/disk.hpp"
#include "base/result.hpp"
#include "security/hash.hpp"
#include "security/sealed_file.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::store {

struct BlockPlace {
  std::uint64_t offset = 0;  // in the plain content
  std::uint32_t bytes = 0;
  std::uint32_t rows = 0;
};

struct ShardSummary {
  std::uint64_t rows = 0;
  std::uint32_t blocks = 0;
  std::uint64_t plain_bytes = 0;
  std::uint64_t stored_bytes = 0;  // of the file
  security::Hash256 hash{};        // BLAKE2b-256 of the file as it lies on the disk
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

  Result<void> append(std::uint32_t rows, ByteView block);
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
  // Errc::corrupt when anything does not verify: nothing of it is handed out.
  Result<void> read(std::size_t block, Bytes& out);

 private:
  struct State;
  explicit ShardReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace samovar::store
