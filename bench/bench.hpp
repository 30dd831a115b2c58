// What every timed program shares: the processor's time, one line of JSON for a result, and an end at the
// first error.
#pragma once
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"

namespace samovar::bench {

[[noreturn]] inline void fail(const std::string& why) {
  std::fprintf(stderr, "bench: %s\n", why.c_str());
  std::exit(1);
}
template <class T>
T need(Result<T> result) {
  if (!result) fail(result.error().message());
  return *std::move(result);
}
inline void need(const Result<void>& result) {
  if (!result) fail(result.error().message());
}

inline double seconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}
// Of this process, all threads together: what a busy neighbour does not change.
inline double cpu_seconds() { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }
inline double wall_seconds() { return seconds_of(CLOCK_MONOTONIC); }

// Seconds of one call of `work`, the best of those that fit into `budget` seconds, at least three.
template <class Work>
double best_cpu_seconds(double budget, Work work) {
  double best = 1e300;
  const double start = wall_seconds();
  for (int round = 0; round < 3 || wall_seconds() - start < budget; ++round) {
    const double before = cpu_seconds();
    work();
    const double taken = cpu_seconds() - before;
    if (taken < best) best = taken;
  }
  return best;
}

// Keeps the compiler from leaving out what nobody looks at.
template <class T>
inline void keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

struct Figure {
  std::string_view bench;
  std::string_view metric;
  std::string_view unit;
  double ours = 0;
  double peer = 0;  // 0: there is none
  std::string_view peer_name = {};
};
inline void print(const Figure& figure) {
  std::printf("{\"bench\":\"%.*s\",\"metric\":\"%.*s\",\"unit\":\"%.*s\",\"ours\":%.4g",
              static_cast<int>(figure.bench.size()), figure.bench.data(),
              static_cast<int>(figure.metric.size()), figure.metric.data(),
              static_cast<int>(figure.unit.size()), figure.unit.data(), figure.ours);
  if (figure.peer > 0)
    std::printf(",\"peer\":%.4g,\"peer_name\":\"%.*s\",\"ratio\":%.3g", figure.peer,
                static_cast<int>(figure.peer_name.size()), figure.peer_name.data(),
                figure.ours / figure.peer);
  std::printf("}\n");
  std::fflush(stdout);
}

// Begins anew in the environment in which samovard starts a worker. The library for dense products makes a
// thread for every core else, which spins before it sleeps: that time would be counted as ours.
inline void be_like_a_worker(char** argv) {
  static constexpr const char* kThreads = "OPENBLAS_NUM_THREADS";
  if (std::getenv(kThreads) != nullptr || ::setenv(kThreads, "1", 1) != 0) return;
  ::execv("/proc/self/exe", argv);  // comes back only when it cannot: then as it is
}

inline bool has_flag(int argc, char** argv, std::string_view flag) {
  for (int i = 1; i < argc; ++i) {
    if (flag == argv[i]) return true;
  }
  return false;
}

}  // namespace samovar::bench
