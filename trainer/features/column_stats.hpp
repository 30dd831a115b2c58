// What a pipeline learns about one column from the training rows, block by block, in little memory.
//
// Workers that read different blocks each learn a part: put() and merge() make of the parts what one worker
// would have learned from all of them, sums within rounding and everything else exactly.
//
// Threading: values.
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trainer/data/block.hpp"
#include "trainer/solvers/state.hpp"

namespace samovar::trainer {

// How many different values there were, from the smallest of their hashes (Bar-Yossef et al. 2002): exact for
// up to kKept, within some 3 % beyond.
class DistinctCount {
 public:
  void add(std::uint64_t hash);
  double estimate() const;
  void put(StateWriter& out) const { out.put(heap_); }
  void merge(StateReader& in);

 private:
  static constexpr std::size_t kKept = 1024;
  std::vector<std::uint64_t> heap_;    // the largest in front
  std::vector<std::uint64_t> recent_;  // seen lately, by their low bits: most values come again soon
};

struct NumberStats {
  std::uint64_t present = 0;
  std::uint64_t missing = 0;
  std::uint64_t infinite = 0;  // of those missing
  double mean = 0;
  double squares = 0;  // of the differences from the mean, summed
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  bool rising = true;       // within a block, each value above the one before it
  std::uint32_t hours = 0;  // a bit for each hour of the day that a time had
  std::uint32_t weekdays = 0;
  DistinctCount distinct;

  // `use` has a byte for each value: 0 is passed over. The values are overwritten.
  void add(std::span<double> values, std::span<const std::uint8_t> use, bool times, bool identity);
  double deviation() const;
  void put(StateWriter& out) const;
  void merge(StateReader& in);

 private:
  void combine(std::uint64_t count, double their_mean, double their_squares);
};

class LevelCounts {
 public:
  // Counts up to `levels_max` levels; `exact` gives up at more, else the rare ones make room.
  LevelCounts(std::size_t levels_max, bool exact) : levels_max_(levels_max), exact_(exact) {}

  void add(const BlockView& block, std::size_t column, std::span<const std::uint8_t> use);

  bool too_many() const { return too_many_; }
  std::uint64_t present() const { return present_; }
  std::uint64_t missing() const { return missing_; }
  double distinct() const { return distinct_.estimate(); }
  // The most frequent first, at most levels_max; `rest` tells whether there are others.
  std::vector<std::string> levels(bool& rest) const;
  void put(StateWriter& out) const;
  void merge(StateReader& in);

 private:
  void count(std::string_view level, std::uint64_t rows);
  void make_room();

  std::size_t levels_max_;
  bool exact_;
  bool too_many_ = false;
  bool pruned_ = false;
  std::uint64_t present_ = 0;
  std::uint64_t missing_ = 0;
  std::unordered_map<std::string, std::uint64_t> counts_;
  DistinctCount distinct_;
};

struct TextStats {
  std::uint64_t present = 0;
  std::uint64_t looked_at = 0;  // of them, for words and distinct values
  std::uint64_t words = 0;
  DistinctCount distinct;
  void add(const BlockView& block, std::size_t column, std::span<const std::uint8_t> use);
  void put(StateWriter& out) const;
  void merge(StateReader& in);
};

struct SparseStats {
  std::uint64_t pairs = 0;
  std::uint32_t index_max = 0;
  void add(const BlockView& block, std::size_t column, std::span<const std::uint8_t> use);
  void put(StateWriter& out) const;
  void merge(StateReader& in);
};

std::uint64_t hash_of(std::string_view text) noexcept;

}  // namespace samovar::trainer
