// Uploads of this node: made, filled piece by piece, resumed after any cut, kept for a week, handed over.
//
// An upload's offset is what was synced. While one piece is sealed and written, the next one is read, and the
// disk syncs beside both; memory stays flat. The SHA-256 runs along; after a restart it is made up for from
// what is stored, when the upload goes on.
//
//   uploads.cpp         birth, list, holding and handing over, expiry
//   upload_append.cpp   the bytes
//   upload_entry.*      one upload: what its file's head says, its hash
//
// Threading: loop only; disk and cipher work runs on the io pool.
// Ownership: borrows Loop, Rng, Disk, Pool and DataDir, which outlive it.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.hpp"
#include "base/loop.hpp"
#include "base/pool.hpp"
#include "base/result.hpp"
#include "base/rng.hpp"
#include "base/task.hpp"
#include "daemon/cluster/types.hpp"
#include "daemon/jobs/data_service.hpp"
#include "daemon/store/data_dir.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::jobs {

struct UploadOptions {
  Duration lifetime = std::chrono::hours(24 * 7);  // after the last byte
  std::size_t piece_bytes = 1 << 20;               // written in one go
  std::uint64_t sync_bytes = 8 << 20;              // a sync begins at the latest after this many …
  Duration sync_interval = std::chrono::seconds(1);
  std::uint64_t unsynced_bytes_max = 32 << 20;  // … and from here on reading waits for it
  std::size_t per_user_max = 1000;
  std::size_t open_files_max = 64;
  // Of all uploads of one user together; 0 or absent: no quota.
  std::function<std::uint64_t()> quota_bytes_per_user;
};

struct UploadEntry;

class Uploads {
 public:
  // Looks at every upload in the folder. What does not open is said in the log and left to the collection.
  // Blocks on the disk.
  static Result<std::unique_ptr<Uploads>> open(Loop& loop, Rng& rng, Disk& disk, Pool& io,
                                               store::DataDir& dir, const security::SecretBytes& wrap_key,
                                               UploadOptions options = {});
  ~Uploads();
  Uploads(const Uploads&) = delete;
  Uploads& operator=(const Uploads&) = delete;

  // Errc::no_space: does not fit on the disk; Errc::busy: over the user's quota.
  Task<Result<Upload>> create(cluster::Call call, NewUpload upload);
  // The owner's only. Errc::unavailable: expired.
  Result<Upload> get(const cluster::Actor& actor, std::string_view id) const;
  std::vector<Upload> list(const cluster::Actor& actor) const;
  std::vector<Upload> all() const;  // of those that could not be read only the id is known
  // Errc::busy: another request writes to it; Errc::conflict: `offset` is not where the upload stands;
  // Errc::no_space. What arrived before an error is kept and synced.
  Task<Result<Upload>> append(cluster::Call call, std::string id, std::uint64_t offset,
                              DataService::NextPiece next);
  Task<Result<void>> remove(cluster::Call call, std::string id);

  // Of a complete upload that something is made of: it neither expires nor can be removed. Errc::busy: its
  // hash is still being made up for.
  Result<void> hold(std::string_view id);
  void release(std::string_view id);
  // Its file was moved away.
  void forget(std::string_view id);
  // Its file was moved back. Blocks on the disk.
  void adopt(const std::string& id);
  // The one-off key, for whoever reads the file.
  Result<security::SecretBytes> key(std::string_view id) const;

  // Removes what has expired, closes what is idle.
  Task<void> sweep();

 private:
  using EntryPtr = std::shared_ptr<UploadEntry>;
  struct Transfer;

  Uploads(Loop& loop, Rng& rng, Disk& disk, Pool& io, store::DataDir& dir, security::SecretBytes wrap_key,
          UploadOptions options);
  Result<void> load();
  void finish_pending();
  EntryPtr find(const cluster::Actor& actor, std::string_view id) const;
  EntryPtr find(std::string_view id) const;
  Result<void> check_quota(const std::string& user_id, std::uint64_t more) const;
  bool expired(const UploadEntry& entry) const;
  Task<Result<void>> drop(EntryPtr entry);

  // upload_append.cpp
  Task<Result<void>> ready(EntryPtr entry);
  void close_idle(std::size_t keep);
  Task<Result<void>> receive(Transfer& transfer, DataService::NextPiece& next);
  Task<Result<void>> land_write(Transfer& transfer);
  Task<Result<void>> write_out(Transfer& transfer);
  Task<Result<void>> land_sync(Transfer& transfer);
  Task<Result<void>> sync_if_due(Transfer& transfer);
  Task<Result<void>> settle(Transfer& transfer);
  Task<Result<void>> catch_up(EntryPtr entry, std::uint64_t until);
  Task<Result<void>> complete(EntryPtr entry);
  void show_progress(UploadEntry& entry);

  // Constant after construction.
  Loop& loop_;
  Rng& rng_;
  Disk& disk_;
  Pool& io_;
  store::DataDir& dir_;
  // Shared: work on the pool may outlive us.
  const std::shared_ptr<const security::SecretBytes> wrap_key_;
  const UploadOptions options_;

  // Loop only.
  std::map<std::string, EntryPtr, std::less<>> entries_;
  std::vector<std::string> unreadable_;  // ids of files that did not open, though not damaged
};

}  // namespace samovar::jobs
