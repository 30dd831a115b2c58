#include "daemon/jobs/uploads.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.hpp"
#include "base/encoding.hpp"
#include "base/ids.hpp"
#include "base/log.hpp"
#include "daemon/jobs/upload_entry.hpp"
#include "security/hash.hpp"

namespace samovar::jobs {
namespace {

constexpr std::size_t kFileNameBytesMax = 1024;

Error not_there() { return Error{Errc::not_found, "There is no such upload, or you may not see it."}; }

std::chrono::microseconds in_us(Duration duration) {
  return std::chrono::duration_cast<std::chrono::microseconds>(duration);
}

}  // namespace

Uploads::Uploads(Loop& loop, Rng& rng, Disk& disk, Pool& io, store::DataDir& dir,
                 security::SecretBytes wrap_key, UploadOptions options)
    : loop_(loop),
      rng_(rng),
      disk_(disk),
      io_(io),
      dir_(dir),
      wrap_key_(std::make_shared<const security::SecretBytes>(std::move(wrap_key))),
      options_(std::move(options)) {}

Uploads::~Uploads() = default;

Result<std::unique_ptr<Uploads>> Uploads::open(Loop& loop, Rng& rng, Disk& disk, Pool& io,
                                               store::DataDir& dir, const security::SecretBytes& wrap_key,
                                               UploadOptions options) {
  std::unique_ptr<Uploads> uploads(
      new Uploads(loop, rng, disk, io, dir, wrap_key.clone(), std::move(options)));
  SAMOVAR_CHECK(uploads->load());
  return uploads;
}

Result<void> Uploads::load() {
  SAMOVAR_TRY(const auto names, dir_.upload_ids());
  for (const std::string& name : names) {
    if (!is_id("upl", name)) continue;
    auto entry = load_entry(disk_, dir_.upload(name), *wrap_key_, options_.lifetime);
    if (entry && (*entry)->view.id == name) {
      entries_.emplace(name, *std::move(entry));
      continue;
    }
    // A creation that was cut leaves half a head, and nobody was told of that upload.
    SAMOVAR_LOG(warn, jobs, "an upload does not open", kv("upload", name),
                kv("error", entry ? "it is another upload's file" : entry.error().message()));
    // What could not be read now may be readable later; it is not for the collection.
    if (!entry && entry.error().code() != Errc::corrupt) unreadable_.push_back(name);
  }
  finish_pending();
  return {};
}

// Those that were cut, or whose disk failed, between the last byte and the hash.
void Uploads::finish_pending() {
  for (const auto& [id, entry] : entries_) {
    if (!entry->view.complete() || !entry->view.sha256.empty() || entry->writing || entry->removing) continue;
    entry->writing = true;
    spawn<Result<void>>(complete(entry), [entry = entry](const Result<void>& done) {
      entry->writing = false;
      if (!done)
        SAMOVAR_LOG(warn, jobs, "an upload's hash was not made", kv("upload", entry->view.id),
                    kv("error", done.error().message()));
    });
  }
}

Uploads::EntryPtr Uploads::find(std::string_view id) const {
  const auto found = entries_.find(id);
  if (found == entries_.end() || found->second->removing) return nullptr;
  return found->second;
}

Uploads::EntryPtr Uploads::find(const cluster::Actor& actor, std::string_view id) const {
  EntryPtr entry = find(id);
  if (!entry || (entry->view.owner_id != actor.user_id && actor.auth != cluster::AuthKind::system))
    return nullptr;
  return entry;
}

bool Uploads::expired(const UploadEntry& entry) const {
  return entry.holds == 0 && !entry.writing && entry.view.expires_at <= loop_.clock().wall();
}

Result<void> Uploads::check_quota(const std::string& user_id, std::uint64_t more) const {
  std::uint64_t total = 0;
  std::size_t count = 0;
  for (const auto& [id, entry] : entries_) {
    if (entry->view.owner_id != user_id || entry->removing) continue;
    total += entry->view.length;
    ++count;
  }
  if (count >= options_.per_user_max)
    return Error{Errc::busy, "you have too many unfinished uploads: delete those you do not need"};
  const std::uint64_t quota = options_.quota_bytes_per_user ? options_.quota_bytes_per_user() : 0;
  if (quota == 0 || (total <= quota && more <= quota - total)) return {};
  return Error{
      Errc::busy,
      fmt::format("your uploads may take {} bytes together, and {} are in use: delete some, or ask an "
                  "administrator for a larger quota",
                  quota, total)};
}

Task<Result<Upload>> Uploads::create(cluster::Call call, NewUpload upload) {
  if (upload.file_name.size() > kFileNameBytesMax)
    co_return Error{Errc::invalid, "the file's name is too long: it may have 1024 bytes"};
  SAMOVAR_CO_CHECK(check_quota(call.actor.user_id, upload.length));
  auto entry = std::make_shared<UploadEntry>();
  Upload& view = entry->view;
  view.id = new_id("upl", loop_.clock(), rng_);
  view.owner_id = call.actor.user_id;
  view.file_name = std::move(upload.file_name);
  view.length = upload.length;
  view.created_at = loop_.clock().wall();
  view.expires_at = view.created_at + in_us(options_.lifetime);
  entry->path = dir_.upload(view.id);
  entry->writing = true;
  entries_.emplace(view.id, entry);
  auto make = [entry, disk = &disk_, dir = &dir_, wrap_key = wrap_key_]() -> Result<void> {
    SAMOVAR_CHECK(dir->check_room(entry->view.length));
    const store::StagingHead head{entry->view.id, encode_about(entry->view)};
    SAMOVAR_TRY(entry->file, store::StagingFile::create(*disk, entry->path, *wrap_key, head));
    entry->key = entry->file->key().clone();
    return {};
  };
  Result<void> made = co_await run_on(io_, loop_, std::move(make));
  if (made && entry->view.length == 0) made = co_await complete(entry);
  entry->writing = false;
  if (!made) {
    entry->removing = true;
    entries_.erase(entry->view.id);
    co_return std::move(made).error();
  }
  close_idle(options_.open_files_max);
  co_return entry->view;
}

Result<Upload> Uploads::get(const cluster::Actor& actor, std::string_view id) const {
  const EntryPtr entry = find(actor, id);
  if (!entry) return not_there();
  if (expired(*entry))
    return Error{Errc::unavailable, "this upload was left for too long and is gone: begin it again"};
  return entry->view;
}

std::vector<Upload> Uploads::list(const cluster::Actor& actor) const {
  std::vector<Upload> out;
  for (const auto& [id, entry] : entries_) {
    if (find(actor, id) && !expired(*entry)) out.push_back(entry->view);
  }
  return out;
}

std::vector<Upload> Uploads::all() const {
  std::vector<Upload> out;
  for (const auto& [id, entry] : entries_) out.push_back(entry->view);
  for (const std::string& id : unreadable_) out.emplace_back().id = id;
  return out;
}

Task<Result<void>> Uploads::drop(EntryPtr entry) {
  entry->removing = true;
  entry->file.reset();
  entry->follower.reset();
  auto work = [dir = &dir_, id = entry->view.id] { return dir->remove_upload(id); };
  Result<void> removed = co_await run_on(io_, loop_, std::move(work));
  if (removed) {
    entries_.erase(entry->view.id);
  } else {
    entry->removing = false;
  }
  co_return removed;
}

Task<Result<void>> Uploads::remove(cluster::Call call, std::string id) {
  const EntryPtr entry = call.actor.role == cluster::Role::admin ? find(id) : find(call.actor, id);
  if (!entry) co_return not_there();
  if (entry->holds > 0)
    co_return Error{Errc::conflict, "a data set is being made of this upload: cancel that first"};
  if (entry->writing) co_return Error{Errc::busy, "this upload is being written to: stop sending first"};
  co_return co_await drop(entry);
}

Result<void> Uploads::hold(std::string_view id) {
  const EntryPtr entry = find(id);
  if (!entry) return not_there();
  if (!entry->view.complete()) return Error{Errc::conflict, "this upload is not complete yet"};
  if (entry->writing || entry->view.sha256.empty())
    return Error{Errc::busy, "this upload is still being checked: try again in a moment"};
  ++entry->holds;
  return {};
}

void Uploads::release(std::string_view id) {
  if (const EntryPtr entry = find(id); entry && entry->holds > 0) --entry->holds;
}

void Uploads::forget(std::string_view id) {
  if (const auto found = entries_.find(id); found != entries_.end()) entries_.erase(found);
}

void Uploads::adopt(const std::string& id) {
  if (entries_.contains(id)) return;
  auto entry = load_entry(disk_, dir_.upload(id), *wrap_key_, options_.lifetime);
  if (entry && (*entry)->view.id == id) {
    entries_.emplace(id, *std::move(entry));
    finish_pending();
    return;
  }
  SAMOVAR_LOG(warn, jobs, "an upload does not open", kv("upload", id));
}

Result<security::SecretBytes> Uploads::key(std::string_view id) const {
  const EntryPtr entry = find(id);
  if (!entry || entry->key.empty()) return not_there();
  return entry->key.clone();
}

Task<void> Uploads::sweep() {
  std::vector<EntryPtr> old;
  for (const auto& [id, entry] : entries_) {
    if (!entry->removing && expired(*entry)) old.push_back(entry);
  }
  for (const EntryPtr& entry : old) {
    if (entry->removing || !expired(*entry)) continue;  // things happen between two of them
    Result<void> removed = co_await drop(entry);
    SAMOVAR_LOG(info, jobs, "an upload expired", kv("upload", entry->view.id),
                kv("error", removed ? "" : removed.error().message()));
  }
  finish_pending();
  close_idle(0);
}

}  // namespace samovar::jobs
