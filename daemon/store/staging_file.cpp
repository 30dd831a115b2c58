// StagingFile of staging.hpp.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <vector>

#include "base/assert.hpp"
#include "base/direct_write.hpp"
#include "base/failpoint.hpp"
#include "base/mutex.hpp"
#include "daemon/store/paths.hpp"
#include "daemon/store/staging.hpp"
#include "daemon/store/staging_format.hpp"
#include "daemon/store/staging_scan.hpp"
#include "security/aead.hpp"
#include "security/sealed_format.hpp"

namespace samovar::store {
namespace {

using namespace staging;

// Sealed together and written in one go.
constexpr std::size_t kBatchPlainMax = 4 * kRecordPlainMax;

std::uint64_t microseconds(WallTime time) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, time.time_since_epoch().count()));
}

Bytes key_aad(std::string_view upload_id) { return security::wrap_aad("staging", upload_id, 1); }

// A place between two records.
struct Mark {
  std::uint64_t plain = 0;
  std::uint64_t file = 0;
};

}  // namespace

struct StagingFile::State {
  State(Disk& d, std::string p) : disk(d), path(std::move(p)) {}

  // Each handle belongs to one thread at a time: one writes, the other syncs the same file.
  Result<void> open_handles() {
    file.reset();
    sync_file.reset();
    SAMOVAR_TRY(file, disk.open(path, OpenMode::write));
    SAMOVAR_TRY(sync_file, disk.open(path, OpenMode::write));
    return {};
  }
  Mark written() {
    const MutexLock lock(mutex);
    return end;
  }
  Mark durable() {
    const MutexLock lock(mutex);
    return synced;
  }
  Mark complete() {
    const MutexLock lock(mutex);
    return whole;
  }
  // All that is written counts from now on.
  void keep() {
    const MutexLock lock(mutex);
    whole = end;
  }
  Result<void> write(ByteView stored, std::uint64_t plain);
  Result<void> put_records(std::span<const ByteView> parts, std::uint64_t time_us);
  Result<void> put_batch(std::span<const ByteView> records, std::uint64_t time_us);
  Error ended() const {
    if (sha256) return Error{Errc::conflict, "this upload is complete"};
    return Error{Errc::io, "writing this upload failed before: start again where it stands"};
  }

  Disk& disk;
  const std::string path;
  StagingHead head;
  security::SecretBytes key;
  std::unique_ptr<File> file;
  std::unique_ptr<File> sync_file;
  BlockBuffer batch{0};  // sealed, being written
  std::optional<security::Hash256> sha256;
  std::uint64_t last = 0;
  std::atomic<bool> broken = false;  // until rolled back

  Mutex mutex;  // append() and sync() may run on two threads
  Mark end SAMOVAR_GUARDED_BY(mutex);
  Mark whole SAMOVAR_GUARDED_BY(mutex);   // end of the last append that succeeded: no failure takes it back
  Mark synced SAMOVAR_GUARDED_BY(mutex);  // never beyond `whole`
};

Result<void> StagingFile::State::write(ByteView stored, std::uint64_t plain) {
  const Mark at = written();
  SAMOVAR_FAILPOINT_ERROR("store.staging.append.before_write");
  auto put = file->write_at(at.file, stored);
  if (!put) {
    // What was written in part must not stand behind a shorter record that takes its place.
    if (auto cut = file->truncate(at.file); !cut) broken = true;
    return put;
  }
  SAMOVAR_FAILPOINT("store.staging.append.after_write");
  const MutexLock lock(mutex);
  end = {at.plain + plain, at.file + stored.size()};
  return {};
}

Result<void> StagingFile::State::put_batch(std::span<const ByteView> records, std::uint64_t time_us) {
  const Mark at = written();
  const std::uint64_t safe = durable().plain;
  std::size_t room = 0;
  for (const ByteView record : records) room += kRecordOverhead + record.size();
  // As it will lie in the file, so that its blocks need not be copied on their way.
  const std::size_t skew = at.file % kDiskBlockBytes;
  if (batch.bytes().size() < skew + room) batch = BlockBuffer(kDiskBlockBytes + room);
  const MutableBytes sealed = batch.bytes().subspan(skew, room);
  std::size_t used = 0;
  std::uint64_t taken = 0;
  for (const ByteView record : records) {
    const RecordHeader header{
        RecordType::data, static_cast<std::uint32_t>(record.size()), at.plain + taken, safe, time_us, {}};
    seal_record(key, header, record, sealed.subspan(used, header.stored()));
    used += header.stored();
    taken += record.size();
  }
  return write(sealed, taken);
}

Result<void> StagingFile::State::put_records(std::span<const ByteView> parts, std::uint64_t time_us) {
  std::vector<ByteView> records;
  std::size_t bytes = 0;
  for (ByteView part : parts) {
    while (!part.empty()) {
      const ByteView record = part.first(std::min(kRecordPlainMax, part.size()));
      part = part.subspan(record.size());
      if (bytes + record.size() > kBatchPlainMax) {
        SAMOVAR_CHECK(put_batch(records, time_us));
        records.clear();
        bytes = 0;
      }
      records.push_back(record);
      bytes += record.size();
    }
  }
  if (!records.empty()) SAMOVAR_CHECK(put_batch(records, time_us));
  last = time_us;
  return {};
}

StagingFile::StagingFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
StagingFile::~StagingFile() = default;

Result<std::unique_ptr<StagingFile>> StagingFile::create(Disk& disk, const std::string& path,
                                                         const security::SecretBytes& wrap_key,
                                                         const StagingHead& head) {
  if (head.about.size() > kAboutBytesMax) return Error{Errc::invalid, "an upload's description is too long"};
  if (head.upload_id.empty() || head.upload_id.size() > 32)
    return Error{Errc::invalid, "an upload's id has 1 to 32 bytes"};
  auto state = std::make_unique<State>(disk, path);
  state->head = head;
  state->key = security::SecretBytes::random(security::kAeadKeyBytes);
  Head fixed;
  fixed.upload_id = head.upload_id;
  fixed.key_commitment = security::key_commitment_of(state->key);
  fixed.about_stored = head.about.size() + security::kSealOverheadBytes;
  const Bytes wrapped = security::seal(wrap_key, state->key.view(), key_aad(head.upload_id));
  std::copy(wrapped.begin(), wrapped.end(), fixed.wrapped_key.begin());
  Bytes stored = encode_head(fixed);
  const Bytes about = security::seal(state->key, head.about, about_aad(fixed));
  stored.insert(stored.end(), about.begin(), about.end());

  const auto make = [&]() -> Result<void> {
    SAMOVAR_FAILPOINT_ERROR("store.staging.create.before_write");
    SAMOVAR_CHECK(state->file->write_at(0, stored));
    SAMOVAR_FAILPOINT_ERROR("store.staging.create.after_write");
    SAMOVAR_CHECK(state->file->sync());
    SAMOVAR_FAILPOINT_ERROR("store.staging.create.after_sync");
    SAMOVAR_CHECK(disk.sync_dir(folder_of(path)));
    return state->open_handles();
  };
  SAMOVAR_TRY(state->file, disk.open(path, OpenMode::create_new));
  if (auto made = make(); !made) {
    state->file.reset();
    ignore(disk.remove(path), "what remains is collected");
    return std::move(made).error();
  }
  {
    const MutexLock lock(state->mutex);
    state->end = state->whole = state->synced = {0, fixed.bytes()};
  }
  return std::unique_ptr<StagingFile>(new StagingFile(std::move(state)));
}

Result<std::unique_ptr<StagingFile>> StagingFile::open(Disk& disk, const std::string& path,
                                                       const security::SecretBytes& wrap_key) {
  // Looked at first: opening to write makes a file that is not there.
  SAMOVAR_CHECK(disk.open(path, OpenMode::read));
  auto state = std::make_unique<State>(disk, path);
  SAMOVAR_CHECK(state->open_handles());
  SAMOVAR_TRY(const Head fixed, read_fixed_head(*state->file));
  auto key = security::open_secret(wrap_key, fixed.wrapped_key, key_aad(fixed.upload_id));
  if (!key || key->size() != security::kAeadKeyBytes) return damaged("the key in its head");
  state->key = *std::move(key);
  SAMOVAR_TRY(OpenedHead opened, read_head(*state->file, state->key));
  state->head = {opened.head.upload_id, std::move(opened.about)};
  SAMOVAR_TRY(const Found found, find_records(*state->file, fixed, state->key));
  SAMOVAR_TRY(const std::uint64_t size, state->file->size());
  if (size != found.file_bytes) {
    SAMOVAR_FAILPOINT_ERROR("store.staging.open.before_cut");
    SAMOVAR_CHECK(state->file->truncate(found.file_bytes));
  }
  // What the last process wrote but did not sync may be in the page cache only; from here on it counts.
  SAMOVAR_CHECK(state->file->sync());
  state->sha256 = found.sha256;
  state->last = found.time_us;
  {
    const MutexLock lock(state->mutex);
    state->end = state->whole = state->synced = {found.plain_bytes, found.file_bytes};
  }
  return std::unique_ptr<StagingFile>(new StagingFile(std::move(state)));
}

const StagingHead& StagingFile::head() const noexcept { return state_->head; }
std::uint64_t StagingFile::size() const noexcept { return state_->written().plain; }
std::uint64_t StagingFile::synced_size() const noexcept { return state_->durable().plain; }
const security::SecretBytes& StagingFile::key() const noexcept { return state_->key; }
const std::optional<security::Hash256>& StagingFile::sha256() const noexcept { return state_->sha256; }

std::optional<WallTime> StagingFile::last_append() const noexcept {
  if (state_->last == 0) return std::nullopt;
  return WallTime(std::chrono::microseconds(state_->last));
}

Result<void> StagingFile::append(ByteView plain, WallTime now) {
  return append(std::span<const ByteView>(&plain, 1), now);
}

Result<void> StagingFile::append(std::span<const ByteView> parts, WallTime now) {
  State& state = *state_;
  if (state.broken || state.sha256) return state.ended();
  const Mark before = state.written();
  auto put = state.put_records(parts, microseconds(now));
  if (put) {
    state.keep();
    return {};
  }
  // All or nothing of it: the caller's hash and offset go by whole appends.
  if (state.written().file != before.file) {
    if (auto cut = state.file->truncate(before.file); !cut) state.broken = true;
    const MutexLock lock(state.mutex);
    SAMOVAR_ASSERT(before.file >= state.synced.file);
    state.end = before;
  }
  return put;
}

Result<void> StagingFile::sync() {
  State& state = *state_;
  if (state.broken) return state.ended();
  const Mark target = state.complete();
  SAMOVAR_FAILPOINT_ERROR("store.staging.sync.before");
  if (auto done = state.sync_file->sync(); !done) {
    state.broken = true;
    return done;
  }
  SAMOVAR_FAILPOINT("store.staging.sync.after");
  const MutexLock lock(state.mutex);
  if (target.file > state.synced.file) state.synced = target;
  return {};
}

Result<void> StagingFile::roll_back() {
  State& state = *state_;
  const Mark back = state.durable();
  state.broken = true;
  // New handles: one whose sync failed is never trusted again. Cutting drops the pages in doubt.
  SAMOVAR_CHECK(state.open_handles());
  SAMOVAR_TRY(const std::uint64_t size, state.file->size());
  if (size < back.file) return damaged("its end, which is missing");
  SAMOVAR_CHECK(state.file->truncate(back.file));
  SAMOVAR_CHECK(state.file->sync());
  const MutexLock lock(state.mutex);
  state.end = state.whole = back;
  state.broken = false;
  return {};
}

Result<void> StagingFile::finish(const security::Hash256& sha256, WallTime now) {
  State& state = *state_;
  if (state.broken || state.sha256) return state.ended();
  SAMOVAR_CHECK(sync());
  SAMOVAR_FAILPOINT_ERROR("store.staging.finish.before_write");
  const Mark at = state.durable();
  const RecordHeader header{RecordType::end, sizeof sha256, at.plain, at.plain, microseconds(now), {}};
  Bytes record(header.stored());
  seal_record(state.key, header, sha256, record);
  SAMOVAR_CHECK(state.write(record, 0));
  state.keep();
  SAMOVAR_CHECK(sync());
  SAMOVAR_FAILPOINT("store.staging.finish.after_sync");
  state.sha256 = sha256;
  state.last = std::max(state.last, header.time_us);
  return {};
}

Result<void> StagingFile::drop_wrapped_key(Disk& disk, const std::string& path) {
  SAMOVAR_CHECK(disk.open(path, OpenMode::read));
  SAMOVAR_TRY(const auto file, disk.open(path, OpenMode::write));
  SAMOVAR_FAILPOINT_ERROR("store.staging.drop_key.before_write");
  SAMOVAR_CHECK(file->write_at(kWrappedKeyAt, Bytes(kWrappedKeyBytes)));
  return file->sync();
}

}  // namespace samovar::store
