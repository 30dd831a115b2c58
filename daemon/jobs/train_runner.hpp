// Runs one samovar-worker that trains or scores to its end: hands over keys and descriptors, keeps what it
// saves, and believes nothing of what it says without a check.
//
// Threading: the functions block for as long as the worker runs: on a thread of the models' pool. The hooks
// are called there.
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/disk.hpp"
#include "base/mutex.hpp"
#include "base/result.hpp"
#include "daemon/ingest/worker_channel.hpp"
#include "daemon/jobs/ingest_runner.hpp"
#include "daemon/jobs/train_protocol.hpp"

namespace samovar::jobs {

// From the loop to the thread beside the worker.
struct WorkerSignals {
  std::atomic<bool> stop{false};  // with a last checkpoint
  std::atomic<bool> kill{false};  // at once
};

// From the loop into a worker that may be gone: messages of its peers, and who they are.
class WorkerLine {
 public:
  // Never waits for the worker. False when there is none, or one that takes nothing in.
  bool send(ingest::MessageType type, Bytes body, ingest::Descriptor descriptor = {});
  // By the thread beside the worker, soon.
  void post(ingest::MessageType type, Bytes body);
  // By the thread beside the worker: from here on there is one; null: no more.
  void attach(ingest::WorkerChannel* channel);

 private:
  friend class Talk;
  std::deque<std::pair<ingest::MessageType, Bytes>> take();

  Mutex mutex_;
  ingest::WorkerChannel* channel_ SAMOVAR_GUARDED_BY(mutex_) = nullptr;
  std::deque<std::pair<ingest::MessageType, Bytes>> posted_ SAMOVAR_GUARDED_BY(mutex_);
};

struct TrainTask {
  std::vector<std::string> shard_paths;
  std::string checkpoint_path;  // of job.checkpoint_step
  std::string job_dir;          // checkpoints; there already
  std::string model_dir;        // model and evaluation; there already, empty, unless make_model_dir makes it
  std::function<Result<void>()> make_model_dir;  // when the worker is the one to deliver
  TrainJob job;
  std::uint64_t memory_mib = 0;  // of the process
  std::string plugin;            // of a device to compute on; empty: the CPU
  std::string no_device;         // why, when a device was asked for; a part of a sentence
  // Errc::no_space: no further file is opened.
  std::function<Result<void>()> check_room;
  std::shared_ptr<WorkerLine> line;  // shared: the loop has it, too; null for a worker without peers
};

struct TrainHooks {
  // The worker is in its sandbox. Returns when it may begin, with what was not known before.
  std::function<Result<void>(TrainJob&)> begin;
  std::function<void()> begun;
  // What it says to another worker; the body may be in the descriptor.
  std::function<void(PeerFrame, ingest::Descriptor)> peer;
  std::function<void(std::uint32_t)> taken;
  std::function<void(const StepMessage&)> step;
  std::function<void(const MetricMessage&)> metric;
  std::function<void(const LogMessage&)> log;
  // Where it computes; a name that is empty: the device is given up, and why.
  std::function<void(const DeviceMessage&)> device;
  // It is on the disk, synced; returns once it is committed.
  std::function<Result<void>(const SavedFile&, const std::string& name)> checkpoint;
};

// Errc::conflict after a stop or a kill that was asked for. What is told of model and evaluation was checked
// against the files.
//
// A device that does not open, or that fails a worker which is alone, is done without: another worker goes on
// from the last checkpoint on the CPU, and the log says so. One of several workers ends with an error after
// `device` was told: its home has another one join.
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
