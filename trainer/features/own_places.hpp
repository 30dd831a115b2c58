// The frequent values of a hashed input, which have places of their own: no other value ends there.
//
// Asked once per level and block: most levels of a block are rare, and a filter of a few kilobytes tells so
// by the hash alone. Levels of eight bytes, such as hexadecimal codes, are looked up many at once and without
// a jump, for which of them are frequent cannot be guessed.
//
// Threading: constant after construction.
// Ownership: borrows the input, which outlives it.
#pragma once
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "trainer/features/plan.hpp"
#include "trainer/features/tokens.hpp"

namespace samovar::trainer {

class OwnPlaces {
 public:
  // `at` is the input's place in the plan.
  OwnPlaces(const InputPlan& input, std::size_t at, const Tokens& tokens);

  bool has_levels() const noexcept { return !levels_.empty(); }
  bool has_numbers() const noexcept { return !numbers_.empty(); }
  // False: certainly none. `upper` is Tokens::level_upper of the level.
  bool may_have(std::uint32_t upper) const noexcept { return filter_bit(upper) != 0; }
  // kNoSlot: no place of its own. Only where there are levels.
  std::uint32_t level(std::uint32_t upper, std::string_view text) const noexcept;
  // Levels of eight bytes each, whose Tokens::level_upper are in `out`: all their places instead.
  // False, and nothing is done, where too many
  // of its own have the same hash.
  bool eights(const char* chars, std::size_t levels, const Tokens& tokens, std::uint32_t* out) const noexcept;
  // By Tokens::number_token.
  std::uint32_t number(std::uint16_t token) const noexcept;
  const std::vector<std::pair<std::uint16_t, std::uint32_t>>& numbers() const noexcept { return numbers_; }
  // Of a missing value, whether it is its own or not.
  std::uint32_t missing() const noexcept { return missing_; }

 private:
  struct Level {
    std::uint32_t upper = 0;
    std::uint32_t place = 0;
    std::string_view text;
  };
  // Cuckoo hashing (Pagh and Rodler 2001): a level is in one of two cells.
  struct Cell {
    std::uint64_t eight = 0;
    std::uint32_t place = kNoSlot;  // free
  };
  std::uint64_t filter_bit(std::uint32_t upper) const noexcept {
    return filter_[upper >> filter_shift_ >> 6] >> (upper >> filter_shift_ & 63) & 1;
  }
  std::size_t first_cell(std::uint32_t upper) const noexcept { return upper & (cells_.size() - 1); }
  std::size_t second_cell(std::uint32_t upper) const noexcept {
    return (upper * std::uint64_t{0x9e37'79b1} >> 16) & (cells_.size() - 1);
  }
  void make_cells();
  bool fill_cells(const std::vector<std::uint32_t>& eights);

  std::vector<Level> levels_;
  std::vector<Cell> cells_;           // those of eight bytes; empty: too many of them have the same hash
  std::vector<std::uint32_t> table_;  // by the lower bits of a hash; 1 + a place in levels_, 0: free
  std::vector<std::uint64_t> filter_;
  unsigned filter_shift_ = 0;
  std::vector<std::pair<std::uint16_t, std::uint32_t>> numbers_;  // by token
  std::uint32_t missing_ = kNoSlot;
};

}  // namespace samovar::trainer
