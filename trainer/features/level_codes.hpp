// From the levels and tokens of an input to their weights.
//
// Threading: constant after construction.
// Ownership: borrows the plan, which outlives it.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trainer/data/block.hpp"
#include "trainer/features/own_places.hpp"
#include "trainer/features/plan.hpp"
#include "trainer/features/tokens.hpp"

namespace samovar::trainer {

class LevelCodes {
 public:
  LevelCodes(const PipelinePlan& plan, const Tokens& tokens);

  // For an input that is `levels` or `level_hash`. kNoSlot: none of the weights. An empty level is a missing
  // value, as is "NA" and the like unless training had that as a level.
  std::uint32_t weight(std::size_t input, std::string_view level) const;
  // Of hashed numbers, too.
  std::uint32_t missing(std::size_t input) const;
  // Those of all levels of a block's column, and of a missing value last.
  void weights(std::size_t input, const BlockView& block, std::size_t column,
               std::span<std::uint32_t> out) const;
  // The places of all numbers by Tokens::number_token, and of what is no number.
  std::vector<std::uint32_t> number_places(std::size_t input) const;
  const OwnPlaces& own(std::size_t input) const noexcept { return own_[input]; }
  const Tokens& tokens() const noexcept { return tokens_; }
  // False for a level that training gave no place of its own.
  bool known(std::size_t input, std::string_view level) const;

 private:
  void hashed_eights(std::size_t input, std::string_view chars, std::uint32_t* out) const;

  const PipelinePlan& plan_;
  const Tokens& tokens_;
  std::vector<std::unordered_map<std::string_view, std::uint32_t>> levels_;  // per input
  std::vector<OwnPlaces> own_;                                               // per input
};

}  // namespace samovar::trainer
