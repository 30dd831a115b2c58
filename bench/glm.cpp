// From a raw click log on the disk to an evaluated model, on one core: ingest, seal, five passes over sealed
// blocks of 39 hashed inputs, evaluation; beside pandas, hashing and scikit-learn's SGDClassifier on the same
// file. Then batch scoring from sealed blocks.
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <list>
#include <map>

#include "base/disk.hpp"
#include "base/json.hpp"
#include "bench/bench.hpp"
#include "bench/click_text.hpp"
#include "bench/planted_clicks.hpp"
#include "bench/sources.hpp"
#include "daemon/ingest/pipeline.hpp"
#include "daemon/store/shard_file.hpp"
#include "security/init.hpp"
#include "trainer/models/scorer.hpp"
#include "trainer/train.hpp"

namespace samovar::bench {
namespace {

using nlohmann::json;
constexpr std::string_view kBench = "glm";

// Sealed shards: written by ingest, read by training.
class Shards final : public ingest::ShardSink, public trainer::BlockSource {
 public:
  explicit Shards(std::string dir) : dir_(std::move(dir)), key_(security::SecretBytes::random(32)) {}

  Result<void> block(std::uint32_t shard, std::uint32_t rows, ByteView encoded) override {
    auto& writer = writers_[shard];
    if (!writer) {
      SAMOVAR_TRY(auto file, real_disk().open(path(shard), OpenMode::create_new));
      SAMOVAR_TRY(writer, store::ShardWriter::create(std::move(file), key_, {"dst_bench", shard, 1}));
    }
    return writer->append(rows, encoded);
  }
  Result<void> bad_row(std::string_view) override { return {}; }

  void finish() {
    for (auto& [shard, writer] : writers_) {
      need(writer->finish());
      const auto& blocks = reader(shard).blocks();
      for (std::uint32_t i = 0; i < blocks.size(); ++i) places_.push_back({shard, i, blocks[i].rows});
    }
    writers_.clear();  // their buffers are no part of training's memory
  }
  std::size_t blocks() const override { return places_.size(); }
  std::uint32_t rows(std::size_t block) const override { return places_[block].rows; }
  Result<void> read(std::size_t block, Bytes& out) override {
    return reader(places_[block].shard).read(places_[block].block, out);
  }

 private:
  struct Place {
    std::uint32_t shard = 0;
    std::uint32_t block = 0;
    std::uint32_t rows = 0;
  };
  // As a worker has them: few at a time, for each has buffers.
  store::ShardReader& reader(std::uint32_t shard) {
    constexpr std::size_t kOpenMax = 16;
    const auto found =
        std::find_if(open_.begin(), open_.end(), [shard](const auto& one) { return one.first == shard; });
    if (found != open_.end()) {
      open_.splice(open_.begin(), open_, found);
      return *open_.front().second;
    }
    auto file = need(real_disk().open(path(shard), OpenMode::read));
    if (open_.size() >= kOpenMax) open_.pop_back();
    open_.emplace_front(shard,
                        need(store::ShardReader::open(std::move(file), key_, {"dst_bench", shard, 1})));
    return *open_.front().second;
  }
  std::string path(std::uint32_t shard) const { return dir_ + "/shard-" + std::to_string(shard); }
  const std::string dir_;
  const security::SecretBytes key_;
  std::map<std::uint32_t, std::unique_ptr<store::ShardWriter>> writers_;
  std::list<std::pair<std::uint32_t, std::unique_ptr<store::ShardReader>>> open_;  // the last used first
  std::vector<Place> places_;
};

// Notes when training begins and ends.
class Watch final : public trainer::TrainObserver {
 public:
  bool progress(const trainer::TrainProgress& progress) override {
    if (progress.step == "preparing") began = cpu_seconds();
    if (progress.step == "evaluating" && ended == 0) ended = cpu_seconds();
    return true;
  }
  bool metric(const trainer::TrainMetric&) override { return true; }
  void log(std::string_view, std::string_view) override {}
  Result<void> checkpoint(std::uint64_t, const trainer::CheckpointPieces& pieces) override {
    return pieces([](ByteView piece) -> Result<void> {
      keep(piece.size());
      return {};
    });
  }
  double began = 0;
  double ended = 0;
};

json peer_of(const std::string& path) {
  const std::string command = "/usr/bin/python3 bench/glm_peer.py " + path + " 2>/dev/null";
  FILE* pipe = ::popen(command.c_str(), "r");
  std::string text;
  char piece[512];
  while (pipe != nullptr && std::fgets(piece, sizeof piece, pipe) != nullptr) text += piece;
  if (pipe != nullptr) ::pclose(pipe);
  return json::parse(text, nullptr, false);
}

double predict_seconds(Shards& shards, const trainer::Schema& schema, ByteView model) {
  const auto scorer = need(trainer::Scorer::open(model));
  return best_cpu_seconds(1, [&] {
    trainer::ReadPlan plan = scorer->pipeline().read_plan(schema);
    plan.shuffle_blocks = false;
    const auto reader = need(trainer::BatchReader::open(shards, schema, plan));
    trainer::EncodedBatch encoded;
    std::vector<float> scores;
    while (const trainer::Batch* batch = need(reader->next())) {
      scorer->pipeline().encode(*batch, false, encoded);
      scorer->score(encoded, scores);
      keep(scores[0]);
    }
  });
}

// The most memory that was resident since forget_peak(), in bytes; 0 where the kernel does not say.
std::uint64_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::strtoull(line.c_str() + 6, nullptr, 10) << 10;
  }
  return 0;
}
// What ingest left behind goes back to the system, and the peak begins anew.
void forget_peak() {
  ::malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";
}

struct Options {
  bool alone = false;  // no peer
  std::string file;    // a click log instead of a generated one
  std::uint64_t rows = 1'000'000;
  std::uint64_t seed = 1;                 // of the generated one
  std::string parameters;                 // JSON, as a job has them
  std::uint64_t checkpoint_steps = 0;     // a checkpoint after so many updates
  std::optional<std::uint32_t> frequent;  // values with places of their own, at most
  unsigned hash_bits = 20;
};

std::string make_clicks(const std::string& path, std::uint64_t rows, std::uint64_t seed) {
  std::ofstream file(path, std::ios::binary);
  std::string text;
  for (std::uint64_t first = 0; first < rows; first += 10'000) {
    text.clear();
    append_planted_clicks(text, first, 10'000, seed);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
  }
  if (!file.flush()) fail("cannot write " + path);
  return path;
}

void run(const std::string& dir, const Options& options) {
  const std::string path =
      options.file.empty() ? make_clicks(dir + "/clicks.tsv", options.rows, options.seed) : options.file;
  const double begin = cpu_seconds();
  Shards shards(dir);
  ingest::IngestPlan plan;
  plan.options = click_options();
  plan.schema = click_schema();
  plan.raw_bytes = std::filesystem::file_size(path);
  {
    FileSource source(path);
    need(ingest::run_ingest(source, plan, shards, {}));
  }
  shards.finish();
  const double ingested = cpu_seconds();

  trainer::JobSpec spec;
  spec.name = "clicks";
  spec.dataset_id = "dst_bench";
  spec.target = plan.schema.columns[0].name;
  spec.features.categories = trainer::FeatureOptions::Categories::hash;
  spec.features.numbers = trainer::FeatureOptions::Numbers::hash;
  spec.features.hash_bits = options.hash_bits;
  spec.features.frequent_levels = options.frequent;
  spec.split.valid = 0;
  spec.split.test = 0.1;
  if (!options.parameters.empty()) spec.parameters = json::parse(options.parameters);
  Watch watch;
  forget_peak();
  trainer::TrainOptions how;
  how.checkpoint_steps = options.checkpoint_steps;
  const auto trained = need(trainer::train(shards, plan.schema, spec, std::nullopt, how, watch));
  const double done = cpu_seconds();
  const json evaluation = json::parse(trained.evaluation_json);
  const double peak = static_cast<double>(peak_bytes());
  const double weights = evaluation["model"]["weights"].get<double>() * sizeof(float);
  const double scored = predict_seconds(shards, plan.schema, trained.model);
  double rows = 0;
  for (const json& role : evaluation["rows"]) rows += role.get<double>();

  const json peer = options.alone ? json() : peer_of(path);
  const bool there = peer.is_object();
  const auto of_peer = [&](const char* name) { return there ? peer[name].get<double>() : 0; };
  const double pass = 5 * evaluation["rows"]["train"].get<double>() / (watch.ended - watch.began);
  print({kBench, "pass", "rows/s cpu", pass, there ? 5 * of_peer("train_rows") / of_peer("fit") : 0,
         "SGDClassifier"});
  print({kBench, "end_to_end", "rows/s cpu", rows / (done - begin), there ? rows / of_peer("all") : 0,
         "pandas + hash + SGDClassifier"});
  print({kBench, "predict", "rows/s cpu", rows / scored, there ? of_peer("test_rows") / of_peer("score") : 0,
         "decision_function, parsed already"});
  print({kBench, "auc", "1", evaluation["metrics"]["test"]["auc"]["value"].get<double>(), of_peer("auc"),
         "SGDClassifier"});
  print({kBench, "ingest_seconds", "s cpu", ingested - begin, there ? of_peer("parse") : 0, "pandas + hash"});
  print({kBench, "evaluate_seconds", "s cpu", done - watch.ended, 0, ""});
  print({kBench, "train_rss", "MB", peak / 1e6, 0, ""});
  print({kBench, "train_rss_beyond_weights", "MiB", (peak - weights) / (1 << 20), 64, "what is allowed"});
  if (!there && !options.alone)
    std::fprintf(stderr, "bench_glm: no scikit-learn here (apt install python3-sklearn python3-pandas)\n");
}

}  // namespace
}  // namespace samovar::bench

int main(int argc, char** argv) {
  samovar::bench::be_like_a_worker(argv);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(sysconf(_SC_NPROCESSORS_ONLN) - 1), &one);
  (void)sched_setaffinity(0, sizeof one, &one);  // children too: both on the same core
  if (!samovar::security::init()) return 1;
  const std::string dir =
      std::filesystem::temp_directory_path() / ("samovar-bench-" + std::to_string(::getpid()));
  std::filesystem::create_directories(dir);
  samovar::bench::Options options;
  if (samovar::bench::has_flag(argc, argv, "--quick")) options.rows = 200'000;
  options.alone = samovar::bench::has_flag(argc, argv, "--alone");
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--file=")) options.file = argument.substr(7);
    if (argument.starts_with("--rows=")) options.rows = std::strtoull(argv[i] + 7, nullptr, 10);
    if (argument.starts_with("--parameters=")) options.parameters = argument.substr(13);
    if (argument.starts_with("--checkpoint-steps="))
      options.checkpoint_steps = std::strtoull(argv[i] + 19, nullptr, 10);
    if (argument.starts_with("--frequent="))
      options.frequent = static_cast<std::uint32_t>(std::strtoul(argv[i] + 11, nullptr, 10));
    if (argument.starts_with("--hash-bits="))
      options.hash_bits = static_cast<unsigned>(std::strtoul(argv[i] + 12, nullptr, 10));
    if (argument.starts_with("--seed=")) options.seed = std::strtoull(argv[i] + 7, nullptr, 10);
  }
  samovar::bench::run(dir, options);
  std::filesystem::remove_all(dir);
  return 0;
}
