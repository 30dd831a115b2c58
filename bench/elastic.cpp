// One job trained by one worker and by several, each on a core of its own where there are enough: rows a
// second of the training, and the AUC after as many passes. Generated clicks with 39 hashed inputs.
//
// On a busy machine the clock on the wall says little: the figures that end in _cpu divide by the mean of the
// workers' processor seconds and the longest wait for others. That is an estimate of idle cores, no
// measurement.
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "bench/bench.hpp"
#include "bench/click_text.hpp"
#include "bench/planted_clicks.hpp"
#include "bench/sources.hpp"
#include "daemon/ingest/pipeline.hpp"
#include "security/init.hpp"
#include "trainer/sync/local_group.hpp"
#include "trainer/train.hpp"

namespace samovar::bench {
namespace {

using nlohmann::json;
constexpr std::string_view kBench = "elastic";

class Blocks final : public ingest::ShardSink, public trainer::BlockSource {
 public:
  Result<void> block(std::uint32_t, std::uint32_t rows, ByteView encoded) override {
    const std::lock_guard lock(mutex_);
    rows_.push_back(rows);
    bytes_.push_back(to_bytes(encoded));
    return {};
  }
  Result<void> bad_row(std::string_view) override { return {}; }
  std::size_t blocks() const override { return rows_.size(); }
  std::uint32_t rows(std::size_t block) const override { return rows_[block]; }
  Result<void> read(std::size_t block, Bytes& out) override {
    out = bytes_[block];
    return {};
  }

 private:
  std::mutex mutex_;
  std::vector<std::uint32_t> rows_;
  std::vector<Bytes> bytes_;
};

struct Times {
  double wall = 0;
  double cpu = 0;
};
Times now() { return {wall_seconds(), cpu_seconds()}; }

// Notes when training begins and ends, and the worker's last figures.
class Watch final : public trainer::TrainObserver {
 public:
  bool progress(const trainer::TrainProgress& progress) override {
    if (progress.step == "training" && began.wall == 0) began = now();
    if (progress.step == "evaluating" && ended.wall == 0) ended = now();
    return true;
  }
  bool metric(const trainer::TrainMetric& metric) override {
    if (began.wall == 0) began = now();
    for (const auto& [name, value] : metric.values) {
      last[name] = value;
      first.emplace(name, value);
    }
    return true;
  }
  void log(std::string_view, std::string_view) override {}
  Result<void> checkpoint(std::uint64_t, ByteView) override { return {}; }
  Times began, ended;
  // Of the training: what was waited for before it is not its own.
  double waited() { return last["wait_seconds"] - first["wait_seconds"]; }
  std::map<std::string, double> first, last;
};

struct Outcome {
  double auc = 0;
  double rows = 0;           // trained on
  double wall = 0;           // of the training
  double cpu = 0;            // of all workers
  double waited = 0;         // of the worker that waited most
  double bytes_per_row = 0;  // sent by all
  double tau = 0;
  std::string note;
};

Outcome train_with(Blocks& blocks, const trainer::Schema& schema, const trainer::JobSpec& spec,
                   std::size_t members) {
  std::vector<std::vector<std::uint32_t>> dealt(members);
  for (std::uint32_t block = 0; block < blocks.blocks(); ++block) dealt[block % members].push_back(block);
  trainer::LocalGroup group(dealt);
  std::vector<Watch> watches(members);
  std::vector<trainer::Trained> trained(members);
  std::vector<std::thread> threads;
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  for (std::uint32_t i = 0; i < members; ++i) {
    threads.emplace_back([&, i] {
      cpu_set_t own;
      CPU_ZERO(&own);
      CPU_SET(static_cast<std::size_t>(cores - 1 - static_cast<long>(i) % cores), &own);
      (void)sched_setaffinity(0, sizeof own, &own);  // its reader too
      trainer::TrainOptions options;
      if (members > 1) options.group = &group.member(i);
      trained[i] = need(trainer::train(blocks, schema, spec, std::nullopt, options, watches[i]));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const json evaluation = json::parse(trained[0].evaluation_json);
  const json summary = json::parse(trained[0].summary_json);
  Outcome out;
  out.auc = evaluation["metrics"]["test"]["auc"]["value"];
  out.rows = summary["rows"];
  Times began = watches[0].began, ended = watches[0].ended;
  double sent = 0;
  for (Watch& watch : watches) {
    if (watch.began.wall < began.wall) began = watch.began;
    if (watch.ended.wall > ended.wall) ended = watch.ended;
    out.waited = std::max(out.waited, watch.waited());
    sent += watch.last["bytes_sent"];
  }
  out.wall = ended.wall - began.wall;
  out.cpu = ended.cpu - began.cpu;
  out.bytes_per_row = sent / out.rows;
  out.tau = watches[0].last["tau"];
  for (const json& note : summary["notes"]) {
    if (note.get<std::string>().starts_with("Trained by")) out.note = note;
  }
  return out;
}

void run(const std::string& dir, bool quick, const std::string& solver, unsigned tau, bool two_only) {
  const std::uint64_t rows = quick ? 200'000 : 1'000'000;
  const std::string path = dir + "/clicks.tsv";
  {
    std::ofstream file(path, std::ios::binary);
    std::string text;
    for (std::uint64_t first = 0; first < rows; first += 10'000) {
      text.clear();
      append_planted_clicks(text, first, 10'000, 1);
      file.write(text.data(), static_cast<std::streamsize>(text.size()));
    }
    if (!file.flush()) fail("cannot write " + path);
  }
  Blocks blocks;
  ingest::IngestPlan plan;
  plan.options = click_options();
  plan.schema = click_schema();
  plan.raw_bytes = std::filesystem::file_size(path);
  {
    FileSource source(path);
    need(ingest::run_ingest(source, plan, blocks, {}));
  }
  trainer::JobSpec spec;
  spec.name = "clicks";
  spec.dataset_id = "dst_bench";
  spec.target = plan.schema.columns[0].name;
  spec.features.categories = trainer::FeatureOptions::Categories::hash;
  spec.features.numbers = trainer::FeatureOptions::Numbers::hash;
  spec.features.hash_bits = 20;
  spec.split.valid = 0.05;
  spec.split.test = 0.1;
  spec.strategy.tau = tau;
  spec.parameters = {{"solver", solver}, {"early_stop", false}};
  std::fprintf(stderr, "%zu blocks, solver %s\n", blocks.blocks(), solver.c_str());
  const auto tell = [](const char* name, const Outcome& o) {
    std::fprintf(
        stderr, "%s: auc %.5f, %.0f rows, wall %.2f s, cpu %.2f s, waited %.2f s, %.0f B/row, tau %.0f. %s\n",
        name, o.auc, o.rows, o.wall, o.cpu, o.waited, o.bytes_per_row, o.tau, o.note.c_str());
  };
  const Outcome one = train_with(blocks, plan.schema, spec, 1);
  tell("one", one);
  const Outcome two = train_with(blocks, plan.schema, spec, 2);
  tell("two", two);
  print({kBench, "two_nodes", "rows/s wall", two.rows / two.wall, one.rows / one.wall, "one node"});
  print({kBench, "two_nodes_cpu", "rows/s cpu", two.rows / (two.cpu / 2 + two.waited), one.rows / one.cpu,
         "one node"});
  print({kBench, "auc_two", "1", two.auc, one.auc, "one node"});
  if (quick || two_only) return;
  for (const std::size_t members : {4u, 8u}) {
    const Outcome many = train_with(blocks, plan.schema, spec, members);
    tell(members == 4 ? "four" : "eight", many);
    print({kBench, members == 4 ? "auc_four" : "auc_eight", "1", many.auc, one.auc, "one node"});
    print({kBench, members == 4 ? "four_nodes_cpu" : "eight_nodes_cpu", "rows/s cpu",
           many.rows / (many.cpu / static_cast<double>(members) + many.waited), one.rows / one.cpu,
           "one node"});
  }
}

}  // namespace
}  // namespace samovar::bench

int main(int argc, char** argv) {
  if (!samovar::security::init()) return 1;
  const std::string dir =
      std::filesystem::temp_directory_path() / ("samovar-bench-" + std::to_string(::getpid()));
  std::filesystem::create_directories(dir);
  std::string solver = "ftrl";
  unsigned tau = 0;
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::string(argv[i]) == "--solver") solver = argv[i + 1];
    if (std::string(argv[i]) == "--tau") tau = static_cast<unsigned>(std::atoi(argv[i + 1]));
  }
  samovar::bench::run(dir, samovar::bench::has_flag(argc, argv, "--quick"), solver, tau,
                      samovar::bench::has_flag(argc, argv, "--two"));
  std::filesystem::remove_all(dir);
  return 0;
}
