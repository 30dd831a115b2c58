// Which values of hashed inputs are frequent, from a sample of the training rows: they get places of their
// own, so that what is learned of them is not mixed with another value's.
//
// Which blocks are the sample depends on the data set alone, and what a block adds on the block alone:
// however blocks are spread over workers, the sums are the same.
//
// Threading: values.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "trainer/data/block.hpp"
#include "trainer/data/reader.hpp"
#include "trainer/features/plan.hpp"
#include "trainer/solvers/state.hpp"

namespace samovar::trainer {

// For each block of the data set, of whichever worker, whether it belongs to the sample: evenly spread ones
// with about 2^17 rows.
std::vector<bool> frequent_sample(const BlockSource& source);

// What counts of a column in one block of the sample: levels with at least so many rows, at most so many of
// them. Their memory is bounded therefore.
struct FrequentLimits {
  std::uint32_t rows_least = 0;
  std::size_t levels_most = 0;
};
FrequentLimits frequent_limits(std::size_t blocks, std::size_t columns);

// Of one column.
class FrequentCounts {
 public:
  // `use` has a byte for each row: 0 is passed over.
  void add_levels(const BlockView& block, std::size_t column, std::span<const std::uint8_t> use,
                  const FrequentLimits& limits);
  void add_numbers(std::span<const double> values, std::span<const std::uint8_t> use);
  void put(StateWriter& out) const;
  void merge(StateReader& in);

  const std::unordered_map<std::string, std::uint64_t>& levels() const { return levels_; }
  const std::map<std::uint16_t, std::uint64_t>& numbers() const { return numbers_; }
  std::uint64_t missing() const { return missing_; }

 private:
  std::unordered_map<std::string, std::uint64_t> levels_;
  std::map<std::uint16_t, std::uint64_t> numbers_;  // by Tokens::number_token
  std::uint64_t missing_ = 0;
};

// Gives the most frequent values of these inputs places of their own, at most so many of them all together.
struct FrequentInput {
  InputPlan* input = nullptr;
  const FrequentCounts* counts = nullptr;
};
void choose_frequent(std::span<const FrequentInput> inputs, std::size_t most);

}  // namespace samovar::trainer
