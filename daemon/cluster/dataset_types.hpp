// Data sets in the replicated state: what exists, who may see it, where its pieces lie. Plain values.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/clock.hpp"

namespace samovar::cluster {

struct Dataset {
  std::string id;    // "dst_…"
  std::string name;  // unique among those not in the bin, without case
  std::string description;
  std::string owner_id;
  WallTime created_at;
  std::uint32_t version = 1;             // the latest
  std::optional<WallTime> binned_at;     // in the bin since
  std::vector<std::string> granted_ids;  // users who may use it beside the owner, sorted
  unsigned copies = 0;                   // of each of its files; 0: as many as the box keeps by default
  bool has_source = true;
  std::uint64_t source_bytes = 0;
  std::uint64_t revision = 0;  // the ETag
};

struct ShardRecord {
  std::uint32_t number = 0;
  std::uint64_t rows = 0;
  std::uint32_t blocks = 0;
  std::uint64_t plain_bytes = 0;
  std::uint64_t stored_bytes = 0;
  Bytes hash;                         // 32 bytes, of the file as it lies on the disk
  std::vector<std::string> node_ids;  // where copies lie, sorted
  bool damaged = false;               // found by a read or a scrub; not served
};

// A sealed file of a version beside its shards.
struct ObjectRecord {
  std::string name;  // "profile", "bad-rows"
  std::uint64_t stored_bytes = 0;
  Bytes hash;
  std::vector<std::string> node_ids = {};  // where copies lie, sorted; empty in a manifest: on this node
};

// A copy that is durable on a node now, or is no more. The key is StoredFile's.
struct CopyChange {
  std::string key;
  std::string node_id;
  bool there = true;
  // Gives a copy up only while so many others have one: what is no fact yet, but a wish to make room.
  unsigned others_min = 0;
  // Of a file whose size and hash nobody recorded (a source of an earlier version): what was found.
  std::uint64_t bytes = 0;
  Bytes hash = {};
};

struct DatasetVersion {
  std::string dataset_id;
  std::uint32_t version = 1;
  WallTime created_at;
  std::string created_by;
  std::string schema_json;   // trainer/data/schema.hpp
  std::string options_json;  // daemon/ingest/options.hpp: how it was read
  std::uint64_t rows = 0;
  std::uint64_t bad_rows = 0;
  std::uint64_t seed = 0;
  std::string source_name;    // the uploaded file's name
  std::string source_sha256;  // hex
  std::uint64_t source_bytes = 0;
  std::vector<std::string> notes;
  Bytes wrapped_key;     // the version's data key under the wrap key; empty once destroyed
  Bytes key_commitment;  // of the data key, as in the heads of its files; for the certificate of destruction
  std::vector<ShardRecord> shards;
  std::vector<ObjectRecord> objects;
};

// A version without its manifest: what lists show.
struct VersionSummary {
  std::uint32_t version = 1;
  WallTime created_at;
  std::string created_by;
  std::uint64_t rows = 0;
  std::uint64_t bad_rows = 0;
  std::uint32_t columns = 0;
  std::uint32_t shards = 0;
  std::uint32_t shards_damaged = 0;
  std::uint64_t plain_bytes = 0;
  std::uint64_t stored_bytes = 0;  // shards and objects
};

struct VersionRef {
  std::string dataset_id;
  std::uint32_t version = 1;
};

// The manifest: one command. version.version is given by the state, 1 for a new data set; for a new version a
// number above 1 says which one the caller means, and another one is a conflict. created_at is the state's,
// too.
struct NewDataset {
  Dataset dataset;  // id, name, description, owner_id; for a new version only id
  DatasetVersion version;
  Bytes wrapped_source_key;  // empty for a new version
  // The kept upload as it lies on the disk, key "<dst_…>/source"; without a name for a new version.
  ObjectRecord source;
  std::string operation_id;  // ended as done by the same command
};

struct DatasetChange {
  std::optional<std::string> name;
  std::optional<std::string> description;
  std::optional<std::string> owner_id;  // hands it over; the owner before keeps no right
  std::optional<unsigned> copies = {};  // 0 to kCopiesMax
};

struct DatasetFilter {
  bool bin = false;                    // those in the bin, or those that are not
  std::string text;                    // in the name or the description, in any case
  std::optional<std::string> user_id;  // only what this user owns or was granted
};

struct ShardMark {
  std::string dataset_id;
  std::uint32_t version = 1;
  std::uint32_t shard = 0;
  bool damaged = true;
};

// Work that was accepted and must survive a restart of the daemon.
struct OperationRecord {
  std::string id;  // "op_…"
  std::string kind;
  std::string owner_id;
  std::string title;
  std::string node_id;    // who carries it out
  std::string spec_json;  // the service's own words
  std::string state;      // queued, done, failed, cancelled
  std::string dataset_id;
  std::uint32_t version = 0;
  std::string error;
  WallTime created_at;
  std::optional<WallTime> ended_at;
};

struct OperationEnd {
  std::string id;
  std::string state;  // done, failed, cancelled
  std::string error;  // a sentence, when failed
};

// A manifest is one command, and a command has at most 1 MiB: these bounds fit it together. Whoever makes a
// manifest asks before the work is done, not after.
inline constexpr std::size_t kSchemaBytesMax = 640u * 1024;  // of schema_json
inline constexpr std::size_t kShardsMax = 2048;              // of a version: 128 GiB at 64 MiB each
inline constexpr std::uint32_t kVersionsMax = 200;           // of a data set
inline constexpr unsigned kCopiesMax = 7;                    // of a file
inline constexpr std::size_t kCopyChangesMax = 2048;         // of one command
inline constexpr std::size_t kDatasetNameBytesMax = 128;
inline constexpr std::size_t kDescriptionBytesMax = 4096;
inline constexpr std::chrono::hours kBinKept{24 * 30};       // then it is destroyed
inline constexpr std::chrono::hours kOperationKept{24 * 7};  // after its end

}  // namespace samovar::cluster
