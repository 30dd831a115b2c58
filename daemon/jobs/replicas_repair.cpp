// The leader's loop: what must move so that every file has its copies, a few at a time and at a pace.
#include <algorithm>

#include <fmt/format.h>

#include "base/failpoint.hpp"
#include "base/log.hpp"
#include "base/metrics.hpp"
#include "daemon/jobs/replicas.hpp"

namespace samovar::jobs {
namespace {

constexpr std::size_t kPlanned = 64;       // transfers looked at for those that can be begun
constexpr std::size_t kRemovalsMax = 200;  // in one command
constexpr std::size_t kChecksAtOnce = 500;
constexpr std::chrono::milliseconds kSoon{200};
// A copy that failed lets others go first: the most endangered files may be those that cannot be had.
constexpr std::chrono::seconds kPutOff{30};

metrics::Counter& repair_bytes() {
  static metrics::Counter& counter = metrics::counter(
      "samovar_repair_bytes_total", "Bytes of stored files that repair had copied between nodes.");
  return counter;
}

metrics::Gauge& under_replicated() {
  static metrics::Gauge& gauge = metrics::gauge("samovar_repair_under_replicated_files",
                                                "Stored files with fewer copies within reach than wanted.");
  return gauge;
}

}  // namespace

void Replicas::changed() {
  dirty_ = true;
  if (!started_ || stopping_) return;
  loop_.cancel(repair_timer_);
  arm_repair(kSoon);
}

void Replicas::arm_repair(Duration delay) {
  repair_timer_ = loop_.after(delay, [this] {
    arm_repair(options_.repair_every);
    repair();
  });
}

void Replicas::arm_sweep() {
  sweep_timer_ = loop_.after(options_.sweep_every, [this] {
    spawn(sweep());
    arm_sweep();
  });
}

// A node that went away a moment ago still counts: a reboot must not move a terabyte. One that comes back
// says what it still has.
void Replicas::look_at_nodes(std::vector<cluster::StorageNode>& nodes) {
  const MonoTime now = loop_.clock().mono();
  std::set<std::string> seen;
  for (auto& node : nodes) {
    if (node.reachable) {
      if (led_ && !seen_.contains(node.id)) spawn(check_node(node.id));
      seen.insert(node.id);
      away_since_.erase(node.id);
      continue;
    }
    const auto away = away_since_.emplace(node.id, now);
    node.reachable = now - away.first->second < options_.grace;
  }
  seen_ = std::move(seen);
}

void Replicas::count(const std::vector<cluster::StoredFile>& files,
                     const std::vector<cluster::StorageNode>& nodes) {
  status_ = {};
  status_.moving = moving_.size();
  const auto counts = [&nodes](const std::string& id) {
    return std::any_of(nodes.begin(), nodes.end(),
                       [&id](const auto& node) { return node.id == id && node.reachable; });
  };
  for (const auto& file : files) {
    ++status_.files;
    const auto have = static_cast<unsigned>(std::count_if(file.holders.begin(), file.holders.end(), counts));
    if (have == 0) ++status_.lost;
    if (have >= file.wanted) continue;
    ++status_.under_replicated;
    status_.bytes_left += file.bytes * (file.wanted - have);
  }
  under_replicated().set(static_cast<double>(status_.under_replicated));
}

void Replicas::repair() {
  if (stopping_ || alone()) return;
  auto nodes = world_.nodes();
  const bool leads = world_.leads();
  if (leads != led_) {
    // A new leader has seen nobody yet: it asks everybody what they have.
    led_ = leads;
    dirty_ = true;
    seen_.clear();
    away_since_.clear();
  }
  look_at_nodes(nodes);
  std::map<std::string, bool> counted;  // is it to be emptied?
  for (const auto& node : nodes)
    if (node.reachable) counted[node.id] = node.draining;
  if (counted != counted_) dirty_ = true;
  counted_ = std::move(counted);
  if (!dirty_ && moving_.empty()) return;
  dirty_ = false;
  const auto files = world_.files();
  count(files, nodes);
  if (!leads) return;
  const MonoTime now = loop_.clock().mono();
  std::erase_if(put_off_, [now](const auto& one) { return now >= one.second; });
  const auto plan = cluster::plan_repair(files, nodes, kPlanned + put_off_.size());
  for (const auto& transfer : plan.transfers) {
    dirty_ = true;  // what is not done now is looked at again
    if (moving_.size() >= options_.repairs_at_once) break;
    if (!seen_.contains(transfer.to)) continue;  // it counts, but does not answer: others first
    const auto file = std::find_if(files.begin(), files.end(),
                                   [&transfer](const auto& one) { return one.key == transfer.key; });
    if (file == files.end()) continue;
    const std::string name = fmt::format("{}>{}", transfer.key, transfer.to);
    if (put_off_.contains(name) || !moving_.insert(name).second) continue;
    spawn(move(transfer, file->hash));
  }
  std::vector<cluster::Removal> removals;
  for (const auto& removal : plan.removals) {
    if (removals.size() >= kRemovalsMax) break;
    if (forgetting_.insert(fmt::format("{}>{}", removal.key, removal.node)).second)
      removals.push_back(removal);
  }
  if (!removals.empty()) spawn(forget(std::move(removals)));
}

Task<void> Replicas::move(cluster::Transfer transfer, Bytes hash) {
  const std::string name = fmt::format("{}>{}", transfer.key, transfer.to);
  const std::uint64_t pace =
      world_.training() ? options_.repair_bytes_per_second_busy : options_.repair_bytes_per_second;
  BlobFetch wish;
  wish.key = transfer.key;
  wish.bytes = transfer.bytes;
  wish.hash = std::move(hash);
  wish.bytes_per_second = pace == 0 ? 0 : std::max<std::uint64_t>(1, pace / options_.repairs_at_once);
  for (const auto& node : transfer.from)
    if (node != transfer.to && wish.from.size() < kBlobSourcesMax) wish.from.push_back(node);
  SAMOVAR_FAILPOINT("repair.move.before");
  auto fetched = Result<BlobFetched>(Error{Errc::unavailable, "no node has it"});
  if (!wish.from.empty()) fetched = co_await ask_fetch(transfer.to, std::move(wish));
  if (fetched && !stopping_) {
    repair_bytes().add(fetched->arrived);
    SAMOVAR_FAILPOINT("repair.commit.before");
    std::vector<cluster::CopyChange> changes(1);
    changes[0].key = transfer.key;
    changes[0].node_id = transfer.to;
    auto committed = co_await world_.change_copies(std::move(changes));
    SAMOVAR_FAILPOINT("repair.commit.after");
    if (!committed)
      SAMOVAR_LOG(info, jobs, "a copy is not recorded yet", kv("file", transfer.key), kv("node", transfer.to),
                  kv("error", committed.error().message()));
  } else if (!fetched) {
    put_off_[name] = loop_.clock().mono() + kPutOff;
    SAMOVAR_LOG(info, jobs, "a copy was not made yet", kv("file", transfer.key), kv("node", transfer.to),
                kv("error", fetched.error().message()));
  }
  moving_.erase(name);
  // The next one at once when all is well; else at the next turn of the clock.
  if (fetched) changed();
  dirty_ = true;
}

Task<void> Replicas::forget(std::vector<cluster::Removal> removals) {
  std::vector<cluster::CopyChange> changes;
  for (const auto& removal : removals) {
    cluster::CopyChange& change = changes.emplace_back();
    change.key = removal.key;
    change.node_id = removal.node;
    change.there = false;
    // Between the plan and the command another copy may have gone.
    if (const auto file = world_.file(removal.key)) change.others_min = std::max(1u, file->wanted);
  }
  auto committed = co_await world_.change_copies(std::move(changes));
  for (const auto& removal : removals) forgetting_.erase(fmt::format("{}>{}", removal.key, removal.node));
  if (committed) changed();
  dirty_ = true;
}

Task<Result<std::vector<bool>>> Replicas::ask_what_is_there(std::string node,
                                                            std::vector<BlobCheck::File> files) {
  BlobCheck check;
  const std::size_t asked = files.size();
  check.files = std::move(files);
  net::AskOptions how;
  how.deadline = std::chrono::seconds(30);
  auto answer = co_await exchange_->ask(std::move(node), net::Topic::blob_check, encode(check), how);
  if (!answer) co_return std::move(answer).error();
  auto checked = decode_blob_checked(*answer);
  if (!checked) co_return std::move(checked).error();
  if (checked->there.size() != asked)
    co_return Error{Errc::corrupt, "a node answered for other files than it was asked for"};
  co_return std::move(checked->there);
}

// What a node that came back does not have any more is not its any more; only that is fetched. A new leader
// looks at its own files as well: nobody else asks it.
Task<void> Replicas::check_node(std::string node) {
  std::vector<BlobCheck::File> all;
  for (const auto& file : world_.files())
    if (std::find(file.holders.begin(), file.holders.end(), node) != file.holders.end())
      all.push_back({file.key, file.bytes});
  for (std::size_t at = 0; at < all.size() && !stopping_ && world_.leads(); at += kChecksAtOnce) {
    const std::vector<BlobCheck::File> files(
        all.begin() + static_cast<std::ptrdiff_t>(at),
        all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), at + kChecksAtOnce)));
    Result<std::vector<bool>> there = std::vector<bool>();
    if (node == options_.node_id) {
      there = co_await look(files);
    } else {
      there = co_await ask_what_is_there(node, files);
    }
    if (stopping_) co_return;
    if (!there) {
      seen_.erase(node);  // asked again at the next look
      dirty_ = true;
      co_return;
    }
    std::vector<cluster::CopyChange> gone;
    for (std::size_t i = 0; i < files.size(); ++i)
      if (!(*there)[i]) {
        cluster::CopyChange& change = gone.emplace_back();
        change.key = files[i].key;
        change.node_id = node;
        change.there = false;
      }
    if (gone.empty()) continue;
    SAMOVAR_LOG(warn, jobs, "a node does not have files any more that it had", kv("node", node),
                kv("files", gone.size()));
    auto committed = co_await world_.change_copies(std::move(gone));
    if (committed) changed();
  }
}

}  // namespace samovar::jobs
