// Sealed shards on disk to rows of weights: how much of a pass over advertising logs is reading, and how much
// the feature pipeline adds. Time is the processor's, of all threads together.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/disk.hpp"
#include "bench/bench.hpp"
#include "bench/samples.hpp"
#include "bench/sources.hpp"
#include "daemon/store/shard_file.hpp"
#include "security/aead.hpp"
#include "security/init.hpp"
#include "trainer/features/pipeline.hpp"

namespace {

using namespace samovar;
using namespace samovar::bench;
using namespace samovar::trainer;

// The same blocks once they are open.
class MemorySource final : public BlockSource {
 public:
  explicit MemorySource(BlockSource& from) {
    for (std::size_t i = 0; i < from.blocks(); ++i) {
      sizes_.push_back(from.rows(i));
      need(from.read(i, blocks_.emplace_back()));
    }
  }
  std::size_t blocks() const override { return blocks_.size(); }
  std::uint32_t rows(std::size_t block) const override { return sizes_[block]; }
  Result<void> read(std::size_t block, Bytes& out) override {
    out.assign(blocks_[block].begin(), blocks_[block].end());
    return {};
  }

 private:
  std::vector<Bytes> blocks_;
  std::vector<std::uint32_t> sizes_;
};

class Bench {
 public:
  explicit Bench(bool quick) : quick_(quick), key_(security::SecretBytes::random(security::kAeadKeyBytes)) {
    const char* base = std::getenv("TMPDIR");
    folder_ = std::string(base != nullptr ? base : "/tmp") + "/samovar-bench-XXXXXX";
    if (mkdtemp(folder_.data()) == nullptr) std::exit(1);
    path_ = folder_ + "/shard";
  }
  ~Bench() {
    ignore(real_disk().remove(path_), "the folder stays behind, small");
    rmdir(folder_.c_str());
  }

  void run(const std::string& name, const Schema& schema, const std::vector<BlockColumns>& kinds,
           const JobSpec& spec) {
    write(kinds);
    const auto sealed = open();
    MemorySource plain(*sealed);
    const auto splitter = need(Splitter::make(plain, schema, spec));
    std::vector<std::string> notes;
    const double fit_before = cpu_seconds();
    const auto pipeline = need(FeaturePipeline::fit(plain, schema, spec, *splitter, notes));
    print({"encode", name + ": fit", "seconds", cpu_seconds() - fit_before});
    const auto per_row = [&](const std::string& what, auto&& work) {
      const double seconds = best_cpu_seconds(quick_ ? 0.5 : 2, work);
      print({"encode", name + ": " + what, "ns per row", seconds * 1e9 / static_cast<double>(rows_)});
    };
    per_row("open blocks in memory", [&] { pass(plain, schema, *pipeline, *splitter, false, false, false); });
    per_row("… and code their levels",
            [&] { pass(plain, schema, *pipeline, *splitter, true, false, false); });
    per_row("… and encode", [&] { pass(plain, schema, *pipeline, *splitter, true, true, false); });
    per_row("… and split", [&] { pass(plain, schema, *pipeline, *splitter, true, true, true); });
    per_row("… from sealed shards", [&] { pass(*sealed, schema, *pipeline, *splitter, true, true, true); });
    const double seconds = best_cpu_seconds(
        quick_ ? 0.5 : 2, [&] { pass(*sealed, schema, *pipeline, *splitter, true, true, true); });
    print({"encode", name + ": whole", "M rows/s per core", static_cast<double>(rows_) / seconds / 1e6});
  }

 private:
  void write(const std::vector<BlockColumns>& kinds) {
    ignore(real_disk().remove(path_), "there may be none");
    auto writer = need(store::ShardWriter::create(need(real_disk().open(path_, OpenMode::create_new)), key_,
                                                  store::shard_place("dst_bench", 1, 0)));
    const std::uint64_t goal = quick_ ? 48u << 20 : 256u << 20;
    Bytes bytes;
    rows_ = 0;
    for (std::size_t i = 0; writer->plain_bytes() < goal; ++i) {
      bytes.clear();
      encode_block(kinds[i % kinds.size()], bytes);
      need(writer->append(kinds[i % kinds.size()].rows, bytes));
      rows_ += kinds[i % kinds.size()].rows;
    }
    const auto summary = need(writer->finish());
    print({"encode", "shard", "bytes per row",
           static_cast<double>(summary.plain_bytes) / static_cast<double>(rows_)});
  }
  std::unique_ptr<ShardSource> open() {
    return std::make_unique<ShardSource>(need(store::ShardReader::open(
        need(real_disk().open(path_, OpenMode::read)), key_, store::shard_place("dst_bench", 1, 0))));
  }

  void pass(BlockSource& source, const Schema& schema, const FeaturePipeline& pipeline,
            const Splitter& splitter, bool code, bool encode, bool split) {
    ReadPlan plan = pipeline.read_plan(schema);
    if (!code) plan.categories.clear();
    const auto reader = need(BatchReader::open(source, schema, std::move(plan)));
    EncodedBatch out;
    std::vector<RowRole> roles;
    while (const Batch* batch = need(reader->next())) {
      if (encode) pipeline.encode(*batch, true, out);
      if (split) splitter.roles(*batch, roles);
      keep(out);
    }
  }

  const bool quick_;
  const security::SecretBytes key_;
  std::string folder_;
  std::string path_;
  std::uint64_t rows_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  need(security::init({.require_locked_memory = false, .harden_process = false}));
  Bench bench(has_flag(argc, argv, "--quick"));
  std::vector<BlockColumns> clicks;
  std::vector<BlockColumns> measured;
  Schema click_schema;
  Schema schema;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    auto [cs, c] = click_log(block_rows_max(40), seed);
    auto [ms, m] = measurements(block_rows_max(90), seed);
    click_schema = std::move(cs);
    schema = std::move(ms);
    clicks.push_back(std::move(c));
    measured.push_back(std::move(m));
  }
  JobSpec spec;
  spec.target = "label";
  spec.features.categories = FeatureOptions::Categories::hash;
  spec.features.numbers = FeatureOptions::Numbers::hash;
  spec.features.hash_bits = 20;
  bench.run("click log, hashed", click_schema, clicks, spec);
  spec.features.numbers = FeatureOptions::Numbers::standardise;
  bench.run("click log, numbers standardised", click_schema, clicks, spec);
  spec.target = "x0";
  bench.run("measurements", schema, measured, spec);
  return 0;
}
