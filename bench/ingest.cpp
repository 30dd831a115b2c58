// From a raw click log on the disk to sealed shards on the disk, on one core, beside pandas.read_csv of the
// same file and beside the least that any reader must do. Then the memory that a long file takes.
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/disk.hpp"
#include "bench/bench.hpp"
#include "bench/click_text.hpp"
#include "bench/sources.hpp"
#include "daemon/ingest/pipeline.hpp"
#include "daemon/store/shard_file.hpp"
#include "security/init.hpp"

namespace samovar::bench {
namespace {

constexpr std::string_view kBench = "ingest";

// The same rows again and again: a file larger than one would like to write.
class LongSource final : public ingest::Source {
 public:
  LongSource(std::string text, std::uint64_t bytes) : text_(std::move(text)), left_(bytes) {}
  Result<std::size_t> read(MutableBytes out) override {
    const std::size_t bytes = std::min({out.size(), text_.size() - at_, static_cast<std::size_t>(left_)});
    std::copy_n(text_.data() + at_, bytes, out.data());
    at_ = (at_ + bytes) % text_.size();
    left_ -= bytes;
    read_ += bytes;
    return bytes;
  }
  std::uint64_t raw_bytes_read() const override { return read_; }

 private:
  const std::string text_;
  std::size_t at_ = 0;
  std::uint64_t left_;
  std::uint64_t read_ = 0;
};

class SealingSink final : public ingest::ShardSink {
 public:
  explicit SealingSink(std::string dir) : dir_(std::move(dir)), key_(security::SecretBytes::random(32)) {}

  Result<void> block(std::uint32_t shard, std::uint32_t rows, ByteView encoded) override {
    auto& writer = writers_[shard];
    if (!writer) {
      SAMOVAR_TRY(auto file,
                  real_disk().open(dir_ + "/shard-" + std::to_string(shard), OpenMode::create_new));
      SAMOVAR_TRY(writer, store::ShardWriter::create(std::move(file), key_, {"dst_bench", shard, 1}));
    }
    return writer->append(rows, encoded);
  }
  Result<void> bad_row(std::string_view) override { return {}; }

  std::uint64_t finish() {
    std::uint64_t bytes = 0;
    for (auto& [shard, writer] : writers_) bytes += need(writer->finish()).stored_bytes;
    return bytes;
  }

 private:
  const std::string dir_;
  const security::SecretBytes key_;
  std::map<std::uint32_t, std::unique_ptr<store::ShardWriter>> writers_;
};

class NullSink final : public ingest::ShardSink {
 public:
  Result<void> block(std::uint32_t, std::uint32_t, ByteView encoded) override {
    bytes += encoded.size();
    return {};
  }
  Result<void> bad_row(std::string_view) override { return {}; }
  std::uint64_t bytes = 0;
};

std::string fresh_dir(const std::string& dir) {
  std::filesystem::remove_all(dir);
  std::filesystem::create_directories(dir);
  return dir;
}

ingest::IngestPlan plan_of(std::uint64_t bytes, unsigned threads) {
  ingest::IngestPlan plan;
  plan.options = click_options();
  plan.schema = click_schema();
  plan.raw_bytes = bytes;
  plan.threads = threads;
  return plan;
}

double pandas_cpu_seconds(const std::string& path, int rounds) {
  const std::string command =
      "/usr/bin/python3 -c \"import time,pandas\n"
      "best=1e9\n"
      "for i in range(" +
      std::to_string(rounds) + "):\n t=time.process_time(); d=pandas.read_csv('" + path +
      "',sep='\\t',header=None); best=min(best,time.process_time()-t)\n"
      "print(best)\" 2>/dev/null";
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return 0;
  double seconds = 0;
  if (std::fscanf(pipe, "%lf", &seconds) != 1) seconds = 0;
  ::pclose(pipe);
  return seconds;
}

long peak_rss_kib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

void write_text(const std::string& path, std::uint64_t rows) {
  std::ofstream file(path, std::ios::binary);
  std::string text;
  for (std::uint64_t first = 0; first < rows; first += 10'000) {
    text.clear();
    append_click_text(text, first, std::min<std::uint64_t>(10'000, rows - first), 1);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
  }
  if (!file.flush()) fail("cannot write " + path);
}

double scan_seconds(const std::string& path, std::uint64_t bytes, double budget) {
  std::string text(bytes + 64, '\0');
  std::ifstream(path, std::ios::binary).read(text.data(), static_cast<std::streamsize>(bytes));
  return best_cpu_seconds(budget, [&] { keep(scan_click_text(text.data(), bytes)); });
}

void long_file(bool quick) {
  const std::uint64_t bytes = quick ? 512u << 20 : std::uint64_t{4} << 30;
  std::string piece;
  append_click_text(piece, 0, 20'000, 2);
  LongSource endless(std::move(piece), bytes);
  NullSink nowhere;
  const double before = cpu_seconds();
  const auto report = need(ingest::run_ingest(endless, plan_of(bytes, 2), nowhere, {}));
  const double seconds = cpu_seconds() - before;
  print({kBench, "long_file_bytes", "GB", static_cast<double>(bytes) / 1e9, 0, ""});
  print({kBench, "long_file_shards", "1", static_cast<double>(report.shards), 0, ""});
  print({kBench, "long_file_speed_2_threads", "MB/s cpu", static_cast<double>(bytes) / 1e6 / seconds, 0, ""});
  print({kBench, "long_file_peak_rss", "MB", static_cast<double>(peak_rss_kib()) / 1e3, 0, ""});
}

// Alone: without the long file and the peer.
void run(const std::string& dir, bool quick, bool alone) {
  const std::uint64_t rows = quick ? 200'000 : 1'000'000;
  const std::string path = dir + "/clicks.tsv";
  write_text(path, rows);
  const std::uint64_t bytes = std::filesystem::file_size(path);
  const double mb = static_cast<double>(bytes) / 1e6;

  if (!alone) long_file(quick);  // the memory first, while nothing else has been used

  std::uint64_t stored = 0;
  double sealed = 1e300;
  for (int round = 0; round < (quick ? 3 : 8); ++round) {
    const std::string shards = fresh_dir(dir + "/shards");  // removing the last round's is not part of it
    const double before = cpu_seconds();
    FileSource source(path);
    SealingSink sink(shards);
    need(ingest::run_ingest(source, plan_of(bytes, 1), sink, {}));
    stored = sink.finish();
    sealed = std::min(sealed, cpu_seconds() - before);
  }
  std::uint64_t packed = 0;
  const double parsed = best_cpu_seconds(quick ? 1 : 3, [&] {
    FileSource source(path);
    NullSink sink;
    need(ingest::run_ingest(source, plan_of(bytes, 1), sink, {}));
    packed = sink.bytes;
  });
  const double scan = scan_seconds(path, bytes, quick ? 0.5 : 2);
  const double pandas = alone ? 0 : pandas_cpu_seconds(path, quick ? 1 : 3);
  print({kBench, "file", "MB", mb, 0, ""});
  print({kBench, "stored", "MB", static_cast<double>(stored) / 1e6, 0, ""});
  print({kBench, "file_to_sealed_shards", "MB/s cpu", mb / sealed, pandas > 0 ? mb / pandas : 0,
         "pandas.read_csv"});
  print({kBench, "rows_to_sealed_shards", "rows/s cpu", static_cast<double>(rows) / sealed, 0, ""});
  print({kBench, "file_to_packed_blocks", "MB/s cpu", mb / parsed, 0, ""});
  print({kBench, "share_of_limit_sealed", "1", scan / sealed, 0, ""});
  print({kBench, "share_of_limit_packed", "1", scan / parsed, 0, ""});
  print({kBench, "limit_split_parse_hash", "MB/s cpu", mb / scan, 0, ""});
  if (pandas <= 0 && !alone)
    std::fprintf(stderr, "bench_ingest: no pandas here (apt install python3-pandas)\n");
}

}  // namespace
}  // namespace samovar::bench

int main(int argc, char** argv) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(sysconf(_SC_NPROCESSORS_ONLN) - 1), &one);
  (void)sched_setaffinity(0, sizeof one, &one);  // children too: both on the same core
  if (!samovar::security::init()) return 1;
  const std::string dir =
      std::filesystem::temp_directory_path() / ("samovar-bench-" + std::to_string(::getpid()));
  samovar::bench::fresh_dir(dir);
  samovar::bench::run(dir, samovar::bench::has_flag(argc, argv, "--quick"),
                      samovar::bench::has_flag(argc, argv, "--alone"));
  std::filesystem::remove_all(dir);
  return 0;
}
