// Keeping data sets: the bin, destruction, the scrub that reads everything once a week, the hourly sweep.
#include <fmt/format.h>

#include <algorithm>

#include "base/failpoint.hpp"
#include "base/log.hpp"
#include "daemon/cluster/dataset_rights.hpp"
#include "daemon/jobs/local_data.hpp"
#include "daemon/jobs/pause.hpp"
#include "daemon/store/scrub.hpp"

namespace samovar::jobs {
namespace {

constexpr std::chrono::hours kSweepEvery{1};
constexpr std::chrono::hours kScrubEvery{24 * 6};  // so that each file is read within seven days
// Between two slices: four times as long as reading one took, so that a scrub takes a fifth of the disk.
constexpr int kScrubRest = 4;
constexpr std::size_t kScrubSliceBytes = 4u << 20;
constexpr std::chrono::milliseconds kScrubShownEvery{500};

Error gone() { return {Errc::not_found, "there is no such data set"}; }

}  // namespace

Task<Result<cluster::Dataset>> LocalData::bin(cluster::Call call, std::string dataset_id) {
  const auto dataset = cluster_.dataset(dataset_id);
  if (!dataset || !may_see(call.actor, *dataset)) co_return gone();
  if (!cluster::may_manage(call.actor, *dataset))
    co_return Error{Errc::denied, "only its owner or an administrator may delete a data set"};
  co_return co_await cluster_.bin_dataset(std::move(call), std::move(dataset_id));
}

Task<Result<cluster::Dataset>> LocalData::restore(cluster::Call call, std::string dataset_id) {
  const auto dataset = cluster_.dataset(dataset_id);
  if (!dataset || !may_see(call.actor, *dataset)) co_return gone();
  if (!cluster::may_manage(call.actor, *dataset))
    co_return Error{Errc::denied, "only its owner or an administrator may restore a data set"};
  co_return co_await cluster_.restore_dataset(std::move(call), std::move(dataset_id));
}

Task<Result<void>> LocalData::destroy(cluster::Call call, std::string dataset_id) {
  const auto dataset = cluster_.dataset(dataset_id);
  if (!dataset || !may_see(call.actor, *dataset)) co_return gone();
  co_return co_await destroy_now(std::move(call), std::move(dataset_id));
}

// The keys first: what a cut leaves of the files is noise, and the next start removes it.
Task<Result<void>> LocalData::destroy_now(cluster::Call call, std::string dataset_id) {
  const auto versions = cluster_.dataset_versions(dataset_id);
  SAMOVAR_FAILPOINT("jobs.destroy.before");
  auto destroyed = co_await cluster_.destroy_dataset(std::move(call), dataset_id);
  if (!destroyed) co_return std::move(destroyed).error();
  SAMOVAR_FAILPOINT("jobs.destroy.after");
  auto remove = [dir = dir_.get(), dataset_id, versions]() -> Result<void> {
    for (const auto& version : versions) SAMOVAR_CHECK(dir->remove_version(dataset_id, version.version));
    return dir->remove_source(dataset_id);
  };
  auto removed = co_await run_on(io_, loop_, std::move(remove));
  if (!removed)
    SAMOVAR_LOG(warn, jobs, "the files of a destroyed data set, useless without its keys, are still there",
                kv("dataset", dataset_id), kv("error", removed.error().message()));
  co_return Result<void>{};
}

// ---- the sweep ----

void LocalData::arm_sweep(Duration delay) {
  sweep_timer_ = loop_.after(delay, [this] {
    spawn(sweep());
    arm_sweep(kSweepEvery);
  });
}

Task<void> LocalData::sweep() {
  cluster::DatasetFilter filter;
  filter.bin = true;
  cluster::PageQuery page;
  page.limit = cluster::kPageMax;
  std::vector<std::string> old;
  do {
    auto binned = cluster_.datasets(filter, page);
    for (const auto& dataset : binned.items)
      if (*dataset.binned_at + cluster::kBinKept <= cluster_.now()) old.push_back(dataset.id);
    page.cursor = binned.next_cursor;
  } while (!page.cursor.empty());
  for (const auto& id : old) {
    cluster::Call call;
    call.actor = cluster::Actor::system();
    auto destroyed = co_await destroy_now(std::move(call), id);
    if (!destroyed)
      SAMOVAR_LOG(warn, jobs, "a data set that was in the bin for 30 days is not destroyed yet",
                  kv("dataset", id), kv("error", destroyed.error().message()));
  }
  co_await uploads_->sweep();
  auto tend = [dir = dir_.get()] { return dir->tend_ballast(); };
  ignore(co_await run_on(io_, loop_, std::move(tend)), "the next sweep tries again");
  if (stopping_ || scrubbing_) co_return;
  const WallTime due = cluster_.now() - kScrubEvery;
  const auto records = cluster_.operations();
  const bool lately =
      std::any_of(records.begin(), records.end(), [due, &node = options_.node_id](const auto& record) {
        return record.kind == to_string(OperationKind::scrub) && record.node_id == node &&
               record.created_at > due;
      });
  if (lately || cluster_.version_refs().empty()) co_return;
  cluster::Call call;
  call.actor = cluster::Actor::system();
  ignore(co_await start_scrub(std::move(call)), "the next sweep tries again");
}

// ---- the scrub ----

Task<Result<Operation>> LocalData::start_scrub(cluster::Call call) {
  if (scrubbing_) co_return Error{Errc::conflict, "a check of all data is running already"};
  scrubbing_ = true;
  cluster::OperationRecord record;
  record.kind = std::string(to_string(OperationKind::scrub));
  record.owner_id = call.actor.user_id;
  record.node_id = options_.node_id;
  record.title = "Check of all data";
  record.spec_json = "{}";
  cluster::Call own = call;
  cluster::OperationRecord mine = record;
  auto begun = co_await cluster_.begin_operation(std::move(own), std::move(mine));
  scrubbing_ = false;
  if (!begun) co_return std::move(begun).error();
  // What a person asks for is asked of every node: each reads what it holds. By itself each does it weekly.
  if (call.actor.auth != cluster::AuthKind::system) {
    for (const auto& node : cluster_.nodes()) {
      if (node.id == options_.node_id || node.state == cluster::NodeState::removed) continue;
      cluster::Call other = call;
      if (!other.request_id.empty()) other.request_id += "." + node.id.substr(0, 16);
      cluster::OperationRecord theirs = record;
      theirs.node_id = node.id;
      theirs.title = fmt::format("Check of all data on {}", node.name);
      ignore(co_await cluster_.begin_operation(std::move(other), std::move(theirs)), "it does so every week");
    }
  }
  Operation operation = from_record(*begun);
  if (book_.find(operation.id) == nullptr) {
    book_.add(operation);
    spawn(run_scrub(operation.id));
  }
  co_return operation;
}

Task<void> LocalData::run_scrub(std::string operation_id) {
  if (scrubbing_ || stopping_) co_return;
  scrubbing_ = true;
  auto cancelled = std::make_shared<std::atomic<bool>>(false);
  cancels_[operation_id] = cancelled;
  auto damaged = co_await scrub_all(operation_id);
  cancels_.erase(operation_id);
  scrubbing_ = false;
  if (stopping_) co_return;
  cluster::OperationEnd end;
  end.id = operation_id;
  end.state = damaged ? "done" : "cancelled";
  if (damaged && *damaged > 0) {
    end.state = "failed";
    end.error =
        fmt::format("{} of the stored files {} damaged and will not be read: make these data sets anew",
                    *damaged, *damaged == 1 ? "is" : "are");
  }
  const std::string sentence = end.error;
  const auto state =
      damaged ? (*damaged > 0 ? OperationState::failed : OperationState::done) : OperationState::cancelled;
  const auto record = cluster_.operation(operation_id);
  cluster::Call call = call_for(record ? record->owner_id : "", "");
  auto ended = co_await cluster_.end_operation(std::move(call), std::move(end));
  if (!ended)
    SAMOVAR_LOG(warn, jobs, "the end of a check was not recorded", kv("error", ended.error().message()));
  book_.end(operation_id, state, sentence, cluster_.now());
}

// Every stored file that this node holds.
std::vector<store::ScrubTarget> LocalData::scrub_list() const {
  std::vector<store::ScrubTarget> targets;
  for (const auto& file : cluster_.stored_files()) {
    const bool mine =
        std::find(file.holders.begin(), file.holders.end(), options_.node_id) != file.holders.end();
    const auto key = store::BlobKey::parse(file.key);
    store::ScrubTarget target;
    if (!mine || !key || file.bytes == 0 || file.hash.size() != target.hash.size()) continue;
    target.name = file.key;
    target.path = replicas_->blobs().path(*key);
    target.stored_bytes = file.bytes;
    std::copy(file.hash.begin(), file.hash.end(), target.hash.begin());
    targets.push_back(std::move(target));
  }
  return targets;
}

// Those of which no good copy was left.
std::set<std::string> LocalData::marked_shards() const {
  std::set<std::string> marked;
  for (const auto& ref : cluster_.version_refs()) {
    const auto summary = cluster_.version_summary(ref.dataset_id, ref.version);
    if (!summary || summary->shards_damaged == 0) continue;
    const auto version = cluster_.dataset_version(ref.dataset_id, ref.version);
    if (!version) continue;
    for (const auto& shard : version->shards)
      if (shard.damaged)
        marked.insert(store::BlobKey::of_version(ref.dataset_id, ref.version, std::to_string(shard.number)));
  }
  return marked;
}

// How many files are damaged. Needs no keys. Errc::conflict when cancelled.
Task<Result<std::uint64_t>> LocalData::scrub_all(std::string operation_id) {
  const auto cancelled = cancels_[operation_id];
  const auto pass = std::make_shared<store::ScrubPass>(disk_, scrub_list());
  const auto marked = marked_shards();
  const auto begin = [&pass](Operation& operation) {
    operation.state = OperationState::running;
    operation.step = "checking";
    operation.total_bytes = pass->bytes_total();
  };
  book_.change(operation_id, begin);
  std::uint64_t damaged = 0;
  MonoTime shown{};
  while (!pass->done()) {
    if (cancelled->load() || stopping_) co_return Error{Errc::conflict, "cancelled"};
    const MonoTime before = loop_.clock().mono();
    auto read = [pass] { return pass->step(kScrubSliceBytes); };
    const auto step = co_await run_on(io_, loop_, std::move(read));
    if (!step) {  // the pool has more urgent work than it can queue
      co_await pause(loop_, kScrubShownEvery);
      continue;
    }
    // A good copy came back with its node.
    if (step->finished != nullptr && step->finding == store::ScrubFinding::good &&
        marked.contains(step->finished->name))
      co_await mark(step->finished->name, false);
    if (step->finished != nullptr && step->finding == store::ScrubFinding::damaged) {
      const auto outcome = co_await on_damage(step->finished->name);
      damaged += outcome == Replicas::Mended::lost || outcome == Replicas::Mended::later ? 1 : 0;
    }
    if (before - shown >= kScrubShownEvery) {
      shown = before;
      const auto show = [&pass](Operation& operation) { operation.done_bytes = pass->bytes_done(); };
      book_.change(operation_id, show);
    }
    co_await pause(loop_, (loop_.clock().mono() - before) * kScrubRest);
  }
  co_return damaged;
}

// A copy that is damaged here says nothing of those elsewhere: only when no good one is left is it marked.
Task<Replicas::Mended> LocalData::on_damage(std::string key) {
  const Replicas::Mended outcome = co_await replicas_->mend(key);
  if (stopping_) co_return outcome;
  if (outcome == Replicas::Mended::lost) co_await mark(key, true);
  if (outcome == Replicas::Mended::mended) co_await mark(key, false);
  co_return outcome;
}

Task<void> LocalData::mark(std::string key, bool damaged) {
  const auto name = store::BlobKey::parse(key);
  if (!name || name->kind != store::BlobKey::Kind::version) co_return;
  const auto version = cluster_.dataset_version(name->id, name->version);
  if (!version) co_return;
  for (const auto& shard : version->shards) {
    if (std::to_string(shard.number) != name->file || shard.damaged == damaged) continue;
    cluster::Call call;
    call.actor = cluster::Actor::system();
    cluster::ShardMark mark;
    mark.dataset_id = name->id;
    mark.version = name->version;
    mark.shard = shard.number;
    mark.damaged = damaged;
    auto marked = co_await cluster_.mark_shard(std::move(call), std::move(mark));
    if (!marked)
      SAMOVAR_LOG(warn, jobs, "a damaged shard is not marked", kv("error", marked.error().message()));
  }
}

}  // namespace samovar::jobs
