// Training's way to the rows: blocks in a seeded order, read and decrypted ahead on a thread of its own,
// handed out as batches of floats and codes.
//
// A block is read into a buffer, checked and left there; its values are copied once, out of their packed form
// into the batch. There are `blocks_ahead` + 1 buffers, which is all the memory it takes.
//
// The order depends on the plan alone: the same source, plan and cursor give the same batches, whatever the
// threads do. A cursor saved between two batches goes on with the very next one.
//
// Threading: one thread uses a reader; another, which the reader starts and joins, calls the source and the
// level coder.
// Ownership: borrows source, schema and level coder, which outlive it.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "trainer/data/block.hpp"
#include "trainer/data/schema.hpp"

namespace samovar::trainer {

// Where blocks come from: sealed shards in the product, memory in tests.
class BlockSource {
 public:
  virtual ~BlockSource() = default;
  virtual std::size_t blocks() const = 0;  // the same at every call, as is rows()
  virtual std::uint32_t rows(std::size_t block) const = 0;
  // The same, also where another worker reads them and rows() is 0 therefore.
  virtual std::uint32_t rows_of_all(std::size_t block) const { return rows(block); }
  // Replaces `out`; keeping its room saves time. Called from one thread at a time.
  virtual Result<void> read(std::size_t block, Bytes& out) = 0;
  // What it lies in is here. From any thread.
  virtual bool here(std::size_t) const { return true; }
};

// The number by which a model knows a level. A block numbers its levels as they came; this makes the numbers
// of all blocks agree: a dictionary fitted on the training rows, or a hash. Called once per level and block.
class LevelCoder {
 public:
  virtual ~LevelCoder() = default;
  // `column` is that of the schema. BlockView::kMissingCode: to be treated as missing.
  virtual std::uint32_t code(std::size_t column, std::string_view level) const = 0;
  // For a value that is missing.
  virtual std::uint32_t missing(std::size_t) const { return BlockView::kMissingCode; }
  // All levels of a block's column, and a missing value last: `out` has room for them. The same numbers, for
  // coders that are faster in one go.
  virtual void codes(std::size_t column, const BlockView& block, std::span<std::uint32_t> out) const;
};

// Feature hashing: the level's place among 2^bits, other for every column and seed.
class HashedLevels final : public LevelCoder {
 public:
  HashedLevels(unsigned bits, std::uint64_t seed) noexcept;  // 1 to 31 bits
  std::uint32_t code(std::size_t column, std::string_view level) const override;

 private:
  const unsigned shift_;
  const std::uint64_t seed_;
};

struct ReadPlan {
  enum class Layout : std::uint8_t {
    columns,  // one value after the other of a column: trees
    rows,     // one value after the other of a row: gradients
  };
  std::vector<std::size_t> numbers;     // columns read as floats: real, integer, boolean, time; NaN: missing
  std::vector<std::size_t> categories;  // columns read as codes
  Layout layout = Layout::columns;
  std::uint32_t batch_rows = 4096;  // a batch ends with its block, so the last one of a block may have fewer
  std::uint64_t seed = 1;
  bool shuffle_blocks = true;          // another order in every pass
  bool shuffle_rows = false;           // within a block
  std::vector<std::uint32_t> blocks;   // those of this worker; empty: all
  std::uint64_t passes = 1;            // 0: without end
  std::uint64_t first_pass = 0;        // without a cursor; one of `passes`
  std::size_t blocks_ahead = 2;        // 0: no thread, blocks are read when they are needed
  const LevelCoder* levels = nullptr;  // null: codes are those of the batch's block
  std::shared_ptr<const void> keeps;   // whatever must live as long: the coder, when nobody else holds it
  // Nothing is laid out: the caller takes values from the block, and the codes of levels from level_codes().
  bool codes_only = false;
};

// Between two batches.
struct DataCursor {
  std::uint64_t pass = 0;
  std::uint32_t position = 0;   // in the order of the pass
  std::uint32_t row = 0;        // of that block, in the order they are handed out
  std::uint64_t plan_mark = 0;  // of what decides the order
  friend bool operator==(const DataCursor&, const DataCursor&) = default;
};
Bytes encode_cursor(const DataCursor& cursor);
Result<DataCursor> decode_cursor(ByteView bytes);

class Batch {
 public:
  std::uint32_t rows() const noexcept { return rows_; }

  // By place in ReadPlan::numbers and ::categories, for Layout::columns …
  std::span<const float> numbers(std::size_t place) const noexcept;
  std::span<const std::uint32_t> codes(std::size_t place) const noexcept;
  // … and by row, for Layout::rows.
  std::span<const float> number_row(std::uint32_t row) const noexcept;
  std::span<const std::uint32_t> code_row(std::uint32_t row) const noexcept;
  // All of them: rows() × columns in the order of the layout.
  std::span<const float> all_numbers() const noexcept { return numbers_; }
  std::span<const std::uint32_t> all_codes() const noexcept { return codes_; }

  // By place in ReadPlan::categories: what the coder made of each level of the block, and last of a missing
  // value. For plans with a coder.
  std::span<const std::uint32_t> level_codes(std::size_t place) const noexcept;
  const LevelCoder* coder() const noexcept { return coder_; }

  // For texts, sparse rows and levels: the block, and where in it a row of the batch lies.
  const BlockView& block() const noexcept { return *block_; }
  std::uint32_t block_number() const noexcept { return block_number_; }
  std::uint32_t block_row(std::uint32_t row) const noexcept {
    return order_.empty() ? first_ + row : order_[first_ + row];
  }
  // All of them; empty: they lie one after the other from block_row(0) on.
  std::span<const std::uint32_t> block_rows() const noexcept {
    return order_.empty() ? order_ : order_.subspan(first_, rows_);
  }

 private:
  friend class BatchReader;
  const BlockView* block_ = nullptr;
  std::uint32_t block_number_ = 0;
  std::uint32_t first_ = 0;
  std::uint32_t rows_ = 0;
  std::span<const std::uint32_t> order_;  // rows of the block; empty: as they lie
  std::span<const std::vector<std::uint32_t>> levels_;
  const LevelCoder* coder_ = nullptr;
  std::vector<float> numbers_;
  std::vector<std::uint32_t> codes_;
};

class BatchReader {
 public:
  // Errc::invalid when the plan asks for what the schema does not have; Errc::conflict when the cursor
  // belongs to another plan or source.
  static Result<std::unique_ptr<BatchReader>> open(BlockSource& source, const Schema& schema, ReadPlan plan,
                                                   std::optional<DataCursor> from = std::nullopt);
  ~BatchReader();
  BatchReader(const BatchReader&) = delete;
  BatchReader& operator=(const BatchReader&) = delete;

  // Null once at the end of a pass, and ever after the last. A batch lives until the next call. After an
  // error every call gives an error.
  Result<const Batch*> next();
  DataCursor cursor() const noexcept;
  std::uint64_t pass() const noexcept { return cursor().pass; }

 private:
  struct State;
  explicit BatchReader(std::unique_ptr<State> state);
  Result<bool> next_block();
  void fill(std::uint32_t first, std::uint32_t rows);
  std::unique_ptr<State> state_;
};

}  // namespace samovar::trainer
