// The statistics of one block, made by the thread that parsed it. They are merged in order by ProfileBuilder.
//
// Threading: DistinctCounters may be added to from many threads; the rest are values.
#pragma once
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "daemon/ingest/association.hpp"
#include "daemon/ingest/block_dictionary.hpp"
#include "daemon/ingest/column_stage.hpp"
#include "trainer/data/block.hpp"
#include "trainer/data/schema.hpp"

namespace samovar::ingest {

// How many different values each column has, estimated within 2 % (HyperLogLog). A register only grows, so
// the threads' order does not matter.
class DistinctCounters {
 public:
  explicit DistinctCounters(std::size_t columns);
  void add(std::size_t column, std::uint64_t hash) noexcept {
    std::atomic<std::uint8_t>& cell = registers_[column << kBits | hash >> (64 - kBits)];
    // The mark ends the zeros of a hash that has no other bit: no register goes beyond 65 - kBits.
    const std::uint64_t rest = hash << kBits | std::uint64_t{1} << (kBits - 1);
    // As many zeros as the register has seen, or more: rare, and a shift is quicker than counting them.
    const unsigned seen = cell.load(std::memory_order_relaxed);
    if (rest >> 1 >> (63 - seen) == 0) [[unlikely]]
      raise(cell, rest);
  }
  std::uint64_t estimate(std::size_t column) const noexcept;

 private:
  static constexpr unsigned kBits = 12;
  static void raise(std::atomic<std::uint8_t>& cell, std::uint64_t rest) noexcept;
  std::unique_ptr<std::atomic<std::uint8_t>[]> registers_;
};

struct LevelCount {
  std::uint64_t hash = 0;
  std::uint64_t count = 0;
  std::string text;  // cut to kLevelBytesMax
};
inline constexpr std::size_t kLevelBytesMax = 100;

struct ColumnStats {
  std::uint64_t present = 0;
  std::uint64_t missing = 0;
  // Numbers, booleans, times.
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double mean = 0;
  double m2 = 0;
  std::vector<double> sample;        // the present ones of the sampled rows
  std::vector<std::int64_t> values;  // integers, booleans: the distinct ones, when they lie close together
  bool values_complete = false;
  // Texts.
  std::uint64_t length_min = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t length_max = 0;
  double length_sum = 0;
  // Categories, texts, booleans.
  std::vector<LevelCount> levels;
  bool levels_complete = true;  // all of them, counted over all rows

  // The two's values together (Chan, Golub, LeVeque 1979). Not sample, values and levels.
  void merge(const ColumnStats& other) noexcept;
};

// Of two columns, where both are present.
struct PairMoments {
  double count = 0;
  double mean_x = 0;
  double mean_y = 0;
  double xx = 0;
  double yy = 0;
  double xy = 0;
  void merge(const PairMoments& other) noexcept;
};
struct Comoments {
  static constexpr std::size_t kColumnsMax = 256;
  std::vector<std::uint32_t> columns;  // rising: the first kColumnsMax of numbers
  std::vector<PairMoments> pairs;      // (0,1) (0,2) … (1,2) …
};

struct BlockStats {
  std::vector<ColumnStats> columns;
  std::uint32_t sampled_rows = 0;
  Comoments comoments;
  RowSample rows;
};

// Which share of the rows the costly parts look at: the same for all blocks of a file.
struct StatsPlan {
  static StatsPlan make(const trainer::Schema& schema, std::uint64_t rows_expected);
  double sample_share = 1;
  double moments_share = 1;
};

bool is_number(trainer::ColumnType type) noexcept;  // has moments: real, integer, boolean, time

class StatsMaker {
 public:
  StatsMaker(const trainer::Schema& schema, DistinctCounters& distinct);
  void begin(const StatsPlan& plan, std::uint32_t rows, BlockStats& out);
  // Of each column once it is finished; `dictionary` is that of a category.
  void add(std::size_t column, const trainer::BlockColumn& data, const BlockDictionary& dictionary,
           const char* text);
  void finish();

 private:
  void add_integers(std::size_t column, const trainer::BlockColumn& data, ColumnStats& stats);
  void add_reals(std::size_t column, const trainer::BlockColumn& data, ColumnStats& stats);
  void add_category(std::size_t column, const trainer::BlockColumn& data, const BlockDictionary& dictionary,
                    const char* text, ColumnStats& stats);
  void add_text(std::size_t column, const trainer::BlockColumn& data, ColumnStats& stats);
  void count_distinct(std::size_t column, const std::uint64_t* words, std::size_t count,
                      std::uint64_t missing);
  template <class T>
  void add_deviations(std::size_t column, const std::vector<T>& values, double mean);
  PairMoments pair(std::size_t x, std::size_t y) const;
  // The first rows of a column that is in the plan, each as word(row).
  template <class Word>
  void add_rows(std::size_t column, Word word);

  DistinctCounters& distinct_;
  const AssociationPlan association_;
  std::vector<std::uint32_t> numbers_;
  std::vector<std::uint32_t> place_;  // by column: in numbers_, or kNone
  BlockStats* out_ = nullptr;
  std::uint32_t rows_ = 0;
  std::uint32_t moment_rows_ = 0;
  std::vector<std::uint32_t> counts_;
  std::vector<std::uint64_t> words_;
  std::vector<std::uint64_t> hashes_;
  // Of the number columns: deviations from the mean, 0 where missing, and whether present.
  std::vector<std::vector<double>> deviations_;
  std::vector<std::vector<double>> presence_;  // empty: all are
};

}  // namespace samovar::ingest
