#include "daemon/api/views_datasets.hpp"

#include <algorithm>
#include <map>

#include "base/encoding.hpp"
#include "base/ids.hpp"
#include "base/json.hpp"
#include "daemon/api/members.hpp"
#include "daemon/cluster/dataset_rights.hpp"

namespace samovar::api {
namespace {

std::string username_of(Services& services, const std::string& user_id) {
  const auto user = services.cluster().user(user_id);
  return user ? user->username : std::string();
}

View granted_view(Services& services, const cluster::Actor& actor, const cluster::Dataset& dataset) {
  const bool all = cluster::may_manage(actor, dataset) || actor.role == cluster::Role::auditor;
  View granted = View::array();
  for (const std::string& id : dataset.granted_ids)
    if (all || id == actor.user_id)
      granted.push_back({{"user_id", id}, {"username", username_of(services, id)}});
  return granted;
}

// Documents of the state: written by us, so what does not parse is shown as nothing.
View document_of(const std::string& json) {
  View value = View::parse(json, nullptr, false);
  return value.is_discarded() ? View(nullptr) : value;
}

View versions_view(Services& services, const std::string& dataset_id) {
  View versions = View::array();
  for (const auto& version : services.cluster().dataset_versions(dataset_id))
    versions.push_back({{"version", version.version},
                        {"created_at", format_time(version.created_at)},
                        {"created_by", version.created_by},
                        {"rows", version.rows}});
  return versions;
}

struct FormatRow {
  const char* id;
  const char* name;
  const char* extensions;  // separated by spaces
  const char* notes;
  bool supported;
};

constexpr FormatRow kFormats[] = {
    {"csv", "CSV", ".csv .txt",
     "Comma, semicolon, tab, bar or blanks between cells; with or without a header; quoted cells may hold "
     "line "
     "breaks. Found by itself, and can be corrected.",
     true},
    {"tsv", "Tab-separated", ".tsv .tab",
     "As CSV, with tabs. Also without a header, as Criteo's click logs are.", true},
    {"libsvm", "libsvm / svmlight", ".libsvm .svm .svmlight", "A label, then index:value pairs.", true},
    {"arff", "ARFF", ".arff", "Weka's format, also its sparse form.", true},
    {"jsonl", "JSON lines", ".jsonl .ndjson", "One object a line; members of nested objects become columns.",
     true},
    {"pairs", "Parallel text", ".txt .tsv", "Two texts a line, with a tab between them.", true},
    {"gzip", "gzip of these", ".gz", "Any of the above, packed.", true},
    {"zstd", "Zstandard of these", ".zst", "Any of the above, packed.", true},
    {"xz", "xz of these", ".xz", "Any of the above, packed.", true},
    {"zip", "zip of these", ".zip", "Any of the above, packed; one file in the archive.", true},
    {"parquet", "Parquet", ".parquet", "Not read: convert it to CSV first.", false},
    {"excel", "Excel", ".xlsx .xls", "Not read: save it as CSV first.", false},
};

}  // namespace

View dataset_view(Services& services, const cluster::Actor& actor, const cluster::Dataset& dataset) {
  const auto summary = services.cluster().version_summary(dataset.id).value_or(cluster::VersionSummary{});
  std::optional<WallTime> purge_at;
  if (dataset.binned_at) purge_at = *dataset.binned_at + cluster::kBinKept;
  return {{"id", dataset.id},
          {"name", dataset.name},
          {"description", dataset.description},
          {"owner_id", dataset.owner_id},
          {"owner", username_of(services, dataset.owner_id)},
          {"created_at", format_time(dataset.created_at)},
          {"version", dataset.version},
          {"rows", summary.rows},
          {"bad_rows", summary.bad_rows},
          {"columns", summary.columns},
          {"stored_bytes", summary.stored_bytes},
          {"source_bytes", dataset.source_bytes},
          {"binned_at", time_view(dataset.binned_at)},
          {"purge_at", time_view(purge_at)},
          {"granted", granted_view(services, actor, dataset)},
          {"copies", dataset.copies},
          {"may_read_rows", cluster::may_read_rows(actor, dataset)},
          {"damaged", summary.shards_damaged > 0},
          {"revision", dataset.revision}};
}

View columns_view(const cluster::DatasetVersion& version) {
  const View schema = document_of(version.schema_json);
  View columns = View::array();
  if (!schema.is_object() || !schema.contains("columns")) return columns;
  for (const View& column : schema["columns"])
    columns.push_back({{"name", column.value("name", "")},
                       {"type", column.value("type", "")},
                       {"sensitive", column.value("sensitive", false)}});
  return columns;
}

View dataset_detail_view(Services& services, const cluster::Actor& actor, const cluster::Dataset& dataset) {
  const auto version = services.cluster().dataset_version(dataset.id).value_or(cluster::DatasetVersion{});
  View view = dataset_view(services, actor, dataset);
  view["schema"] = {{"columns", columns_view(version)}};
  view["options"] = document_of(version.options_json);
  view["notes"] = version.notes;
  view["source"] = {{"file_name", version.source_name},
                    {"sha256", version.source_sha256},
                    {"bytes", version.source_bytes},
                    {"kept", dataset.has_source}};
  view["versions"] = versions_view(services, dataset.id);
  view["shards"] = version.shards.size();
  return view;
}

namespace {

struct Holder {
  std::string name;
  const char* state = "unreachable";
};

std::map<std::string, Holder> holders_of(Services& services) {
  std::map<std::string, Holder> holders;
  for (const auto& node : services.cluster().nodes()) {
    const bool here = node.id == services.node.facts().id || services.members().contact(node.id).reachable;
    const bool draining = node.state == cluster::NodeState::draining;
    holders[node.id] = {node.name, !here ? "unreachable" : draining ? "draining" : "up"};
  }
  // A box that is alone may have no row yet.
  holders.try_emplace(services.node.facts().id, Holder{services.node.facts().hostname, "up"});
  return holders;
}

// What was asked for, as far as there are nodes for it.
std::size_t copies_wanted(Services& services, const std::string& dataset_id) {
  const auto rows = services.cluster().nodes();
  const auto storage = static_cast<std::size_t>(std::count_if(
      rows.begin(), rows.end(), [](const auto& row) { return row.state == cluster::NodeState::active; }));
  const auto dataset = services.cluster().dataset(dataset_id);
  const std::size_t asked = dataset ? dataset->copies : 0;
  return asked > 0 ? asked : cluster::default_copies(std::max<std::size_t>(1, storage));
}

}  // namespace

View shards_view(Services& services, const cluster::DatasetVersion& version) {
  const auto holders = holders_of(services);
  View items = View::array();
  std::size_t copies = version.shards.empty() ? 0 : SIZE_MAX;
  std::size_t reachable = copies;
  for (const auto& shard : version.shards) {
    View nodes = View::array();
    std::size_t here = 0;
    for (const auto& id : shard.node_ids) {
      const auto known = holders.find(id);
      const Holder holder = known != holders.end() ? known->second : Holder{};
      nodes.push_back({{"id", id}, {"name", holder.name}, {"state", holder.state}});
      if (holder.state != std::string_view("unreachable")) ++here;
    }
    reachable = std::min(reachable, shard.damaged ? 0 : here);
    items.push_back({{"number", shard.number},
                     {"rows", shard.rows},
                     {"blocks", shard.blocks},
                     {"stored_bytes", shard.stored_bytes},
                     {"hash", hex_encode(shard.hash)},
                     {"nodes", nodes},
                     {"damaged", shard.damaged}});
    copies = std::min(copies, shard.damaged ? 0 : shard.node_ids.size());
  }
  return {{"items", items},
          {"copies", copies},
          {"tolerates", copies > 0 ? copies - 1 : 0},
          {"copies_wanted", copies_wanted(services, version.dataset_id)},
          {"copies_now", reachable},
          {"may_lose", reachable > 0 ? reachable - 1 : 0}};
}

View formats_view() {
  View items = View::array();
  for (const FormatRow& row : kFormats) {
    View extensions = View::array();
    const std::string list = row.extensions;
    for (std::size_t at = 0; at < list.size();) {
      const std::size_t end = std::min(list.find(' ', at), list.size());
      extensions.push_back(list.substr(at, end - at));
      at = end + 1;
    }
    items.push_back({{"id", row.id},
                     {"name", row.name},
                     {"extensions", extensions},
                     {"notes", row.notes},
                     {"supported", row.supported}});
  }
  return page_view(std::move(items), "");
}

}  // namespace samovar::api
