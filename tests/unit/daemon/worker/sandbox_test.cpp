#include "daemon/worker/sandbox.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

namespace samovar::worker {
namespace {

constexpr int kWentThrough = 0;
constexpr int kRefused = 40;
constexpr int kNoSandbox = 41;

// The wait status of a child that tries `call`, inside the sandbox or outside of it.
int try_in_child(std::string_view call, bool sandboxed, const OpenDevice& open_device = {}) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (sandboxed && !enter_sandbox({}, open_device)) ::_exit(kNoSandbox);
    ::_exit(attempt(call).value_or(false) ? kWentThrough : kRefused);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

class Refused : public ::testing::TestWithParam<const char*> {};

TEST_P(Refused, WorksOutsideTheSandbox) {
  const int status = try_in_child(GetParam(), false);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), kWentThrough);
}

TEST_P(Refused, EndsTheProcessInside) {
  const int status = try_in_child(GetParam(), true);
  ASSERT_TRUE(WIFSIGNALED(status)) << "it ended with " << WEXITSTATUS(status);
  EXPECT_EQ(WTERMSIG(status), SIGSYS);
}

INSTANTIATE_TEST_SUITE_P(Sandbox, Refused,
                         ::testing::Values("create", "socket", "unix_socket", "execve", "ptrace", "fork",
                                           "kill", "exec_memory", "ioctl", "device_ioctl", "socket_ioctl",
                                           "long_ioctl"),
                         [](const auto& call) { return std::string(call.param); });

// With a GPU open, what its driver may ask of that is all there is more.
const OpenDevice kOpens = [] { return true; };
const OpenDevice kOpensNone = [] { return false; };

class RefusedWithDevice : public ::testing::TestWithParam<const char*> {};

TEST_P(RefusedWithDevice, DoesNotGoThrough) {
  const int status = try_in_child(GetParam(), true, kOpens);
  const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
  EXPECT_TRUE(killed || (WIFEXITED(status) && WEXITSTATUS(status) == kRefused)) << status;
}

INSTANTIATE_TEST_SUITE_P(Sandbox, RefusedWithDevice,
                         ::testing::Values("open", "create", "socket", "unix_socket", "execve", "ptrace",
                                           "fork", "kill", "exec_memory", "ioctl", "socket_ioctl",
                                           "long_ioctl"),
                         [](const auto& call) { return std::string(call.param); });

TEST(Sandbox, IoctlsOfADeviceGoThroughWhenThereIsOne) {
  const int with = try_in_child("device_ioctl", true, kOpens);
  ASSERT_TRUE(WIFEXITED(with)) << "signal " << WTERMSIG(with);
  EXPECT_EQ(WEXITSTATUS(with), kWentThrough);
  // One that did not open leaves the sandbox of a worker without.
  for (const char* call : {"device_ioctl", "create"}) {
    const int without = try_in_child(call, true, kOpensNone);
    ASSERT_TRUE(WIFSIGNALED(without)) << call << " ended with " << WEXITSTATUS(without);
    EXPECT_EQ(WTERMSIG(without), SIGSYS);
  }
}

// A driver's threads are there before the door closes, and are behind it all the same.
TEST(Sandbox, ThreadsOfADeviceAreInIt) {
  for (const bool opens : {true, false}) {
    const pid_t child = ::fork();
    if (child == 0) {
      static std::atomic<bool> closed;
      const auto entered = enter_sandbox({}, [opens] {
        std::thread([] {
          while (!closed.load()) std::this_thread::yield();
          attempt("socket");
        }).detach();
        return opens;
      });
      if (!entered) ::_exit(kNoSandbox);
      closed.store(true);
      for (;;) std::this_thread::yield();
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "it ended with " << WEXITSTATUS(status);
    EXPECT_EQ(WTERMSIG(status), SIGSYS);
  }
}

TEST(Sandbox, OpeningToReadIsRefusedAndNoMore) {
  const int outside = try_in_child("open", false);
  ASSERT_TRUE(WIFEXITED(outside));
  EXPECT_EQ(WEXITSTATUS(outside), kWentThrough);
  const int inside = try_in_child("open", true);
  ASSERT_TRUE(WIFEXITED(inside)) << "signal " << WTERMSIG(inside);
  EXPECT_EQ(WEXITSTATUS(inside), kRefused);
}

// The heap of a thread that shrinks: glibc would like to read a file of /proc then.
TEST(Sandbox, HeapsOfThreadsMayShrink) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!enter_sandbox()) ::_exit(kNoSandbox);
    std::thread([] {
      std::vector<std::vector<char>> pieces(3000);
      for (auto& piece : pieces) piece.assign(10'000, 'x');
    }).join();
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Sandbox, LeavesWhatAWorkerNeeds) {
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (!enter_sandbox()) ::_exit(kNoSandbox);
    std::vector<std::thread> threads;
    std::vector<std::vector<char>> memory(4);
    for (auto& piece : memory) threads.emplace_back([&piece] { piece.assign(8 << 20, 'x'); });
    for (auto& thread : threads) thread.join();
    bool threw = false;
    try {
      throw std::runtime_error("unwinding opens no file");
    } catch (const std::exception&) {
      threw = true;
    }
    const bool written = ::write(pipe_ends[1], "done", 4) == 4;
    ::_exit(threw && written && memory[3].size() == (8u << 20) ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  char text[4];
  EXPECT_EQ(::read(pipe_ends[0], text, 4), 4);
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(Sandbox, MemoryHasABound) {
  const pid_t child = ::fork();
  if (child == 0) {
    SandboxLimits limits;
    limits.data_bytes_max = 256u << 20;
    if (!enter_sandbox(limits)) ::_exit(kNoSandbox);
    try {
      std::vector<char> much(512u << 20, 'x');
      ::_exit(much[1] == 'x' ? 1 : 2);
    } catch (const std::bad_alloc&) {
      ::_exit(0);
    }
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}
#endif

}  // namespace
}  // namespace samovar::worker
