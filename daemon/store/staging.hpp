// Uploads while they arrive: an append-only file of sealed records. Plain text never touches the disk, and
// what sync() acknowledged survives a cut of the power.
//
// A record is never written twice under one nonce: each has its own random one, and a torn tail is cut off
// and written anew.
//
// Threading: one object is used by one thread at a time, except that sync() may run beside append(): the disk
// then syncs while the next bytes are sealed. Calls block on the disk (io pool).
// Ownership: borrows Disk, which outlives it.
// Format:    docs/formats/staging.md
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/bytes.hpp"
#include "base/clock.hpp"
#include "base/disk.hpp"
#include "base/result.hpp"
#include "security/hash.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::store {

struct StagingHead {
  std::string upload_id;  // "upl_…", at most 32 bytes
  Bytes about;            // the service's own words: owner, name, length; sealed with the rest. ≤ 64 KiB
};

class StagingFile {
 public:
  // `wrap_key` seals the file's one-off key in its head; it is derived from the master key.
  static Result<std::unique_ptr<StagingFile>> create(Disk& disk, const std::string& path,
                                                     const security::SecretBytes& wrap_key,
                                                     const StagingHead& head);
  // Finds the last whole record, cuts off a torn tail. Errc::corrupt when the head does not verify, or when
  // something is missing of what had been synced.
  static Result<std::unique_ptr<StagingFile>> open(Disk& disk, const std::string& path,
                                                   const security::SecretBytes& wrap_key);
  ~StagingFile();
  StagingFile(const StagingFile&) = delete;
  StagingFile& operator=(const StagingFile&) = delete;

  const StagingHead& head() const noexcept;
  std::uint64_t size() const noexcept;                // plain bytes held, synced or not
  std::uint64_t synced_size() const noexcept;         // plain bytes that survive a cut
  const security::SecretBytes& key() const noexcept;  // the one-off key: for the ingest worker

  std::optional<WallTime> last_append() const noexcept;
  // Known once finish() was called, also after a restart.
  const std::optional<security::Hash256>& sha256() const noexcept;

  // After an error nothing of `plain` is held. Errc::no_space: the disk is full.
  Result<void> append(ByteView plain, WallTime now = {});
  // One behind the other, in at least one record each, so that large ones need not be copied together.
  Result<void> append(std::span<const ByteView> parts, WallTime now = {});
  // After an error call roll_back(): what was not synced is in doubt.
  Result<void> sync();
  // Back to synced_size(), which is what remains of the file.
  Result<void> roll_back();
  // No more bytes: syncs, and stores the hash of all of them.
  Result<void> finish(const security::Hash256& sha256, WallTime now = {});

  // Forgets the wrapped key in the head of a file whose key is kept elsewhere now: destroying that one then
  // destroys the content. Durable when it returns.
  static Result<void> drop_wrapped_key(Disk& disk, const std::string& path);

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

  // 0 only at the end. Errc::corrupt where a record does not verify, or is missing.
  Result<std::size_t> read(MutableBytes out);
  std::uint64_t position() const noexcept;  // plain bytes handed out
  std::uint64_t size() const noexcept;      // plain bytes in the whole records of the file
  // The file was finished: nothing can have been cut off its end. Whoever makes something of an upload
  // asks for this.
  bool complete() const noexcept;
  const std::optional<security::Hash256>& sha256() const noexcept;
  const StagingHead& head() const noexcept;
  // Looks again for records written since.
  Result<void> refresh();

 private:
  struct State;
  explicit StagingReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// A File over a descriptor that somebody else opened; takes it over and closes it.
std::unique_ptr<File> file_from_descriptor(int fd);

}  // namespace samovar::store
