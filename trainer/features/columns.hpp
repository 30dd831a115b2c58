// Columns as a pipeline reads them, wherever they lie: a block of a data set, or rows that a program sent.
// What is made of them is written once, so both ways give the same bits.
//
// Threading: pure.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "trainer/data/block.hpp"
#include "trainer/features/encoded_batch.hpp"
#include "trainer/features/level_codes.hpp"
#include "trainer/features/plan.hpp"

namespace samovar::trainer {

// Asked with the input's place in PipelinePlan::inputs.
class InputColumns {
 public:
  virtual ~InputColumns() = default;
  // Rows [first, first + out.size()); NaN or an infinity: missing.
  virtual void numbers(std::size_t input, std::uint32_t first, std::span<double> out) const = 0;
  // Inputs with levels: the weight of each row's level, to out[0], out[stride], …
  virtual void slots(std::size_t input, std::uint32_t first, std::uint32_t rows, std::uint32_t* out,
                     std::size_t stride) const = 0;
  // Hashed numbers: the weight of each row's, as slots() has it for levels. False: not here, take numbers().
  virtual bool number_slots(std::size_t, std::uint32_t, std::uint32_t, std::uint32_t*, std::size_t) const {
    return false;
  }
  // The places of a hashed number by LevelCodes::number_places, where it is worth having them all; else null.
  virtual const std::uint32_t* number_places(std::size_t) const { return nullptr; }
  virtual std::string_view text(std::size_t input, std::uint32_t row) const = 0;  // missing: empty
  virtual BlockView::SparseRow sparse(std::size_t input, std::uint32_t row) const = 0;
};

// What an offset or exposure column adds to the linear predictor; a missing value adds nothing.
float offset_part(double value, bool logarithm) noexcept;

// Fills all but target, weight and offset.
void encode_rows(const PipelinePlan& plan, const LevelCodes& codes, const InputColumns& columns,
                 std::uint32_t rows, EncodedBatch& out);
// Of these rows only the chosen ones, which ascend. All are read: it is quicker where most are chosen.
void encode_most_rows(const PipelinePlan& plan, const LevelCodes& codes, const InputColumns& columns,
                      std::uint32_t rows, std::span<const std::uint32_t> chosen, EncodedBatch& out);

}  // namespace samovar::trainer
