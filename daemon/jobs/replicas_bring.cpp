// Files to be read here: brought from those who hold them, mended when damaged, removed when nobody wants
// them any more.
#include <algorithm>

#include "base/failpoint.hpp"
#include "base/log.hpp"
#include "base/metrics.hpp"
#include "daemon/jobs/pause.hpp"
#include "daemon/jobs/replicas.hpp"

namespace samovar::jobs {

using store::BlobKey;

namespace {

constexpr std::chrono::milliseconds kRemovalStep{10};
constexpr std::size_t kLookMax = 512;

metrics::Counter& mended_files() {
  static metrics::Counter& counter = metrics::counter(
      "samovar_blob_mended_total", "Damaged copies of stored files that were replaced by good ones.");
  return counter;
}

}  // namespace

Replicas::Hold::Hold(Replicas& replicas, std::vector<std::string> keys)
    : loop_(replicas.loop_), replicas_(replicas.alive_), keys_(std::move(keys)) {
  for (const auto& key : keys_) ++replicas.held_[key];
}

Replicas::Hold::~Hold() {
  loop_.post([replicas = replicas_, keys = keys_] {
    if (const auto alive = replicas.lock()) (*alive)->release(keys);
  });
}

void Replicas::release(const std::vector<std::string>& keys) {
  const MonoTime now = loop_.clock().mono();
  for (const auto& key : keys) {
    const auto found = held_.find(key);
    if (found == held_.end()) continue;
    if (--found->second == 0) held_.erase(found);
    if (const auto used = used_.find(key); used != used_.end()) used->second = now;
  }
}

Task<Result<Replicas::HoldPtr>> Replicas::bring(std::vector<std::string> keys) {
  auto hold = std::make_shared<Hold>(*this, keys);
  if (alone()) co_return hold;
  std::vector<std::string> missing;
  for (std::size_t at = 0; at < keys.size(); at += kLookMax) {
    std::vector<BlobCheck::File> some;
    for (std::size_t i = at; i < std::min(keys.size(), at + kLookMax); ++i) {
      // One that is just going away comes back.
      while (removing_.contains(keys[i]) && !stopping_) co_await pause(loop_, kRemovalStep);
      some.push_back({keys[i], 0});
    }
    auto asked = some;
    auto there = co_await look(std::move(asked));
    if (!there) co_return std::move(there).error();
    for (std::size_t i = 0; i < some.size(); ++i) {
      if (!(*there)[i]) {
        missing.push_back(some[i].key);
      } else if (const auto used = used_.find(some[i].key); used != used_.end()) {
        used->second = loop_.clock().mono();
      }
    }
  }
  if (missing.empty()) co_return hold;
  struct Bringing {
    std::size_t left = 0;
    std::optional<Error> error;
  };
  auto work = std::make_shared<Bringing>();
  auto side_by_side = [this, work, &missing](std::function<void(bool)> done) {
    work->left = missing.size();
    for (const auto& key : missing) {
      const std::function<void(Result<void>)> ended = [work, done](Result<void> brought) {
        if (!brought && !work->error) work->error = std::move(brought).error();
        if (--work->left == 0) done(true);
      };
      spawn<Result<void>>(bring_one(key), ended);
    }
  };
  co_await from_callback<bool>(std::move(side_by_side));
  if (work->error) co_return *work->error;
  co_return hold;
}

Task<Result<void>> Replicas::bring_one(std::string key) {
  co_await bring_turns_.take();
  auto brought = Result<void>{};
  auto wish = wish_for(key);
  if (!wish) {
    brought = std::move(wish).error();
  } else if (wish->from.empty()) {
    brought = Error{Errc::unavailable,
                    "no node that has this part of the data can be reached: switch one of them on"};
  } else {
    brought = co_await fetch(std::move(*wish), damaged_.contains(key));
  }
  bring_turns_.give();
  co_return brought;
}

// ---- damage ----

Task<Replicas::Mended> Replicas::mend(std::string key) {
  if (const auto others = mending_.find(key); others != mending_.end()) {
    auto join = [&others](std::function<void(Mended)> done) { others->second.push_back(std::move(done)); };
    co_return co_await from_callback<Mended>(std::move(join));
  }
  mending_[key];
  const Mended outcome = co_await mend_now(key);
  auto waiting = std::move(mending_[key]);
  mending_.erase(key);
  for (auto& done : waiting) done(outcome);
  co_return outcome;
}

Task<Replicas::Mended> Replicas::mend_now(std::string key) {
  const auto record = world_.file(key);
  const auto name = BlobKey::parse(key);
  if (!record || !name || record->hash.empty()) co_return Mended::good;  // destroyed meanwhile, or not known
  auto read = [blobs = blobs_, name = *name, hash = record->hash]() -> Result<bool> {
    const auto found = blobs.hash(name);
    return found && std::equal(found->begin(), found->end(), hash.begin(), hash.end());
  };
  auto good = co_await run_on(io_, loop_, std::move(read));
  if (!good) co_return Mended::later;  // the pool is full
  if (*good) {
    damaged_.erase(key);
    co_return Mended::good;
  }
  whole_.erase(key);
  const bool counted =
      std::find(record->holders.begin(), record->holders.end(), options_.node_id) != record->holders.end();
  const bool others = record->holders.size() > (counted ? 1u : 0u);
  if (damaged_.insert(key).second)
    SAMOVAR_LOG(error, jobs, "a stored file is damaged on this node", kv("file", key),
                kv("other_copies", record->holders.size() - (counted ? 1u : 0u)));
  if (!others || exchange_ == nullptr) co_return Mended::lost;
  auto found = wish_for(key);
  if (!found) co_return Mended::later;
  BlobFetch wish = std::move(*found);
  const bool all_within_reach = wish.from.size() == record->holders.size() - (counted ? 1u : 0u);
  if (wish.from.empty()) co_return Mended::later;
  auto fetched = co_await fetch(std::move(wish), true);
  if (fetched) {
    mended_files().add();
    SAMOVAR_LOG(info, jobs, "a damaged file was replaced by a good copy", kv("file", key));
    co_return Mended::mended;
  }
  const Errc code = fetched.error().code();
  co_return all_within_reach && (code == Errc::corrupt || code == Errc::not_found) ? Mended::lost
                                                                                   : Mended::later;
}

// ---- what is not wanted here ----

struct Replicas::Known {
  std::map<std::string, bool> records;  // by key: is this node named?
  std::map<std::string, bool> making;   // by data set or model: is it being made?
};

bool Replicas::wanted_here(const std::string& key, Known& known) const {
  const auto record = known.records.find(key);
  const bool recorded = record != known.records.end();
  if (recorded && record->second) return true;
  if (held_.contains(key) || fetches_.contains(key) || mending_.contains(key)) return true;
  const auto used = used_.find(key);
  const Duration kept = recorded ? options_.unused_kept : options_.unnamed_kept;
  if (used != used_.end() && loop_.clock().mono() - used->second < kept) return true;
  if (recorded) return false;
  const auto name = BlobKey::parse(key);
  if (!name) return true;
  const auto making = known.making.find(name->id);
  if (making != known.making.end()) return making->second;
  return known.making[name->id] = world_.in_making(name->id);
}

Task<void> Replicas::sweep() {
  if (stopping_ || alone()) co_return;
  auto list = [blobs = blobs_] { return blobs.list(); };
  auto keys = co_await run_on(io_, loop_, std::move(list));
  if (!keys || stopping_) co_return;
  const auto names_us = [this](const cluster::StoredFile& file) {
    return std::find(file.holders.begin(), file.holders.end(), options_.node_id) != file.holders.end();
  };
  Known known;
  for (const auto& file : world_.files()) known.records[file.key] = names_us(file);
  std::erase_if(*keys, [&](const std::string& key) { return wanted_here(key, known); });
  if (keys->empty()) co_return;
  // The state here may be old, and the newest may name this node.
  auto caught_up = co_await world_.catch_up();
  if (!caught_up) co_return;
  known.making.clear();
  for (const auto& key : *keys) {
    if (stopping_) co_return;
    const auto name = BlobKey::parse(key);
    const auto record = world_.file(key);
    known.records.erase(key);
    if (record) known.records[key] = names_us(*record);
    if (!name || wanted_here(key, known)) continue;
    removing_.insert(key);
    used_.erase(key);
    whole_.erase(key);
    damaged_.erase(key);
    SAMOVAR_FAILPOINT("blob.remove.before");
    auto remove = [blobs = blobs_, name = *name]() mutable { return blobs.remove(name); };
    auto removed = co_await run_on(io_, loop_, std::move(remove));
    removing_.erase(key);
    if (!removed)
      SAMOVAR_LOG(warn, jobs, "a copy that is not wanted here is still there", kv("file", key),
                  kv("error", removed.error().message()));
  }
}

}  // namespace samovar::jobs
