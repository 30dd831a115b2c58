// What local_models*.cpp share about work under way.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "daemon/jobs/local_models.hpp"

namespace samovar::jobs {

struct LocalModels::Run {
  // Constant once it runs.
  std::string job_id;
  std::string owner_id;
  std::string name;
  std::string store_id;
  std::string dataset_id;
  std::uint32_t dataset_version = 1;
  std::string dataset_hash;
  std::string spec_json;
  JobSize size;
  Key job_key;
  Key model_key;
  std::uint64_t from_step = 0;
  std::vector<std::string> keys;  // of the shards it reads
  Replicas::HoldPtr hold;         // of them, while it runs

  // Between the loop and the thread beside the worker.
  WorkerSignals signals;
  std::atomic<bool> stopping{false};  // the daemon ends: nothing more is committed

  // Loop only.
  std::string step = "waiting";
  double share = 0;
  std::uint64_t rows_begin = 0;
  MonoTime began{};
  double seconds_before = 0;
  bool committing = false;                // the model is being committed: too late to stop
  std::string end_state;                  // "paused" or "cancelled", once somebody asked for it
  std::optional<cluster::Call> end_call;  // who did
};

struct LocalModels::Batch {
  Scoring scoring;
  bool ended = false;
  bool removed = false;
  std::uint32_t dataset_version = 0;
  std::vector<std::string> keep;
  Bytes wrapped_key;
  bool holds_upload = false;
  WorkerSignals signals;  // shared with the thread beside the worker
};

constexpr unsigned kCommitTriesMax = 40;
constexpr std::chrono::milliseconds kCommitPause{500};
constexpr std::uint64_t kRoomPerFile = std::uint64_t{64} << 20;
// Of a job's folder, beside its checkpoints.
constexpr const char* kHistoryName = "history";
constexpr std::size_t kModelBytesMax = std::size_t{8} << 30;

// "Unavailable" leaves open whether it happened: the same request id makes it happen once.
inline bool worth_repeating(const Error& error) {
  return error.code() == Errc::unavailable || error.code() == Errc::busy || error.code() == Errc::timeout;
}

}  // namespace samovar::jobs
