// copies.change: where sealed files lie, after the fact. Not recorded: it is housekeeping, and there is much
// of it.
#include <algorithm>
#include <set>
#include <string>

#include "daemon/cluster/context.hpp"
#include "daemon/cluster/copies.hpp"
#include "daemon/cluster/dataset_types.hpp"
#include "daemon/cluster/rows.hpp"

namespace samovar::cluster {
namespace {

constexpr std::size_t kKeyBytesMax = 192;
constexpr std::size_t kHashBytes = 32;

Result<CopyChange> read_change(const Fields& from) {
  CopyChange change;
  SAMOVAR_TRY(change.key, from.text("key", kKeyBytesMax, 1));
  SAMOVAR_TRY(change.node_id, from.text("node", 64, 1));
  SAMOVAR_TRY(change.there, from.flag("there"));
  if (from.has("others_min")) {
    SAMOVAR_TRY(const std::int64_t others, from.number("others_min", 0, kCopiesMax));
    change.others_min = static_cast<unsigned>(others);
  }
  if (from.has("hash")) {
    SAMOVAR_TRY(change.hash, from.bytes("hash", kHashBytes, kHashBytes));
    SAMOVAR_TRY(const std::int64_t bytes, from.number("bytes", 0, INT64_MAX));
    change.bytes = static_cast<std::uint64_t>(bytes);
  }
  return change;
}

// True when something changed. What is gone meanwhile is passed over: a file, a member.
bool apply_change(Db& db, const CopyChange& change, const std::set<std::string>& members) {
  if (!members.contains(change.node_id)) return false;
  const auto file = find_file(db, change.key);
  if (!file) return false;
  if (!change.there) {
    const auto holders = holders_of(db, change.key);
    const bool held = std::find(holders.begin(), holders.end(), change.node_id) != holders.end();
    if (!held || holders.size() < change.others_min + std::size_t{1}) return false;
    return drop_holder(db, change.key, change.node_id);
  }
  const bool learnt = file->hash.empty() && !change.hash.empty();
  if (learnt) record_file(db, change.key, change.bytes, change.hash);
  return add_holder(db, change.key, change.node_id) || learnt;
}

}  // namespace

Result<Fields> apply_copies_change(Context& context) {
  SAMOVAR_TRY(const auto changes, context.body.objects("changes", kCopyChangesMax));
  std::set<std::string> members;
  for (const NodeRecord& node : read_nodes(context.db))
    if (node.state != NodeState::removed) members.insert(node.id);
  std::set<std::string> datasets;
  std::set<std::string> jobs;
  bool models = false;
  for (const Fields& one : changes) {
    SAMOVAR_TRY(const CopyChange change, read_change(one));
    if (!apply_change(context.db, change, members)) continue;
    const std::string dataset = dataset_of_key(change.key);
    if (!dataset.empty())
      datasets.insert(dataset);
    else if (change.key.starts_with("job_"))
      jobs.insert(change.key.substr(0, change.key.find('/')));
    else
      models = true;
  }
  for (const std::string& id : datasets) context.changed(Change::Kind::datasets, id);
  for (const std::string& id : jobs) context.changed(Change::Kind::jobs, id);
  if (models) context.changed(Change::Kind::models);
  return Fields();
}

}  // namespace samovar::cluster
