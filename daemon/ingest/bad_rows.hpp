// The rows that could not be read: written aside with their line and reason, counted, and weighed against the
// limit above which the file was not understood at all.
//
// Threading: one thread. Borrows the sink.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "daemon/ingest/block_parser.hpp"
#include "daemon/ingest/pipeline.hpp"

namespace samovar::ingest {

class BadRows {
 public:
  BadRows(const IngestPlan& plan, ShardSink& sink) : plan_(plan), sink_(sink) {
    by_column_.resize(plan.schema.columns.size());
  }

  Result<void> add(BadRow&& row);
  // Errc::invalid once too many of the rows so far are bad.
  Result<void> check(std::uint64_t good_rows) const;
  // Writes what is still held back; no row at all is an error too.
  Result<void> finish(std::uint64_t good_rows);
  std::uint64_t count() const noexcept { return count_; }
  std::uint64_t kept() const noexcept { return kept_; }

 private:
  struct Cause {
    std::uint64_t count = 0;
    std::string example;
  };
  Result<void> write();
  std::string sentence(std::uint64_t good_rows) const;

  const IngestPlan& plan_;
  ShardSink& sink_;
  std::uint64_t count_ = 0;
  std::uint64_t kept_ = 0;
  bool header_written_ = false;
  std::vector<Cause> by_column_;
  Cause shape_;  // ragged, not UTF-8: nothing to do with one column
  // Blocks come in the order of the deal: held back a while, so that the file is (mostly) in the order of
  // lines.
  std::vector<BadRow> held_;
  std::size_t held_bytes_ = 0;
};

}  // namespace samovar::ingest
