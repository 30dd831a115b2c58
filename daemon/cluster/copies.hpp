// Who holds which sealed file, as rows: keys, holders, what is known of each file.
//
// A key is a place below the data folder: "dst_….1/0" and "dst_….1/profile" of a version, "dst_…/source" of
// the upload it was made of, "mdl_…/model" and "mdl_…/evaluation" of a model's version,
// "job_…/checkpoint-120" of a training.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "daemon/cluster/fields.hpp"
#include "daemon/cluster/placement.hpp"
#include "daemon/cluster/sqlite.hpp"

namespace samovar::cluster {

std::string shard_key(std::string_view dataset_id, std::uint32_t version, std::uint32_t number);
std::string object_key(std::string_view dataset_id, std::uint32_t version, std::string_view name);
std::string source_key(std::string_view dataset_id);
// Of the name that a version's evaluation is kept under, "mdl_…/evaluation"; empty when it has no folder.
std::string model_file_key(std::string_view evaluation_name);
bool is_model_folder(std::string_view evaluation_name);
// The data set a key belongs to; empty for a model's or a job's.
std::string dataset_of_key(std::string_view key);

// Sorted.
std::vector<std::string> holders_of(Db& db, std::string_view key);
// Of all keys that begin with this.
std::map<std::string, std::vector<std::string>> holders_below(Db& db, std::string_view prefix);
void add_holders(Db& db, std::string_view key, const std::vector<std::string>& node_ids);
// True when something changed.
bool add_holder(Db& db, std::string_view key, std::string_view node_id);
bool drop_holder(Db& db, std::string_view key, std::string_view node_id);
// With their sizes and hashes. `prefix` ends where a folder's name does: "dst_…." or "dst_…/".
void forget_files(Db& db, std::string_view prefix);
void forget_file(Db& db, std::string_view key);
// A manifest may name a node that was removed while it was made.
void forget_holders_removed(Db& db);
// Where a command asks for it ("must_be_held"): Errc::conflict when nobody holds one of these any more.
Result<void> check_held(const Fields& body, Db& db, const std::vector<std::string>& keys);
void record_file(Db& db, std::string_view key, std::uint64_t bytes, const Bytes& hash);

// By key. Those of data sets in the bin, too.
std::vector<StoredFile> list_stored_files(Db& db);
std::optional<StoredFile> find_stored_file(Db& db, std::string_view key);
// Its size and hash only.
std::optional<StoredFile> find_file(Db& db, std::string_view key);

// The one node of a box that was alone when commands did not say where files lie; empty when it has no row.
std::string only_node(Db& db);
// Fills `copies` and `carriers` from what a box of that time knew.
void adopt_single_copies(Db& db);

std::vector<std::string> words_of(const std::string& text);
std::string join_words(const std::vector<std::string>& words);

}  // namespace samovar::cluster
