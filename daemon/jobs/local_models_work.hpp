// What local_models*.cpp share about work under way.
#pragma once
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "daemon/jobs/crew.hpp"
#include "daemon/jobs/local_models.hpp"

namespace samovar::jobs {

// A training that this node looks after: which workers on which nodes, and what they say.
struct LocalModels::Run {
  // Constant once it runs.
  std::string job_id;
  std::string owner_id;
  std::string dataset_id;
  std::uint32_t dataset_version = 1;
  JobSize size;
  CrewRules rules;
  bool alone = false;  // one worker, without peers, as a box that has no others
  unsigned units = 1;  // of memory
  trainer::PowerSpec power;
  std::optional<WallTime> deadline;

  // Loop only.
  std::uint64_t number = 0;  // of the run
  std::optional<Crew> crew;
  std::vector<std::vector<std::uint32_t>> block_rows;  // of all shards, as far as they were told
  std::set<std::uint32_t> told;                        // workers that had their first epoch
  std::map<std::uint32_t, JobWorker> workers;          // what they said last
  std::string step = "waiting";
  double share = 0;
  std::string waiting_for;
  std::uint64_t rows_begin = 0;
  MonoTime began{};
  double seconds_before = 0;
  double joules_before = 0;
  double error_before = 0;
  bool committing = false;                // the model is being committed: too late to stop
  std::string end_state;                  // "paused" or "cancelled", once somebody asked for it
  std::optional<cluster::Call> end_call;  // who did
  bool stop_told = false;
  struct Full {
    MonoTime until{};
    unsigned times = 0;
    Error why;
  };
  std::map<std::string, Full> full;  // nodes that had no room for its worker
  std::optional<Error> fatal;        // nobody can do better: the job failed
  bool woken = false;
  std::function<void(bool)> wake;
  MonoTime live_at{};  // the others were last told
  bool live_due = true;
  PaceMeter pace;
  std::string pace_step;            // what it is the pace of
  MonoTime power_at{};              // the power was last looked at
  bool late = false;                // said to be
  std::uint64_t live_revision = 0;  // of the history, as they were told
};

// A worker of this node, for a job that this or another node looks after.
struct LocalModels::Member {
  // Constant once it is there.
  WorkerRef ref;
  std::string home;
  unsigned units = 1;
  std::shared_ptr<WorkerLine> line = std::make_shared<WorkerLine>();  // shared: with the thread beside it

  // Loop only.
  std::string owner_id;
  std::string name;
  std::string store_id;
  std::string dataset_id;
  std::uint32_t dataset_version = 1;
  std::string dataset_hash;
  std::string spec_json;
  JobSize size;
  Key data_key;
  Key job_key;
  Key model_key;
  std::vector<std::string> keys;         // of all shards
  std::vector<std::string> paths;        // likewise
  std::vector<Replicas::HoldPtr> holds;  // of those it reads, while it runs
  std::set<std::uint32_t> shards;        // that were brought
  unsigned bringing = 0;                 // orders to prepare under way
  BlockMap map;                          // of the data set
  std::set<std::uint32_t> ahead;         // shards for turns to come that are here, or on their way
  std::uint64_t turn = 0;                // of the last order to prepare that was carried out
  std::uint64_t epoch = 0;               // it was last told of
  bool up = false;                       // in its sandbox
  bool begun = false;
  bool on_device = false;  // started with one
  bool committing = false;
  bool ended = false;
  std::optional<Error> failure;  // of what was done beside the worker
  double joules = 0;
  double joules_error = 0;
  double busy_seconds = 0;
  double duty_seconds = 0;                                                  // of them, as far as it was let
  trainer::PowerSpec power;                                                 // that the job asked for
  std::vector<std::pair<std::uint32_t, std::vector<std::uint32_t>>> found;  // rows of blocks, to be told
  Loop::Id alive_timer = 0;

  // Between the loop and the thread beside the worker.
  WorkerSignals signals;
  std::atomic<bool> stopping{false};  // the daemon ends: nothing more is committed
  std::promise<JobEpoch> first;       // set once, by the loop
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

// The report is in order and the model opens: one that does not must not come to be.
Result<void> check_trained(Disk& disk, const TrainedMessage& trained, const std::string& path,
                           const security::SecretBytes& key, const std::string& store_id);
// There is a plan of a later run, or one that came after the epoch which this worker was last told of (0:
// none yet) and does not name it.
bool is_left_out(const cluster::JobRecord& record, const WorkerRef& worker, std::uint64_t epoch);

// "Unavailable" leaves open whether it happened: the same request id makes it happen once.
inline bool worth_repeating(const Error& error) {
  return error.code() == Errc::unavailable || error.code() == Errc::busy || error.code() == Errc::timeout;
}

}  // namespace samovar::jobs
