// Rows as a linear model sees them: places among its weights, and values there.
//
// The weights of a model lie in one vector: first `dense_width` for numbers (each row has a value for each of
// them), then the places of levels, hashed words and sparse columns. The intercept is apart.
//
// Threading: values.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace samovar::trainer {

inline constexpr std::uint32_t kNoSlot = 0xffffffff;

struct EncodedBatch {
  std::uint32_t rows = 0;
  std::size_t dense_width = 0;
  std::size_t slot_width = 0;
  std::vector<float> dense;          // rows × dense_width, a row after the other; never NaN
  std::vector<std::uint32_t> slots;  // rows × slot_width: a weight that counts once; kNoSlot: none

  // What differs in number from row to row: words of texts, sparse columns. Empty when the model has none.
  std::vector<std::uint32_t> ragged_ends;  // one per row
  std::vector<std::uint32_t> ragged_slots;
  std::vector<float> ragged_values;
  std::vector<std::uint16_t> ragged_inputs;  // the column of FeaturePipeline::inputs() that each comes from

  // Classes are numbered from 0. Target and weight are empty when predicting.
  std::vector<float> target;
  std::vector<float> weight;  // empty: all 1; 0: a row that counts nowhere
  std::vector<float> offset;  // added to the linear predictor; empty: all 0
};

}  // namespace samovar::trainer
