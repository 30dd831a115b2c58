// Training jobs and models in the replicated state: what was asked for, what came of it. Plain values.
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

// A job as it was accepted, and how it stands when nobody works on it. Progress is not here.
struct JobRecord {
  std::string id;    // "job_…"
  std::string kind;  // "glm"
  std::string name;  // of the model it makes
  std::string owner_id;
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
  std::optional<WallTime> binned_at;
  WallTime created_at;
  std::optional<WallTime> ended_at;
  // The last checkpoint that was acknowledged: a sealed file of the store.
  std::uint64_t checkpoint_step = 0;  // 0: none
  Bytes checkpoint_hash;
  Bytes wrapped_key;  // of checkpoints and of the model that comes of it
  std::uint64_t revision = 0;
};

struct JobEnd {
  std::string id;
  std::string state;  // paused, failed, cancelled, queued (resumed or retried); done comes with the model
  std::string error;
  std::string summary_json;
};

struct JobFilter {
  bool bin = false;
  std::string state;  // empty: any
  std::optional<std::string> user_id;
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
  std::string dataset_hash;    // hex, over the hashes of its shards
  std::string code_version;    // of the program that made it
  std::string spec_json;       // what was asked for
  std::string signature_json;  // {"inputs":[{name,type,levels?}…],"target":…,"outputs":…}
  std::string headline_json;   // {"auc":0.74,…}: what lists show
  std::uint64_t stored_bytes = 0;
  Bytes hash;                   // of the sealed model file
  Bytes wrapped_key;            // empty once destroyed
  std::string evaluation_name;  // the sealed object beside it
  Bytes evaluation_hash;
};

// One command: the version, and the job's end.
struct NewModelVersion {
  std::string name;  // a new model when there is none of that name
  std::string description;
  ModelVersion version;  // its number is given by the state
  std::string summary_json;
};

struct ModelChange {
  std::optional<std::string> description;
  std::optional<std::string> owner_id;
};

// A program's or a person's batch of predictions: an operation of kind "scoring" has its progress.
inline constexpr std::size_t kModelNameBytesMax = 64;
inline constexpr std::size_t kModelVersionsMax = 500;
inline constexpr std::size_t kSpecBytesMax = 256u * 1024;

}  // namespace samovar::cluster
