// ./dev sim: runs seeds of the simulated cluster, and says which of them show something wrong.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/log.hpp"
#include "tests/sim/cluster_world.hpp"

using namespace samovar;
using namespace samovar::test;

namespace {

Plant plant_of(const std::string& name) {
  if (name == "ack-before-commit") return Plant::ack_before_commit;
  if (name == "forget-shard") return Plant::forget_shard;
  if (name == "apply-twice") return Plant::apply_twice;
  return Plant::none;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t from = 1;
  std::uint64_t seeds = 200;
  Plant plant = Plant::none;
  bool talk = false;
  bool until_found = false;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (word == "--from")
      from = std::strtoull(value, nullptr, 10), ++i;
    else if (word == "--seeds")
      seeds = std::strtoull(value, nullptr, 10), ++i;
    else if (word == "--plant")
      plant = plant_of(value), until_found = true, ++i;
    else if (word == "--talk")
      talk = true;
    else {
      std::fprintf(
          stderr,
          "usage: cluster_sim [--from S] [--seeds N] [--talk] [--plant ack-before-commit|forget-shard|"
          "apply-twice]\n");
      return 2;
    }
  }
  if (!talk) log::set_level(log::Level::error);
  const auto begun = std::chrono::steady_clock::now();
  std::uint64_t bad = 0;
  Verdict sum;
  for (std::uint64_t seed = from; seed < from + seeds; ++seed) {
    const Verdict verdict = ClusterWorld(seed, plant, talk).run();
    sum.acknowledged += verdict.acknowledged;
    sum.unknown += verdict.unknown;
    sum.datasets += verdict.datasets;
    sum.crashes += verdict.crashes;
    sum.splits += verdict.splits;
    sum.disk_errors += verdict.disk_errors;
    sum.joins += verdict.joins;
    sum.removals += verdict.removals;
    sum.seconds += verdict.seconds;
    if (seeds == 1)
      std::printf("seed %llu: trace %016llx\n", static_cast<unsigned long long>(seed),
                  static_cast<unsigned long long>(verdict.trace));
    if (verdict.violations.empty()) continue;
    ++bad;
    std::printf("seed %llu:\n", static_cast<unsigned long long>(seed));
    for (const auto& what : verdict.violations) std::printf("  %s\n", what.c_str());
    std::fflush(stdout);
    if (until_found) break;
  }
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  const auto n = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  std::printf(
      "%llu seeds from %llu, %llu with something wrong; %.1f s, %.1f seeds/s, %.1f simulated hours\n"
      "%llu writes acknowledged, %llu without an answer, %llu data sets, %llu crashes, %llu splits, %llu "
      "disk "
      "errors, %llu joins, %llu removals\n",
      n(seeds), n(from), n(bad), took, static_cast<double>(seeds) / took, sum.seconds / 3600,
      n(sum.acknowledged), n(sum.unknown), n(sum.datasets), n(sum.crashes), n(sum.splits), n(sum.disk_errors),
      n(sum.joins), n(sum.removals));
  if (plant != Plant::none) return bad > 0 ? 0 : 1;
  return bad == 0 ? 0 : 1;
}
