// Uploads while they arrive: an append-only file of sealed records. Plain text never touches the disk, and
// what append() acknowledged survives a cut of the power.
//
// A record is never written twice under one nonce: each has its own random one, and a torn tail is cut off
// and written anew.
//
// Threading: one object is used by one thread at a time; calls block on the disk (io pool).
// Ownership: borrows Disk, which outlives it.
// Format:    docs/formats/staging.md
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "base/bytes.hpp"
#include "base/disk.hpp"
#include "base/result.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::store {

struct StagingHead {
  std::string upload_id;  // "upl_…"
  Bytes about;            // the service's own words: owner, name, length; sealed with the rest. ≤ 64 KiB
};

class StagingFile {
 public:
  // `wrap_key` seals the file's one-off key in its head; it is derived from the master key.
  static Result<std::unique_ptr<StagingFile>> create(Disk& disk, const std::string& path,
                                                     const security::SecretBytes& wrap_key,
                                                     const StagingHead& head);
  // Finds the last whole record, cuts off a torn tail. Errc::corrupt when the head does not verify.
  static Result<std::unique_ptr<StagingFile>> open(Disk& disk, const std::string& path,
                                                   const security::SecretBytes& wrap_key);
  ~StagingFile();
  StagingFile(const StagingFile&) = delete;
  StagingFile& operator=(const StagingFile&) = delete;

  const StagingHead& head() const noexcept;
  std::uint64_t size() const noexcept;                // plain bytes held, synced or not
  std::uint64_t synced_size() const noexcept;         // plain bytes that survive a cut
  const security::SecretBytes& key() const noexcept;  // the one-off key: for the ingest worker

  Result<void> append(ByteView plain);
  Result<void> sync();

 private:
  struct State;
  explicit StagingFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The way back, in order, in the daemon or, with an inherited descriptor, in the worker. Every record is
// verified before any of it is handed out.
class StagingReader {
 public:
  static Result<std::unique_ptr<StagingReader>> open(std::unique_ptr<File> file,
                                                     const security::SecretBytes& key);
  ~StagingReader();
  StagingReader(const StagingReader&) = delete;
  StagingReader& operator=(const StagingReader&) = delete;

  Result<std::size_t> read(MutableBytes out);  // 0 only at the end
  std::uint64_t position() const noexcept;     // plain bytes handed out
  std::uint64_t size() const noexcept;         // plain bytes in the whole records of the file

 private:
  struct State;
  explicit StagingReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// A File over a descriptor that somebody else opened; takes it over and closes it.
std::unique_ptr<File> file_from_descriptor(int fd);

}  // namespace samovar::store
