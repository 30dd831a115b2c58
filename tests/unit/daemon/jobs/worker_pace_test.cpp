#include "daemon/jobs/worker_pace.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "base/clock.hpp"

namespace samovar::jobs {
namespace {

// A process that works without end.
class Busy {
 public:
  Busy() {
    char shell[] = "/bin/sh";
    char flag[] = "-c";
    char loop[] = "while :; do :; done";
    char* arguments[] = {shell, flag, loop, nullptr};
    EXPECT_EQ(::posix_spawn(&pid_, shell, nullptr, nullptr, arguments, nullptr), 0);
  }
  ~Busy() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

  pid_t pid() const { return pid_; }
  double cpu_seconds() const {
    clockid_t clock{};
    struct timespec time {};
    EXPECT_EQ(::clock_getcpuclockid(pid_, &clock), 0);
    EXPECT_EQ(::clock_gettime(clock, &time), 0);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  }
  char state() const {
    std::ifstream in("/proc/" + std::to_string(pid_) + "/stat");
    std::string number;
    std::string name;
    char state = '?';
    in >> number >> name >> state;
    return state;
  }

 private:
  pid_t pid_ = -1;
};

double share_of_a_core(const Busy& busy, std::chrono::milliseconds time) {
  const double cpu = busy.cpu_seconds();
  const MonoTime begin = real_clock().mono();
  ::usleep(static_cast<useconds_t>(std::chrono::microseconds(time).count()));
  return (busy.cpu_seconds() - cpu) / std::chrono::duration<double>(real_clock().mono() - begin).count();
}

// How much of a core others leave to it is not ours to say: only the upper bound is.
TEST(WorkerPace, UsesNoMoreThanItsShare) {
  Busy busy;
  const auto dial = std::make_shared<WorkerDial>();
  for (const double duty : {0.5, 0.25}) {
    dial->duty = duty;
    WorkerPace pace(busy.pid(), dial);
    EXPECT_EQ(dial->running.load(), 1u);
    ::usleep(200'000);
    const double share = share_of_a_core(busy, std::chrono::milliseconds(1500));
    EXPECT_LE(share, duty * 1.12 + 0.02);
    EXPECT_GT(share, 0.02) << "it goes on";
  }
  EXPECT_EQ(dial->running.load(), 0u);
}

TEST(WorkerPace, LetsItRunAtTheEnd) {
  Busy busy;
  const auto dial = std::make_shared<WorkerDial>();
  dial->duty = 0.02;
  {
    WorkerPace pace(busy.pid(), dial);
    bool seen = false;
    for (int i = 0; i < 2000 && !seen; ++i) {
      ::usleep(1000);
      seen = busy.state() == 'T';
    }
    EXPECT_TRUE(seen) << "it was never stopped";
  }
  for (int i = 0; i < 2000 && busy.state() == 'T'; ++i) ::usleep(1000);
  EXPECT_NE(busy.state(), 'T');
}

TEST(WorkerPace, OutlivesItsWorker) {
  const auto dial = std::make_shared<WorkerDial>();
  dial->duty = 0.5;
  Busy busy;
  WorkerPace pace(busy.pid(), dial);
  ::kill(busy.pid(), SIGKILL);
  ::usleep(50'000);
}

}  // namespace
}  // namespace samovar::jobs
