// Data sets in memory for programs that train: generated clicks, or a file.
//
// Threading: constant after construction; read() from any thread.
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "daemon/ingest/pipeline.hpp"
#include "trainer/data/reader.hpp"
#include "trainer/spec.hpp"

namespace samovar::bench {

// The blocks of a data set.
class MemoryBlocks final : public ingest::ShardSink, public trainer::BlockSource {
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
  std::uint64_t bytes() const {
    std::uint64_t all = 0;
    for (const Bytes& one : bytes_) all += one.size();
    return all;
  }
  Result<void> read(std::size_t block, Bytes& out) override {
    out = bytes_[block];
    return {};
  }

 private:
  std::mutex mutex_;
  std::vector<std::uint32_t> rows_;
  std::vector<Bytes> bytes_;
};

struct TrainingData {
  std::string name;
  std::unique_ptr<MemoryBlocks> blocks = std::make_unique<MemoryBlocks>();
  trainer::Schema schema;
  trainer::JobSpec spec;  // a logistic regression by FTRL on it
};

// 39 columns hashed into 2^hash_bits weights.
// `sorted_by`: a column, by whose text the rows are put in order first; and nothing shuffles them again.
std::unique_ptr<TrainingData> generated_clicks(std::uint64_t rows, unsigned hash_bits,
                                               std::optional<unsigned> sorted_by = std::nullopt);
// `target` empty: the first column. Ends the program when the file cannot be read.
std::unique_ptr<TrainingData> data_of_file(const std::string& path, const std::string& target);
// Into at least so many blocks, of rows of about the same number. A row's role depends on its block, so what
// is to be compared is cut once.
void cut(TrainingData& data, std::size_t blocks);

// Each block to one of the workers, in turn.
std::vector<std::vector<std::uint32_t>> deal(std::size_t blocks, std::size_t workers);
// Those side by side to one worker.
std::vector<std::vector<std::uint32_t>> deal_runs(std::size_t blocks, std::size_t workers);

}  // namespace samovar::bench
