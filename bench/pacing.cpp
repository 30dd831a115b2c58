// How exactly a worker keeps to its duty: a real samovar-worker trains on generated rows until it is told to
// stop, at full duty and at parts of it; its CPU time over the wall's.
//
//   ./dev bench pacing [--quick]     asked for: 0.5 of the CPU time at a duty of 0.5, within 5 %
#include <fmt/format.h>
#include <sys/resource.h>

#include <cmath>
#include <filesystem>
#include <thread>
#include <vector>

#include "base/json.hpp"
#include "bench/bench.hpp"
#include "daemon/jobs/train_runner.hpp"
#include "daemon/store/shard_file.hpp"
#include "security/init.hpp"
#include "trainer/data/block.hpp"
#include "trainer/data/schema.hpp"

namespace samovar {
namespace {

using bench::need;
using security::SecretBytes;

constexpr std::uint32_t kShards = 4;
constexpr std::uint32_t kRows = 65'536;

double children_cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

class Lab {
 public:
  explicit Lab(std::string program) {
    char name[] = "/tmp/samovar-pacing-XXXXXX";
    if (mkdtemp(name) == nullptr) bench::fail("no temporary folder");
    dir_ = name;
    options_.program = std::move(program);
    options_.dial = std::make_shared<jobs::WorkerDial>();
    schema_.columns = {{"x", trainer::ColumnType::real, false},
                       {"z", trainer::ColumnType::real, false},
                       {"y", trainer::ColumnType::boolean, false}};
    for (const char* one : {"data", "job", "model"}) need(real_disk().make_dir(dir_ + "/" + one));
    for (std::uint32_t shard = 0; shard < kShards; ++shard) write_shard(shard);
  }
  ~Lab() { std::filesystem::remove_all(dir_); }

  // CPU seconds a second of the worker.
  double run(double duty, double seconds) {
    options_.dial->duty = duty;
    jobs::WorkerSignals signals;
    jobs::TrainHooks hooks;
    hooks.step = [](const jobs::StepMessage&) {};
    hooks.metric = [](const jobs::MetricMessage&) {};
    hooks.log = [](const jobs::LogMessage&) {};
    hooks.checkpoint = [](const jobs::SavedFile&, const std::string&) -> Result<void> { return {}; };
    const double cpu = children_cpu_seconds();
    const double begin = bench::wall_seconds();
    std::jthread ender([&] {
      std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
      signals.kill = true;
    });
    const auto done = jobs::run_train_worker(real_disk(), options_, task(), signals, hooks);
    const double wall = bench::wall_seconds() - begin;
    if (done || done.error().code() != Errc::conflict)
      bench::fail("the training ended before it was stopped: " + (done ? "trained" : done.error().message()));
    return (children_cpu_seconds() - cpu) / wall;
  }

 private:
  void write_shard(std::uint32_t shard) {
    const std::string path = dir_ + "/data/" + std::to_string(shard);
    paths_.push_back(path);
    auto writer = need(store::ShardWriter::create(need(real_disk().open(path, OpenMode::create_new)),
                                                  data_key_, store::shard_place("dst_1", 1, shard)));
    trainer::BlockColumns block;
    block.rows = kRows;
    block.columns.resize(3);
    block.columns[0].type = block.columns[1].type = trainer::ColumnType::real;
    block.columns[2].type = trainer::ColumnType::boolean;
    for (std::uint32_t i = 0; i < kRows; ++i) {
      const double x = std::sin(static_cast<double>(i * 7 + shard));
      block.columns[0].reals.push_back(x);
      block.columns[1].reals.push_back(std::cos(static_cast<double>(i * 3 + shard)));
      block.columns[2].integers.push_back((x > 0) != (i % 5 == 0) ? 1 : 0);
    }
    Bytes encoded;
    trainer::encode_block(block, encoded);
    need(writer->append(kRows, encoded));
    need(writer->finish());
  }

  jobs::TrainTask task() const {
    jobs::TrainTask task;
    task.shard_paths = paths_;
    task.job_dir = dir_ + "/job";
    task.model_dir = dir_ + "/model";
    task.job.job_id = "job_1";
    task.job.store_id = "mdl_1";
    task.job.spec_json =
        nlohmann::json{{"kind", "glm"},
                       {"name", "m"},
                       {"dataset", "dst_1"},
                       {"target", "y"},
                       {"parameters", {{"solver", "adagrad"}, {"passes", 100'000}, {"early_stop", false}}}}
            .dump();
    task.job.schema_json = trainer::encode_schema(schema_);
    task.job.dataset_id = "dst_1";
    task.job.shards = kShards;
    task.job.checkpoint_ms = 3'600'000;
    task.job.data_key = data_key_.clone();
    task.job.job_key = key_.clone();
    task.job.model_key = key_.clone();
    return task;
  }

  std::string dir_;
  jobs::WorkerOptions options_;
  trainer::Schema schema_;
  std::vector<std::string> paths_;
  const SecretBytes data_key_ = SecretBytes::random(32);
  const SecretBytes key_ = SecretBytes::random(32);
};

}  // namespace
}  // namespace samovar

int main(int argc, char** argv) {
  using namespace samovar;
  const bool quick = argc > 1 && std::string_view(argv[1]) == "--quick";
  bench::need(security::init());
  Lab lab(SAMOVAR_WORKER);
  const double seconds = quick ? 6 : 20;
  const double full = lab.run(1, seconds);
  fmt::print("duty 1.00: {:.3f} cores\n", full);
  bool good = true;
  for (const double duty : {0.5, 0.25, 0.75}) {
    const double part = lab.run(duty, seconds);
    const double off = part / full / duty - 1;
    fmt::print("duty {:.2f}: {:.3f} cores, {:.3f} of full, {:+.1f} % off\n", duty, part, part / full,
               off * 100);
    if (duty == 0.5) good = std::abs(off) <= 0.05;
    std::fflush(stdout);
  }
  return good ? 0 : 1;
}
