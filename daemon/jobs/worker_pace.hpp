// Makes workers use a part of the time: stops and continues their processes in short turns (power::Pacer).
//
// From outside, so that it holds in every phase of every kind of work, and nothing in the trainer knows of
// it. A stopped worker still dies with samovard and obeys SIGKILL. The debt is counted by the worker's CPU
// time: one that waits for others is not stopped.
//
// Threading: the dial is shared by the loop and the threads beside workers; a pace has one thread of its own,
// "pace", that lives as long as its worker.
#pragma once
#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

namespace samovar::jobs {

// One for all workers of a node.
struct WorkerDial {
  std::atomic<double> duty{1};            // what they are told, 0 to 1
  std::atomic<std::uint32_t> running{0};  // workers
  std::atomic<std::uint64_t> rows{0};     // trained on or scored so far, by all of them
};

class WorkerPace {
 public:
  // The process must not be waited for before the pace is gone.
  WorkerPace(pid_t pid, std::shared_ptr<WorkerDial> dial);
  ~WorkerPace();  // lets it run
  WorkerPace(const WorkerPace&) = delete;
  WorkerPace& operator=(const WorkerPace&) = delete;

 private:
  void run();

  const pid_t pid_;
  const std::shared_ptr<WorkerDial> dial_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;  // under mutex_
  std::thread thread_;
};

}  // namespace samovar::jobs
