// Runs one samovar-worker that trains or scores to its end: hands over keys and descriptors, keeps what it
// saves, and believes nothing of what it says without a check.
//
// Threading: the functions block for as long as the worker runs: on a thread of the models' pool. The hooks
// are called there.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/disk.hpp"
#include "base/result.hpp"
#include "daemon/jobs/ingest_runner.hpp"
#include "daemon/jobs/train_protocol.hpp"

namespace samovar::jobs {

// From the loop to the thread beside the worker.
struct WorkerSignals {
  std::atomic<bool> stop{false};  // with a last checkpoint
  std::atomic<bool> kill{false};  // at once
};

struct TrainTask {
  std::vector<std::string> shard_paths;
  std::string checkpoint_path;  // of job.checkpoint_step
  std::string job_dir;          // checkpoints; there already
  std::string model_dir;        // model and evaluation; there already, empty
  TrainJob job;
  std::uint64_t memory_mib = 0;  // of the process
  // Errc::no_space: no further file is opened.
  std::function<Result<void>()> check_room;
};

struct TrainHooks {
  std::function<void(const StepMessage&)> step;
  std::function<void(const MetricMessage&)> metric;
  std::function<void(const LogMessage&)> log;
  // It is on the disk, synced; returns once it is committed.
  std::function<Result<void>(const SavedFile&)> checkpoint;
};

// Errc::conflict after a stop or a kill that was asked for. What is told of model and evaluation was checked
// against the files.
Result<TrainedMessage> run_train_worker(Disk& disk, const WorkerOptions& options, TrainTask task,
                                        const WorkerSignals& signals, const TrainHooks& hooks);

// The names under which a checkpoint may lie; which of them it is, the committed hash says.
std::vector<std::string> checkpoint_names(std::uint64_t step);

struct ScoreTask {
  std::vector<std::string> shard_paths;
  std::string upload_path;
  std::string model_path;
  std::string result_dir;  // there already, empty
  ScoreJob job;
  std::uint64_t memory_mib = 0;
  std::function<Result<void>()> check_room;
};

Result<ScoredMessage> run_score_worker(Disk& disk, const WorkerOptions& options, ScoreTask task,
                                       const WorkerSignals& signals,
                                       const std::function<void(const StepMessage&)>& step);

}  // namespace samovar::jobs
