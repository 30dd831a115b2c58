// Sealed shards on disk back into batches of columns: how much of the time is more than the decryption that
// has to be. Plain bytes are those inside the seal; time is the processor's, of all threads together.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <tuple>

#include "base/disk.hpp"
#include "bench/bench.hpp"
#include "bench/samples.hpp"
#include "bench/sources.hpp"
#include "daemon/store/shard_file.hpp"
#include "security/aead.hpp"
#include "security/init.hpp"
#include "trainer/data/reader.hpp"

namespace {

using namespace samovar;
using namespace samovar::bench;
using namespace samovar::trainer;

class Bench {
 public:
  Bench(bool quick, const char* only)
      : quick_(quick), only_(only), key_(security::SecretBytes::random(security::kAeadKeyBytes)) {
    const char* base = std::getenv("TMPDIR");
    folder_ = std::string(base != nullptr ? base : "/tmp") + "/samovar-bench-XXXXXX";
    if (mkdtemp(folder_.data()) == nullptr) std::exit(1);
    path_ = folder_ + "/shard";
  }
  ~Bench() {
    ignore(real_disk().remove(path_), "the folder stays behind, small");
    rmdir(folder_.c_str());
  }

  // XChaCha20-Poly1305 over chunks of the shards' size, in memory.
  double decrypt_alone() {
    const std::size_t chunk = security::kSealedChunkBytes;
    const Bytes plain(chunk, 7);
    Bytes sealed(chunk + security::kAeadTagBytes);
    Bytes out(chunk);
    const security::AeadNonce nonce{};
    security::seal_with_nonce(key_, nonce, plain, {}, sealed);
    constexpr int kChunks = 64;
    const double seconds = best_cpu_seconds(quick_ ? 0.2 : 1, [&] {
      for (int i = 0; i < kChunks; ++i) {
        if (!security::open_with_nonce(key_, nonce, sealed, {}, out)) std::exit(1);
      }
      keep(out[0]);
    });
    return static_cast<double>(chunk) * kChunks / seconds / 1e9;
  }

  void run(const std::string& name, const Schema& schema, const std::vector<BlockColumns>& kinds) {
    const store::ShardSummary shard = write(kinds);
    const double plain = static_cast<double>(shard.plain_bytes);
    ReadPlan plan;
    for (std::size_t c = 0; c < schema.columns.size(); ++c)
      (schema.columns[c].type == ColumnType::category ? plan.categories : plan.numbers).push_back(c);
    const HashedLevels hashed(22, 1);
    for (const auto& [what, layout, shuffled, levels] :
         {std::tuple{"columns", ReadPlan::Layout::columns, false, false},
          std::tuple{"rows", ReadPlan::Layout::rows, false, false},
          std::tuple{"rows shuffled, levels hashed", ReadPlan::Layout::rows, true, true}}) {
      if (only_ != nullptr && std::string(what) != only_) continue;
      plan.layout = layout;
      plan.shuffle_rows = shuffled;
      plan.levels = levels ? &hashed : nullptr;
      std::uint64_t batch_bytes = 0;
      double wall = 1e300;
      const double seconds = best_cpu_seconds(quick_ ? 0.5 : 2, [&] {
        const double before = wall_seconds();
        batch_bytes = read(schema, plan, shard);
        wall = std::min(wall, wall_seconds() - before);
      });
      // Right after it, so that a busy neighbour slows both alike.
      const double alone = decrypt_alone();
      const std::string metric = name + ", " + what;
      print({"read_blocks", metric, "GB/s plain per core", plain / seconds / 1e9, alone,
             "XChaCha20-Poly1305 alone"});
      print({"read_blocks", metric + ": batches", "GB/s per core",
             static_cast<double>(batch_bytes) / seconds / 1e9});
      print({"read_blocks", metric + ": by the clock", "GB/s plain", plain / wall / 1e9});
    }
  }

 private:
  store::ShardSummary write(const std::vector<BlockColumns>& kinds) {
    ignore(real_disk().remove(path_), "there may be none");
    const auto file_id = store::shard_place("dst_bench", 1, 0);
    auto writer =
        need(store::ShardWriter::create(need(real_disk().open(path_, OpenMode::create_new)), key_, file_id));
    const std::uint64_t goal = quick_ ? 48u << 20 : 256u << 20;
    Bytes bytes;
    for (std::size_t i = 0; writer->plain_bytes() < goal; ++i) {
      bytes.clear();
      encode_block(kinds[i % kinds.size()], bytes);
      need(writer->append(kinds[i % kinds.size()].rows, bytes));
    }
    return need(writer->finish());
  }

  std::uint64_t read(const Schema& schema, const ReadPlan& plan, const store::ShardSummary& shard) {
    const auto file_id = store::shard_place("dst_bench", 1, 0);
    ShardSource source(
        need(store::ShardReader::open(need(real_disk().open(path_, OpenMode::read)), key_, file_id)));
    const auto reader = need(BatchReader::open(source, schema, plan));
    std::uint64_t bytes = 0;
    std::uint64_t rows = 0;
    while (const Batch* batch = need(reader->next())) {
      bytes += batch->all_numbers().size_bytes() + batch->all_codes().size_bytes();
      rows += batch->rows();
      keep(batch->all_numbers()[0]);
    }
    if (rows != shard.rows) std::exit(1);
    return bytes;
  }

  const bool quick_;
  const char* const only_;  // one way of reading, for a profiler
  const security::SecretBytes key_;
  std::string folder_;
  std::string path_;
};

}  // namespace

int main(int argc, char** argv) {
  need(security::init({.require_locked_memory = false, .harden_process = false}));
  const bool quick = has_flag(argc, argv, "--quick");
  Bench bench(quick, argc == 2 + (quick ? 1 : 0) ? argv[argc - 1] : nullptr);
  constexpr std::uint32_t kRows = 8192;
  std::vector<BlockColumns> clicks;
  std::vector<BlockColumns> measured;
  Schema click_schema;
  Schema schema;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    auto [cs, c] = click_log(kRows, seed);
    auto [ms, m] = measurements(kRows, seed);
    click_schema = std::move(cs);
    schema = std::move(ms);
    clicks.push_back(std::move(c));
    measured.push_back(std::move(m));
  }
  bench.run("click log", click_schema, clicks);
  bench.run("measurements", schema, measured);
  return 0;
}
