#include "daemon/jobs/worker_pace.hpp"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <optional>

#include "daemon/power/pacer.hpp"

namespace samovar::jobs {
namespace {

// Of another process; nothing when it is gone.
std::optional<Duration> cpu_time(pid_t pid) {
  clockid_t clock{};
  struct timespec time {};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return std::nullopt;
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

WorkerPace::WorkerPace(pid_t pid, std::shared_ptr<WorkerDial> dial) : pid_(pid), dial_(std::move(dial)) {
  dial_->running.fetch_add(1);
  thread_ = std::thread([this] {
    ::pthread_setname_np(::pthread_self(), "pace");
    run();
  });
}

WorkerPace::~WorkerPace() {
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_all();
  thread_.join();
  dial_->running.fetch_sub(1);
}

void WorkerPace::run() {
  power::Pacer pacer;
  bool stopped = false;
  std::unique_lock lock(mutex_);
  while (!end_) {
    const auto cpu = cpu_time(pid_);
    if (!cpu) break;
    const power::Pacer::Turn turn = pacer.turn(real_clock().mono(), *cpu, dial_->duty.load());
    if (turn.run == stopped) {
      stopped = !turn.run;
      ::kill(pid_, stopped ? SIGSTOP : SIGCONT);
    }
    ended_.wait_for(lock, turn.wait, [this] { return end_; });
  }
  if (stopped) ::kill(pid_, SIGCONT);
}

}  // namespace samovar::jobs
