#include "daemon/cluster/copies.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "daemon/cluster/rows.hpp"

namespace samovar::cluster {
namespace {

constexpr std::string_view kJobs = "job_";
constexpr std::string_view kSource = "/source";
constexpr std::string_view kModel = "/model";
constexpr std::string_view kEvaluation = "/evaluation";

// key, stored bytes, hash, data set
constexpr std::string_view kAllFiles =
    "SELECT dataset_id || '.' || version || '/' || number AS key, stored_bytes, hash, dataset_id FROM shards "
    "UNION ALL SELECT dataset_id || '.' || version || '/' || name, stored_bytes, hash, dataset_id FROM "
    "dataset_objects "
    "UNION ALL SELECT k.dataset_id || '/source', coalesce(f.stored_bytes, 0), coalesce(f.hash, x''), "
    "k.dataset_id FROM dataset_keys k LEFT JOIN files f ON f.key = k.dataset_id || '/source' WHERE k.version "
    "= 0 "
    "UNION ALL SELECT substr(evaluation_name, 1, length(evaluation_name) - 10) || 'model', stored_bytes, "
    "hash, '' FROM model_versions WHERE evaluation_name LIKE '%_/evaluation' "
    "UNION ALL SELECT v.evaluation_name, coalesce(f.stored_bytes, 0), v.evaluation_hash, '' FROM "
    "model_versions v LEFT JOIN files f ON f.key = v.evaluation_name WHERE v.evaluation_name LIKE "
    "'%_/evaluation' "
    "UNION ALL SELECT key, stored_bytes, hash, '' FROM files WHERE key >= 'job_' AND key < 'job`' "
    "ORDER BY key";

// The first text behind all that begin with this one.
std::string end_of(std::string_view prefix) {
  std::string end(prefix);
  end.back() = static_cast<char>(end.back() + 1);
  return end;
}

class Wanted {
 public:
  explicit Wanted(Db& db) {
    std::size_t active = 0;
    for (const NodeRecord& node : read_nodes(db)) active += node.state == NodeState::active ? 1 : 0;
    by_default_ = default_copies(std::max<std::size_t>(active, 1));
    for (Query row(db, "SELECT dataset_id, copies FROM dataset_copies"); row.next();)
      chosen_[row.text(0)] = static_cast<unsigned>(row.number(1));
  }
  unsigned of(const std::string& dataset_id) const {
    const auto found = chosen_.find(dataset_id);
    return found == chosen_.end() ? by_default_ : found->second;
  }

 private:
  unsigned by_default_ = 1;
  std::map<std::string, unsigned> chosen_;
};

std::optional<StoredFile> read_file(Query& row, std::string_view key) {
  if (!row.next()) return std::nullopt;
  StoredFile file;
  file.key = key;
  file.bytes = static_cast<std::uint64_t>(row.number(0));
  file.hash = row.bytes(1);
  return file;
}

// "dst_….3/name"
std::optional<StoredFile> find_version_file(Db& db, std::string_view key, std::size_t slash) {
  const std::string_view folder = key.substr(0, slash);
  const std::string_view name = key.substr(slash + 1);
  const std::size_t dot = folder.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view id = folder.substr(0, dot);
  const auto number_of = [](std::string_view text) -> std::optional<std::uint32_t> {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || std::to_string(value) != text)
      return std::nullopt;
    return value;
  };
  const auto version = number_of(folder.substr(dot + 1));
  if (!version) return std::nullopt;
  if (const auto number = number_of(name)) {
    Query row(db, "SELECT stored_bytes, hash FROM shards WHERE dataset_id = ? AND version = ? AND number = ?",
              id, *version, *number);
    return read_file(row, key);
  }
  Query row(
      db, "SELECT stored_bytes, hash FROM dataset_objects WHERE dataset_id = ? AND version = ? AND name = ?",
      id, *version, name);
  return read_file(row, key);
}

}  // namespace

std::optional<StoredFile> find_file(Db& db, std::string_view key) {
  if (key.ends_with(kEvaluation)) {
    Query row(
        db,
        "SELECT coalesce(f.stored_bytes, 0), v.evaluation_hash FROM model_versions v LEFT JOIN files f ON "
        "f.key = v.evaluation_name WHERE v.evaluation_name = ?",
        key);
    if (auto file = read_file(row, key)) return file;
  }
  if (key.ends_with(kModel)) {
    const std::string evaluation =
        std::string(key.substr(0, key.size() - kModel.size())) + std::string(kEvaluation);
    Query row(db, "SELECT stored_bytes, hash FROM model_versions WHERE evaluation_name = ?", evaluation);
    if (auto file = read_file(row, key)) return file;
  }
  const std::size_t slash = key.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  if (key.starts_with(kJobs)) {
    Query row(db, "SELECT stored_bytes, hash FROM files WHERE key = ?", key);
    return read_file(row, key);
  }
  if (key.substr(slash) == kSource) {
    Query row(
        db,
        "SELECT coalesce(f.stored_bytes, 0), coalesce(f.hash, x'') FROM dataset_keys k LEFT JOIN files f "
        "ON f.key = ?2 WHERE k.dataset_id = ?1 AND k.version = 0",
        key.substr(0, slash), key);
    return read_file(row, key);
  }
  return find_version_file(db, key, slash);
}

std::string shard_key(std::string_view dataset_id, std::uint32_t version, std::uint32_t number) {
  return fmt::format("{}.{}/{}", dataset_id, version, number);
}

std::string object_key(std::string_view dataset_id, std::uint32_t version, std::string_view name) {
  return fmt::format("{}.{}/{}", dataset_id, version, name);
}

std::string source_key(std::string_view dataset_id) { return std::string(dataset_id) + std::string(kSource); }

bool is_model_folder(std::string_view evaluation_name) {
  return evaluation_name.size() > kEvaluation.size() && evaluation_name.ends_with(kEvaluation);
}

std::string model_file_key(std::string_view evaluation_name) {
  if (!is_model_folder(evaluation_name)) return {};
  return std::string(evaluation_name.substr(0, evaluation_name.size() - kEvaluation.size())) +
         std::string(kModel);
}

std::string dataset_of_key(std::string_view key) {
  const std::size_t end = std::min(key.find('.'), key.find('/'));
  if (end == std::string_view::npos || key.ends_with(kModel) || key.ends_with(kEvaluation) ||
      key.starts_with(kJobs))
    return {};
  return std::string(key.substr(0, end));
}

std::vector<std::string> holders_of(Db& db, std::string_view key) {
  std::vector<std::string> ids;
  for (Query row(db, "SELECT node_id FROM copies WHERE key = ? ORDER BY node_id", key); row.next();)
    ids.push_back(row.text(0));
  return ids;
}

std::map<std::string, std::vector<std::string>> holders_below(Db& db, std::string_view prefix) {
  std::map<std::string, std::vector<std::string>> holders;
  for (Query row(db, "SELECT key, node_id FROM copies WHERE key >= ? AND key < ? ORDER BY key, node_id",
                 prefix, end_of(prefix));
       row.next();)
    holders[row.text(0)].push_back(row.text(1));
  return holders;
}

bool add_holder(Db& db, std::string_view key, std::string_view node_id) {
  run(db, "INSERT OR IGNORE INTO copies VALUES (?, ?)", key, node_id);
  return db.changes() > 0;
}

bool drop_holder(Db& db, std::string_view key, std::string_view node_id) {
  run(db, "DELETE FROM copies WHERE key = ? AND node_id = ?", key, node_id);
  return db.changes() > 0;
}

void add_holders(Db& db, std::string_view key, const std::vector<std::string>& node_ids) {
  for (const std::string& id : node_ids) add_holder(db, key, id);
}

void forget_files(Db& db, std::string_view prefix) {
  run(db, "DELETE FROM copies WHERE key >= ? AND key < ?", prefix, end_of(prefix));
  run(db, "DELETE FROM files WHERE key >= ? AND key < ?", prefix, end_of(prefix));
}

void forget_file(Db& db, std::string_view key) {
  run(db, "DELETE FROM copies WHERE key = ?", key);
  run(db, "DELETE FROM files WHERE key = ?", key);
}

void forget_holders_removed(Db& db) {
  run(db, "DELETE FROM copies WHERE node_id IN (SELECT node_id FROM members WHERE state = 'removed')");
}

Result<void> check_held(const Fields& body, Db& db, const std::vector<std::string>& keys) {
  if (!body.has("must_be_held")) return {};
  for (const std::string& key : keys)
    if (holders_of(db, key).empty())
      return Error{Errc::conflict,
                   "the node that held the only copy of a part of it was removed meanwhile: start it again"};
  return {};
}

void record_file(Db& db, std::string_view key, std::uint64_t bytes, const Bytes& hash) {
  run(db, "INSERT OR REPLACE INTO files VALUES (?, ?, ?)", key, bytes, hash);
}

std::vector<StoredFile> list_stored_files(Db& db) {
  const Wanted wanted(db);
  std::vector<StoredFile> files;
  // Both in the order of their keys: one walk over each.
  Query copy(db, "SELECT key, node_id FROM copies ORDER BY key, node_id");
  bool more = copy.next();
  for (Query row(db, kAllFiles); row.next();) {
    StoredFile file;
    file.key = row.text(0);
    file.bytes = static_cast<std::uint64_t>(row.number(1));
    file.hash = row.bytes(2);
    file.wanted = wanted.of(row.text(3));
    while (more && copy.text(0) < file.key) more = copy.next();
    for (; more && copy.text(0) == file.key; more = copy.next()) file.holders.push_back(copy.text(1));
    files.push_back(std::move(file));
  }
  return files;
}

std::optional<StoredFile> find_stored_file(Db& db, std::string_view key) {
  auto file = find_file(db, key);
  if (!file) return std::nullopt;
  file->holders = holders_of(db, key);
  file->wanted = Wanted(db).of(dataset_of_key(key));
  return file;
}

std::string only_node(Db& db) {
  Query row(db, "SELECT id FROM nodes ORDER BY joined_us, id LIMIT 1");
  return row.next() ? row.text(0) : std::string();
}

void adopt_single_copies(Db& db) {
  const std::string node = only_node(db);
  for (Query row(db, "SELECT dataset_id, version, number, nodes FROM shards"); row.next();)
    add_holders(db,
                shard_key(row.text(0), static_cast<std::uint32_t>(row.number(1)),
                          static_cast<std::uint32_t>(row.number(2))),
                words_of(row.text(3)));
  run(db, "UPDATE shards SET nodes = ''");
  if (node.empty()) return;
  for (const char* sql :
       {"INSERT INTO copies SELECT dataset_id || '.' || version || '/' || name, ? FROM dataset_objects",
        "INSERT INTO copies SELECT dataset_id || '/source', ? FROM dataset_keys WHERE version = 0",
        "INSERT INTO copies SELECT substr(evaluation_name, 1, length(evaluation_name) - 10) || 'model', ? "
        "FROM "
        "model_versions WHERE evaluation_name LIKE '%_/evaluation'",
        "INSERT INTO copies SELECT evaluation_name, ? FROM model_versions WHERE evaluation_name LIKE "
        "'%_/evaluation'",
        "INSERT INTO carriers SELECT id, ? FROM operations", "INSERT INTO carriers SELECT id, ? FROM jobs"})
    run(db, sql, node);
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

std::string join_words(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace samovar::cluster
