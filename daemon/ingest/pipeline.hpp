// The whole way of a file: unpack → cut into records → parse in parallel → deal rows to shards by a seed →
// pack blocks. Statistics are gathered on the way. Bounded memory, whatever the size of the file.
//
// The same file, plan and seed give the same blocks, however many threads work.
//
// Threading: run_ingest blocks; it starts `threads` threads of its own and joins them.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "daemon/ingest/options.hpp"
#include "daemon/ingest/source.hpp"
#include "trainer/data/schema.hpp"

namespace samovar::ingest {

struct IngestPlan {
  ParseOptions options;
  trainer::Schema schema;  // in the file's order of columns
  std::uint64_t seed = 1;
  std::uint64_t raw_bytes = 0;  // of the upload; 0: unknown
  unsigned threads = 1;
  bool in_order = false;  // one shard, whose rows are as the file has them
  std::uint64_t memory_bytes_max = 256u << 20;
  double bad_rows_share_max = 0.05;  // of the rows so far, once past bad_rows_free
  std::uint64_t bad_rows_free = 1000;
  std::uint64_t bad_rows_kept_max = 100'000;  // more are only counted
};

// Where blocks go. Called from one thread.
class ShardSink {
 public:
  virtual ~ShardSink() = default;
  virtual Result<void> block(std::uint32_t shard, std::uint32_t rows, ByteView encoded) = 0;
  // One line of the bad rows' file: "line,reason,text\n", CSV with a header first.
  virtual Result<void> bad_row(std::string_view csv_line) = 0;
};

struct IngestReport {
  std::uint64_t rows = 0;
  std::uint64_t bad_rows = 0;
  std::uint32_t shards = 0;
  trainer::Schema schema;    // as found: an integer column may have become real
  std::string profile_json;  // profile.hpp
  std::vector<std::string> notes;
};

struct IngestProgress {
  std::uint64_t raw_bytes = 0;
  std::uint64_t rows = 0;
  std::uint64_t bad_rows = 0;
};

// Errc::invalid with a sentence for the user; Errc::conflict when `progress` returned false (cancelled).
Result<IngestReport> run_ingest(Source& raw, const IngestPlan& plan, ShardSink& sink,
                                const std::function<bool(const IngestProgress&)>& progress);

// How many shards a file of this many unpacked bytes is dealt to.
std::uint32_t shard_count(std::uint64_t unpacked_bytes) noexcept;

}  // namespace samovar::ingest
