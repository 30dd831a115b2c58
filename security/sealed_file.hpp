// Files sealed in chunks: random access, and no bit, chunk, length or place can change unseen.
//
// Threading: any thread; one object is used by one thread at a time. Calls block on the disk.
// Ownership: borrows Disk and the key, which outlive the object.
// Format:    docs/formats/sealed-file.md
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "base/bytes.hpp"
#include "base/disk.hpp"
#include "base/result.hpp"
#include "security/hash.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::security {

inline constexpr std::size_t kSealedChunkBytes = 256 * 1024;
inline constexpr std::size_t kSealedHeaderBytes = 136;
inline constexpr std::uint64_t kSealedChunksMax = std::uint64_t{1} << 32;

// Where a file belongs. A file found in another place does not open.
struct SealedFileId {
  std::string dataset;  // 1..64 bytes, e.g. "dst_01J…"
  std::uint64_t shard = 0;
  std::uint32_t generation = 1;  // of the key
  friend bool operator==(const SealedFileId&, const SealedFileId&) = default;
};

struct SealedHeader {
  SealedFileId id;
  std::uint64_t chunks = 0;  // 0: as many as the file holds (version 2)
  std::array<std::uint8_t, 16> salt{};
  std::array<std::uint8_t, 16> key_commitment{};
};
Result<SealedHeader> decode_sealed_header(ByteView bytes);

// path.tmp → write → sync → rename → sync_dir. Not finished, it leaves nothing behind.
class SealedWriter {
 public:
  // The header holds the number of chunks and every chunk is bound to it, so the size comes first.
  static Result<std::unique_ptr<SealedWriter>> create(Disk& disk, std::string path, const SecretBytes& key,
                                                      const SealedFileId& id, std::uint64_t plain_bytes);
  ~SealedWriter();
  SealedWriter(const SealedWriter&) = delete;
  SealedWriter& operator=(const SealedWriter&) = delete;

  Result<void> append(ByteView plain);
  // SHA-256 of the whole file as it lies on the disk: scrubbing needs no key.
  Result<Hash256> finish();

 private:
  struct State;
  explicit SealedWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

struct SealedSummary {
  std::uint64_t plain_bytes = 0;
  std::uint64_t stored_bytes = 0;  // of the file
  Hash256 hash{};                  // SHA-256 of the file as it lies on the disk
};

// Into an empty file that somebody else opened and will name; the size need not be known beforehand. The
// last chunk says that it is the last.
class SealedStreamWriter {
 public:
  static Result<std::unique_ptr<SealedStreamWriter>> create(std::unique_ptr<File> file,
                                                            const SecretBytes& key, const SealedFileId& id);
  ~SealedStreamWriter();
  SealedStreamWriter(const SealedStreamWriter&) = delete;
  SealedStreamWriter& operator=(const SealedStreamWriter&) = delete;

  // After an error the file is worthless: nothing is written a second time under one nonce.
  Result<void> append(ByteView plain);
  std::uint64_t size() const noexcept;  // plain bytes so far
  // Syncs and closes the file. Its name is for the caller to make durable.
  Result<SealedSummary> finish();

 private:
  struct State;
  explicit SealedStreamWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

class SealedReader {
 public:
  // Errc::corrupt when header, length, place or key do not fit.
  static Result<std::unique_ptr<SealedReader>> open(Disk& disk, const std::string& path,
                                                    const SecretBytes& key, const SealedFileId& expected);
  // `name` is for messages.
  static Result<std::unique_ptr<SealedReader>> open(std::unique_ptr<File> file, std::string name,
                                                    const SecretBytes& key, const SealedFileId& expected);
  ~SealedReader();
  SealedReader(const SealedReader&) = delete;
  SealedReader& operator=(const SealedReader&) = delete;

  std::uint64_t size() const noexcept;  // plain bytes
  // Fewer bytes than asked for only at the end. Errc::corrupt when a chunk does not verify: nothing of
  // it reaches `out`. Reading on where the last read ended opens no chunk twice.
  Result<std::size_t> read_at(std::uint64_t offset, MutableBytes out);

 private:
  struct State;
  explicit SealedReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Whole small files in one go.
Result<Hash256> write_sealed_file(Disk& disk, const std::string& path, const SecretBytes& key,
                                  const SealedFileId& id, ByteView plain);
Result<Bytes> read_sealed_file(Disk& disk, const std::string& path, const SecretBytes& key,
                               const SealedFileId& expected, std::size_t bytes_max);
// For scrubbing: the hash SealedWriter::finish returned, without the key.
Result<Hash256> hash_stored_file(Disk& disk, const std::string& path);

}  // namespace samovar::security
