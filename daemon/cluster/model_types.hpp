// Training jobs and models in the replicated state: what was asked for, what came of it. Plain values.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"
#include "daemon/cluster/dataset_types.hpp"

namespace samovar::cluster {

// A job as it was accepted, and how it stands when nobody works on it. Progress is not here.
struct JobRecord {
  std::string id;    // "job_…"
  std::string kind;  // "glm"
  std::string name;  // of the model it makes
  std::string owner_id;
  std::string node_id;  // who carries it out
  std::string dataset_id;
  std::uint32_t dataset_version = 1;
  std::string spec_json;  // trainer/spec.hpp
  std::string state;      // queued, paused, done, failed, cancelled; a running one is queued here
  std::string error;      // a sentence, when failed
  unsigned attempt = 1;   // a retry counts on
  std::string model_name;
  std::uint32_t model_version = 0;  // once done
  std::string summary_json;         // seconds, joules, passes, best metric; when it ended
  bool protect = false;             // not to be deleted
  int priority = 0;                 // of those that wait, the highest begins first
  WallTime created_at;
  std::optional<WallTime> ended_at;
  // The last checkpoint that was acknowledged: a sealed file of the store.
  std::uint64_t checkpoint_step = 0;  // 0: none
  Bytes checkpoint_hash;
  std::string checkpoint_name;  // its key is "<id>/<name>"; empty: it lies only where it was made
  Bytes wrapped_key;  // of checkpoints and of the model that comes of it; empty once that was destroyed
  // How it is carried out now. A run begins when workers do; an epoch whenever who works, or on what,
  // changes.
  std::uint64_t run = 0;
  std::uint64_t epoch = 0;
  std::string plan_json;  // daemon/jobs/scheduler.hpp; empty: not planned yet
  std::uint64_t revision = 0;
};

// The plan of an epoch. Refused when another node carries the job out, or a later one is known.
struct JobPlan {
  std::string id;
  std::string node_id;  // who supervises it
  std::uint64_t run = 0;
  std::uint64_t epoch = 0;
  std::string plan_json;
};

// The node that carried it out is away: another one goes on from the last checkpoint.
struct JobTake {
  std::string id;
  std::string from;  // nothing happens when somebody else has it by now
  std::string node_id;
};

struct JobEnd {
  std::string id;
  std::string state;  // paused, failed, cancelled, queued (resumed or retried); done comes with the model
  std::string error;
  std::string summary_json;
  // With queued: who carries it out from now on; empty: as before. Another node begins without the
  // checkpoint.
  std::string node_id = {};
};

// The last one that is acknowledged; step 0 with an empty hash forgets it.
struct JobCheckpoint {
  std::string id;
  std::uint64_t step = 0;
  Bytes hash;
  // A stored file with copies, "<id>/<name>"; without a name it lies only where it was made.
  std::string name = {};
  std::uint64_t bytes = 0;
  std::vector<std::string> holders = {};
  std::uint64_t run = 0;  // one of an earlier run is refused
};

struct JobFilter {
  std::string state;                   // empty: any
  std::optional<std::string> user_id;  // only what this user owns, and what made a model they were granted
};

// What the files of jobs and models belong to: all that has a record.
struct JobRef {
  std::string id;
  std::uint64_t checkpoint_step = 0;
  Bytes checkpoint_hash;
};

struct ModelRef {
  std::string model;
  std::uint32_t version = 1;
  std::string job_id;
  Bytes hash;
  std::string evaluation_name;
  Bytes evaluation_hash;
};

struct Model {
  std::string name;  // unique without case; part of addresses: letters, digits, . _ -
  std::string description;
  std::string kind;
  std::string owner_id;
  std::vector<std::string> granted_ids;  // users who may use it beside the owner, sorted
  std::uint32_t version = 1;             // the latest
  std::uint32_t serving = 0;             // the version in production; 0: none
  std::uint32_t served_before = 0;       // where a rollback goes
  WallTime created_at;
  std::uint64_t revision = 0;
};

enum class ModelStage : std::uint8_t { candidate, production, archived };
std::string_view to_string(ModelStage stage) noexcept;

// Immutable but for stage and protect.
struct ModelVersion {
  std::string model;
  std::uint32_t version = 1;
  ModelStage stage = ModelStage::candidate;
  bool protect = false;
  WallTime created_at;
  std::string created_by;
  std::string job_id;  // empty: imported
  std::string dataset_id;
  std::uint32_t dataset_version = 0;
  std::string dataset_hash;        // hex, over the hashes of its shards
  std::string code_version;        // of the program that made it
  std::string spec_json;           // what was asked for
  std::string signature_json;      // {"inputs":[{name,type,levels?}…],"target":…,"outputs":…}
  std::string headline_json;       // {"auc":0.74,…}: what lists show
  std::uint64_t stored_bytes = 0;  // of the sealed model file: copies are compared with it
  Bytes hash;                      // likewise
  Bytes wrapped_key;               // empty once destroyed
  std::string evaluation_name;     // the sealed object beside it
  Bytes evaluation_hash;
  // "model" and "evaluation" of the folder that evaluation_name begins with, key "<mdl_…>/model", and where
  // copies of them lie. None in a call: both are on this node, the evaluation's size is not known.
  std::vector<ObjectRecord> files;
};

// One command: the version, and the job's end.
struct NewModelVersion {
  std::string name;         // a new model when there is none of that name
  std::string description;  // of a new model
  std::string kind;         // of an imported one; a job knows its own
  ModelVersion version;     // its number and time are given by the state
  std::string summary_json;
  // Of a job: the run it is from and the node that looked after that. What a later run, or another node, goes
  // on with is refused.
  std::uint64_t run = 0;
  std::string home = {};
};

struct ModelChange {
  std::optional<std::string> description;
  std::optional<std::string> owner_id;
};

// A version is committed by one command, and a command has at most 1 MiB: these bounds fit it together.
inline constexpr std::size_t kModelNameBytesMax = 64;
inline constexpr std::int64_t kPriorityMost = 100;  // and -100 is the least
inline constexpr std::uint32_t kModelVersionsMax = 500;
inline constexpr std::size_t kSpecBytesMax = 256u * 1024;
inline constexpr std::size_t kSignatureBytesMax = 512u * 1024;
inline constexpr std::size_t kHeadlineBytesMax = 16u * 1024;
inline constexpr std::size_t kSummaryBytesMax = 64u * 1024;
inline constexpr std::size_t kPlanBytesMax = 512u * 1024;

// Letters, digits, '.', '_', '-', the first one a letter or digit. Errc::invalid says what is wrong.
Result<void> check_model_name(std::string_view name);

}  // namespace samovar::cluster
