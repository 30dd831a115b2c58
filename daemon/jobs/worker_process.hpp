// A samovar-worker as seen from samovard: started with one end of a socket pair and nothing else.
//
// Threading: one thread at a time, and always the one that started it: the worker dies with that thread.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "daemon/ingest/worker_channel.hpp"
#include "daemon/jobs/worker_pace.hpp"

namespace samovar::jobs {

class WorkerProcess {
 public:
  // Errors name what to do about a program that is missing or cannot run.
  // `memory_mib`: what it may have; 0: as much as reading a file takes. `dial`: how much it may work; null:
  // all. `plugin`: of a device that it opens before its sandbox closes; empty: none. Takes memory_mib.
  static Result<std::unique_ptr<WorkerProcess>> start(const std::string& program,
                                                      std::uint64_t memory_mib = 0,
                                                      std::shared_ptr<WorkerDial> dial = nullptr,
                                                      const std::string& plugin = {});
  // Kills what still runs.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  ingest::WorkerChannel& channel() noexcept { return channel_; }
  pid_t pid() const noexcept { return pid_; }
  // Its socket is closed, so it is about to end: waits a moment, then kills. The status of waitpid.
  int finish();

 private:
  WorkerProcess(pid_t pid, ingest::Descriptor socket) : pid_(pid), channel_(std::move(socket)) {}

  pid_t pid_;
  int status_ = 0;
  ingest::WorkerChannel channel_;
  std::unique_ptr<WorkerPace> pace_;  // gone before the process is waited for
};

// Why a worker that said nothing is gone, as a sentence that says what to do.
Error worker_death(int wait_status);

}  // namespace samovar::jobs
