// Runs one samovar-worker to its end: hands over keys and descriptors, opens the files it asks for, listens
// to its progress, and believes nothing of what it says without a check.
//
// Threading: the functions block for as long as the worker runs: on the jobs pool. `progress` is called
// there.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "daemon/ingest/detect.hpp"
#include "daemon/ingest/worker_protocol.hpp"
#include "daemon/jobs/worker_pace.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::jobs {

struct WorkerOptions {
  std::string program;                             // samovar-worker
  Duration silence_max = std::chrono::minutes(5);  // then it hangs, and is ended
  Duration inspect_max = std::chrono::minutes(1);
  std::string failpoints;            // of an ingest, see base/failpoint.hpp
  std::shared_ptr<WorkerDial> dial;  // how much workers may work; null: all
};

struct InspectTask {
  std::string upload_path;
  ingest::WorkerJob job;  // mode is set here
};

// Errc::invalid with a sentence when the file is no table.
Result<ingest::Detection> run_inspect(const WorkerOptions& options, InspectTask task);

struct IngestTask {
  std::string upload_path;
  std::string incoming_dir;  // there already, empty; what is in it after an error is garbage
  ingest::WorkerJob job;     // mode is set here
  // Errc::no_space: no further file is opened.
  std::function<Result<void>()> check_room;
};

// Errc::conflict once `cancelled` is set. The report is checked against the files.
Result<ingest::WorkerReport> run_ingest_worker(
    const WorkerOptions& options, IngestTask task, const std::atomic<bool>& cancelled,
    const std::function<void(const ingest::WorkerProgress&)>& progress);

// For tests: what the sandbox does about one attempt (daemon/worker/sandbox.hpp).
Result<void> run_trial(const WorkerOptions& options, std::string_view call);

}  // namespace samovar::jobs
