// The bytes of uploads: uploads.hpp.
//
//   read ──▶ pieces ──▶ one write under way ──▶ file ──▶ one sync under way ──▶ offset
//
// The loop only moves pieces; sealing and writing are one job of the io pool, hashing another beside it, and
// syncing a third.
#include <algorithm>

#include "base/assert.hpp"
#include "base/encoding.hpp"
#include "base/failpoint.hpp"
#include "base/log.hpp"
#include "daemon/jobs/flight.hpp"
#include "daemon/jobs/upload_entry.hpp"
#include "daemon/jobs/uploads.hpp"

namespace samovar::jobs {
namespace {

// As much of the stored bytes is hashed in one job: others want the pool, too.
constexpr std::uint64_t kHashSliceBytes = 32 << 20;
// From here on a piece is sealed where it lies; smaller ones, of a slow line, are first put together.
constexpr std::size_t kPartBytesMin = 64 << 10;
// From here on the hash of a piece is worth a thread of its own.
constexpr std::size_t kHashAsideBytesMin = 256 << 10;

// What is to be sealed; `joined` has what had to be put together for it.
std::vector<ByteView> parts_of(const std::vector<Bytes>& pieces, Bytes& joined) {
  const auto is_small = [](const Bytes& piece) { return piece.size() < kPartBytesMin; };
  std::size_t small = 0;
  for (const Bytes& piece : pieces) small += is_small(piece) ? piece.size() : 0;
  joined.reserve(small);  // so that it stays where it is
  std::vector<ByteView> parts;
  bool joining = false;
  for (const Bytes& piece : pieces) {
    if (!is_small(piece)) {
      parts.emplace_back(piece);
    } else {
      joined.insert(joined.end(), piece.begin(), piece.end());
      const std::size_t before = joining ? parts.back().size() : 0;
      if (joining) parts.pop_back();
      parts.push_back(ByteView(joined).last(before + piece.size()));
    }
    joining = is_small(piece);
  }
  return parts;
}

}  // namespace

struct Uploads::Transfer {
  EntryPtr entry;
  std::vector<Bytes> pieces;  // read, not begun to be written
  std::size_t bytes = 0;      // in them
  std::uint64_t begun = 0;    // bytes of the upload whose writing began
  std::uint64_t syncing = 0;  // bytes of the upload whose sync began
  MonoTime synced_at{};
  bool hashing = false;  // the hash runs along
  Flight write;
  Flight hash;  // of what is being written
  Flight sync;
  Result<void> failure;  // of the disk
};

// The open file, and a hash that may run along.
Task<Result<void>> Uploads::ready(EntryPtr entry) {
  static std::uint64_t uses = 0;
  entry->used = ++uses;
  if (entry->file) co_return Result<void>{};
  close_idle(options_.open_files_max - 1);
  auto open = [entry, disk = &disk_, wrap_key = wrap_key_]() -> Result<void> {
    SAMOVAR_TRY(entry->file, store::StagingFile::open(*disk, entry->path, *wrap_key));
    return {};
  };
  co_return co_await run_on(io_, loop_, std::move(open));
}

void Uploads::close_idle(std::size_t keep) {
  std::vector<UploadEntry*> idle;
  std::size_t count = 0;
  for (const auto& [id, entry] : entries_) {
    // The pool may be opening the file of one that is written to.
    if (!entry->writing && !entry->file) continue;
    ++count;
    if (!entry->writing) idle.push_back(entry.get());
  }
  const auto by_use = [](const UploadEntry* a, const UploadEntry* b) { return a->used < b->used; };
  std::sort(idle.begin(), idle.end(), by_use);
  for (UploadEntry* entry : idle) {
    if (count <= keep) return;
    entry->file.reset();
    entry->follower.reset();
    --count;
  }
}

void Uploads::show_progress(UploadEntry& entry) {
  // The last byte counts when the hash stands, so that "complete" says both.
  const std::uint64_t synced = entry.file->synced_size();
  const bool waits = synced > 0 && synced == entry.view.length && entry.view.sha256.empty();
  entry.view.offset = waits ? synced - 1 : synced;
}

Task<Result<void>> Uploads::land_write(Transfer& transfer) {
  Result<void> wrote = co_await transfer.write.wait();
  if (!wrote) transfer.failure = wrote;
  ignore(co_await transfer.hash.wait(), "it cannot fail");
  co_return transfer.failure;
}

Task<Result<void>> Uploads::write_out(Transfer& transfer) {
  // Behind a piece that is missing none may follow.
  SAMOVAR_CO_CHECK(co_await land_write(transfer));
  if (transfer.pieces.empty()) co_return Result<void>{};
  const auto pieces = std::make_shared<const std::vector<Bytes>>(std::exchange(transfer.pieces, {}));
  const std::size_t bytes = std::exchange(transfer.bytes, 0);
  // What is hashed and not stored in the end is seen by settle().
  auto hash = [entry = transfer.entry, pieces, bytes]() -> Result<void> {
    for (const Bytes& piece : *pieces) entry->hash.update(piece);
    entry->hashed += bytes;
    return {};
  };
  const bool aside = transfer.hashing && bytes >= kHashAsideBytesMin;
  auto work = [entry = transfer.entry, pieces, bytes, hash, here = transfer.hashing && !aside, dir = &dir_,
               now = loop_.clock().wall()]() -> Result<void> {
    SAMOVAR_CHECK(dir->check_room(bytes));
    Bytes joined;
    const std::vector<ByteView> parts = parts_of(*pieces, joined);
    SAMOVAR_FAILPOINT_ERROR("jobs.upload.before_write");
    SAMOVAR_CHECK(entry->file->append(parts, now));
    SAMOVAR_FAILPOINT("jobs.upload.after_write");
    return here ? hash() : Result<void>{};
  };
  transfer.begun += bytes;
  transfer.write.begin(run_on(io_, loop_, std::move(work)));
  if (aside) transfer.hash.begin(run_on(io_, loop_, std::move(hash)));
  co_return Result<void>{};
}

Task<Result<void>> Uploads::land_sync(Transfer& transfer) {
  Result<void> synced = co_await transfer.sync.wait();
  if (!synced) transfer.failure = synced;
  show_progress(*transfer.entry);
  co_return synced;
}

Task<Result<void>> Uploads::sync_if_due(Transfer& transfer) {
  if (transfer.sync.landed()) SAMOVAR_CO_CHECK(co_await land_sync(transfer));
  const MonoTime now = loop_.clock().mono();
  const std::uint64_t behind = transfer.begun - transfer.syncing;
  const bool due = behind >= options_.sync_bytes || now - transfer.synced_at >= options_.sync_interval;
  if (!due || behind == 0) co_return Result<void>{};
  if (transfer.sync.under_way()) {
    if (behind < options_.unsynced_bytes_max) co_return Result<void>{};
    SAMOVAR_CO_CHECK(co_await land_sync(transfer));
  }
  auto work = [entry = transfer.entry]() -> Result<void> { return entry->file->sync(); };
  transfer.syncing = transfer.begun;
  transfer.synced_at = now;
  transfer.sync.begin(run_on(io_, loop_, std::move(work)));
  co_return Result<void>{};
}

// Until the body ends, or an error of the body or the disk.
Task<Result<void>> Uploads::receive(Transfer& transfer, DataService::NextPiece& next) {
  const UploadEntry& entry = *transfer.entry;
  while (true) {
    Task<Result<Bytes>> reading = next();
    Result<Bytes> piece = co_await std::move(reading);
    if (!piece) co_return std::move(piece).error();
    if (piece->empty()) co_return Result<void>{};
    if (piece->size() > entry.view.length - transfer.begun - transfer.bytes)
      co_return Error{Errc::invalid, "more bytes came than were announced for this upload"};
    transfer.bytes += piece->size();
    transfer.pieces.push_back(*std::move(piece));
    // A slow line fills no piece for long: then a sync by the clock takes what is there.
    const bool slow = loop_.clock().mono() - transfer.synced_at >= options_.sync_interval;
    if (transfer.bytes >= options_.piece_bytes || slow) SAMOVAR_CO_CHECK(co_await write_out(transfer));
    SAMOVAR_CO_CHECK(co_await sync_if_due(transfer));
  }
}

// Everything under way lands, everything written is synced; when the disk failed, what it is sure of remains.
Task<Result<void>> Uploads::settle(Transfer& transfer) {
  const EntryPtr entry = transfer.entry;
  ignore(co_await write_out(transfer), "a failure is kept in the transfer");
  ignore(co_await land_write(transfer), "as above");
  ignore(co_await land_sync(transfer), "as above");
  auto sync = [entry] { return entry->file->sync(); };
  if (transfer.failure) transfer.failure = co_await run_on(io_, loop_, std::move(sync));
  if (transfer.failure) co_return Result<void>{};
  SAMOVAR_LOG(warn, jobs, "an upload was not written", kv("upload", entry->view.id),
              kv("error", transfer.failure.error().message()));
  const bool full = transfer.failure.error().code() == Errc::no_space;
  auto back = [entry, full, dir = &dir_]() -> Result<void> {
    // Whole records that were written before the failure are kept, if the disk takes them.
    if (entry->file->sync()) return {};
    if (full) ignore(dir->drop_ballast(), "then deleting has to make room without it");
    return entry->file->roll_back();
  };
  Result<void> back_again = co_await run_on(io_, loop_, std::move(back));
  if (!back_again) entry->file.reset();  // opened anew, it shows what there is
  // The hash may have seen more than remained.
  if (!entry->file || entry->hashed > entry->file->size()) {
    entry->hash = security::Sha256();
    entry->hashed = 0;
  }
  co_return transfer.failure;
}

// The hash of what is stored, from where it stands.
Task<Result<void>> Uploads::catch_up(EntryPtr entry, std::uint64_t until) {
  while (entry->hashed < until && !entry->stop_hashing) {
    auto slice = [entry, until, disk = &disk_]() -> Result<void> {
      if (!entry->follower || entry->follower->position() != entry->hashed) {
        SAMOVAR_TRY(auto file, disk->open(entry->path, OpenMode::read));
        SAMOVAR_TRY(entry->follower, store::StagingReader::open(std::move(file), entry->key));
        entry->hash = security::Sha256();
        entry->hashed = 0;
      }
      if (entry->follower->size() < until) SAMOVAR_CHECK(entry->follower->refresh());
      Bytes buffer(1 << 20);
      const std::uint64_t end = std::min(until, entry->hashed + kHashSliceBytes);
      while (entry->hashed < end) {
        const auto want =
            static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), end - entry->hashed));
        SAMOVAR_TRY(const std::size_t got, entry->follower->read(MutableBytes(buffer).first(want)));
        if (got == 0) return Error{Errc::corrupt, "a stored upload is shorter than it was: send it again"};
        entry->hash.update(ByteView(buffer).first(got));
        entry->hashed += got;
      }
      return {};
    };
    Result<void> hashed = co_await run_on(io_, loop_, std::move(slice));
    if (!hashed) {
      entry->follower.reset();
      co_return hashed;
    }
  }
  if (!entry->stop_hashing) entry->follower.reset();  // else it goes on from there
  co_return Result<void>{};
}

Task<Result<void>> Uploads::complete(EntryPtr entry) {
  SAMOVAR_CO_CHECK(co_await ready(entry));
  SAMOVAR_CO_CHECK(co_await catch_up(entry, entry->view.length));
  auto finish = [entry, now = loop_.clock().wall()]() -> Result<void> {
    if (entry->file->sha256()) return {};
    if (entry->file->finish(entry->hash.digest(), now)) return {};
    // All bytes are safe, only their end was not written: once more, then the next sweep.
    SAMOVAR_CHECK(entry->file->roll_back());
    return entry->file->finish(entry->hash.digest(), now);
  };
  SAMOVAR_CO_CHECK(co_await run_on(io_, loop_, std::move(finish)));
  entry->view.sha256 = hex_encode(*entry->file->sha256());
  entry->view.offset = entry->view.length;
  co_return Result<void>{};
}

Task<Result<Upload>> Uploads::append(cluster::Call call, std::string id, std::uint64_t offset,
                                     DataService::NextPiece next) {
  const EntryPtr entry = find(call.actor, id);
  if (!entry) co_return Error{Errc::not_found, "there is no such upload"};
  if (expired(*entry))
    co_return Error{Errc::unavailable, "this upload was left for too long and is gone: begin it again"};
  if (entry->writing)
    co_return Error{Errc::busy, "another request is writing to this upload: wait for it, or end it"};
  if (offset != entry->view.offset)
    co_return Error{Errc::conflict, "this upload stands at byte " + std::to_string(entry->view.offset) +
                                        ", not at " + std::to_string(offset) + ": go on from there"};
  if (entry->view.complete() && !entry->view.sha256.empty()) {
    Task<Result<Bytes>> reading = next();
    Result<Bytes> piece = co_await std::move(reading);
    if (piece && !piece->empty())
      co_return Error{Errc::invalid, "more bytes came than were announced for this upload"};
    co_return entry->view;
  }
  entry->writing = true;
  Result<void> received = co_await ready(entry);
  if (received) {
    Transfer transfer;
    transfer.entry = entry;
    transfer.begun = transfer.syncing = entry->file->size();
    transfer.synced_at = loop_.clock().mono();
    transfer.hashing = entry->hashed == transfer.begun;
    // After a restart: beside the transfer, from the file.
    Flight hash;
    entry->stop_hashing = false;
    if (!transfer.hashing) hash.begin(catch_up(entry, transfer.begun));
    if (entry->file->size() != offset)
      received = Error{Errc::conflict, "this upload stands elsewhere since a fault of the disk: ask again"};
    if (received) received = co_await receive(transfer, next);
    // Whoever comes back to go on does not wait for it.
    entry->stop_hashing = transfer.begun + transfer.bytes < entry->view.length;
    Result<void> hashed = co_await hash.wait();
    entry->stop_hashing = false;
    Result<void> settled = co_await settle(transfer);
    // The disk's word is the one that helps. Errc::io is for the line: a client that left hears nothing.
    if (!settled) received = std::move(settled);
    if (!received && !transfer.failure && received.error().code() == Errc::io)
      received = Error{Errc::internal, "the disk failed: " + received.error().message()};
    if (!hashed && received) received = hashed;
  }
  if (entry->file) {
    entry->view.offset = entry->file->size();
    entry->view.expires_at = entry->file->last_append().value_or(entry->view.created_at) +
                             std::chrono::duration_cast<std::chrono::microseconds>(options_.lifetime);
    if (entry->view.complete() && entry->view.sha256.empty()) {
      show_progress(*entry);
      if (Result<void> done = co_await complete(entry); !done && received) received = done;
      if (entry->file) entry->view.offset = entry->file->size();
    }
  }
  entry->writing = false;
  if (!received) co_return std::move(received).error();
  co_return entry->view;
}

}  // namespace samovar::jobs
