// What a fitted pipeline knows, as plain data: which columns it reads, what it does with each, where each has
// its weights. Exports walk over it; docs/formats/model.md tells the same in words.
//
// The weights, in this order: a number of every `number` input, the indicators of missing values, products of
// two numbers (these are the dense ones); then, input by input, the places of levels and of sparse columns;
// then those of crossings; then 2^hash_bits places for all hashed inputs: first those that belong to a
// frequent value each, then those that all other values share.
//
// Threading: values.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trainer/data/schema.hpp"
#include "trainer/features/encoded_batch.hpp"

namespace samovar::trainer {

inline constexpr std::size_t kClassesMax = 1000;
inline constexpr std::size_t kInteractionsMax = 256;
inline constexpr std::size_t kWeightsMax = std::size_t{1} << 30;
inline constexpr std::uint32_t kSparsePlacesMax = 1u << 22;  // hashed beyond
// Of the hashed places, as many as frequent values may have for themselves: the others need theirs, too.
inline constexpr std::uint32_t kOwnPlacesMax = 1u << 16;
constexpr std::uint32_t own_places_max(unsigned hash_bits) noexcept {
  return hash_bits >= 19 ? kOwnPlacesMax : (1u << hash_bits) / 8;
}

enum class Treatment : std::uint8_t {
  number,       // (value - center) × scale; `fill` where it is missing
  number_hash,  // each value is a token among the hashed places, as is a missing one
  levels,       // a place for each level
  level_hash,   // each level is a token
  words,        // each word of a text is a token, with the value 1 / sqrt(words)
  places,       // sparse: a place for each index below `count`
  place_hash,   // sparse: each index is a token
  weekday,      // of a time (UTC), Monday first: seven levels
  hour,         // of a time (UTC): 24 levels
};

struct InputPlan {
  std::string name;
  ColumnType type = ColumnType::real;
  bool sensitive = false;
  Treatment treatment = Treatment::number;

  // number
  double center = 0;
  double scale = 1;
  double fill = 0;          // for a missing value, before centering
  bool indicator = false;   // a weight that counts when the value is missing
  bool seen_range = false;  // min and max are known
  double min = 0;           // of the training rows
  double max = 0;

  // levels: the most frequent first. `other` has the place after the last level: for those that were too rare
  // for one of their own and those that training never saw. `missing` has the place after that.
  std::vector<std::string> levels;
  bool other = false;
  bool missing = false;

  // level_hash, number_hash: values with a place of their own, the most frequent first; numbers as
  // Tokens::number_token has them. A missing value has the place after them.
  std::vector<std::string> frequent;
  std::vector<std::uint16_t> frequent_numbers;
  bool frequent_missing = false;

  // Of the weights, by lay_out(): the number's own, or the first place of several. Of a hashed input, those
  // that it shares with no other.
  std::uint32_t first = 0;
  std::uint32_t count = 0;             // places: saved; else by lay_out()
  std::uint32_t indicator_weight = 0;  // when there is one
  std::uint32_t slot = kNoSlot;        // which of the row's slots it fills; kNoSlot: a number, or ragged
  std::uint16_t column = 0;            // which of FeaturePipeline::inputs() it is
};

struct InteractionPlan {
  enum class Kind : std::uint8_t {
    product,      // of two numbers: a dense weight
    cross,        // of two inputs with places: one for each pair
    cross_hash,   // the pair is a token
    scaled,       // a: places, b: a number; one weight for each place of a, its value is that of b
    scaled_hash,  // the same with a hashed
  };
  std::uint32_t a = 0;  // places in PipelinePlan::inputs
  std::uint32_t b = 0;
  Kind kind = Kind::product;
  // By lay_out().
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t slot = kNoSlot;
};

struct TargetPlan {
  std::string name;
  ColumnType type = ColumnType::real;
  // Of two, the positive one is the second. Empty: a number.
  std::vector<std::string> classes;
};

struct PipelinePlan {
  TargetPlan target;
  std::string weight, offset, exposure;  // columns; empty: none
  std::vector<InputPlan> inputs;
  std::vector<InteractionPlan> interactions;
  std::vector<std::string> unused;  // columns of the training data that are no inputs: no wonder to meet them
  unsigned hash_bits = 18;
  std::uint64_t hash_seed = 1;

  // By lay_out().
  bool hashed = false;
  std::uint32_t hash_first = 0;
  std::uint32_t own_places = 0;  // of the hashed ones: the first so many
  std::size_t dense_width = 0;
  std::size_t slot_width = 0;
  bool ragged = false;
  std::size_t weights = 0;
};

// Gives every input and interaction its weights and slots. False when they are more than kWeightsMax, or
// those of frequent values more than own_places_max.
bool lay_out(PipelinePlan& plan);

}  // namespace samovar::trainer
