// A pipeline's inputs among the columns of a data set: found by name, converted where the type is another.
//
// Threading: constant after construction.
// Ownership: borrows the plan and the codes of its levels, which outlive it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainer/data/reader.hpp"
#include "trainer/features/columns.hpp"
#include "trainer/features/level_codes.hpp"

namespace samovar::trainer {

// Made for one schema; reads the levels of its blocks.
class BoundColumns final : public LevelCoder {
 public:
  enum class Way : std::uint8_t {
    absent,   // not there, or nothing that could stand for it: missing in every row
    direct,   // as it lies in the block
    written,  // as text, then read: a category where training had numbers, …
  };
  struct Input {
    Way way = Way::absent;
    std::size_t column = 0;
    ColumnType type = ColumnType::real;  // of the data set
    std::size_t place = 0;               // in ReadPlan::categories, for levels that are read directly
  };

  BoundColumns(const PipelinePlan& plan, const LevelCodes& codes, const Schema& schema);

  std::uint32_t code(std::size_t column, std::string_view level) const override;
  std::uint32_t missing(std::size_t column) const override;
  void codes(std::size_t column, const BlockView& block, std::span<std::uint32_t> out) const override;

  const std::vector<std::size_t>& categories() const { return categories_; }
  const Input& input(std::size_t i) const { return inputs_[i]; }
  const std::uint32_t* number_places(std::size_t i) const {
    return number_places_[i].empty() ? nullptr : number_places_[i].data();
  }
  const std::optional<std::size_t>& target() const { return target_; }
  ColumnType target_type() const { return target_type_; }
  const std::optional<std::size_t>& weight() const { return weight_; }
  const std::optional<std::size_t>& offset() const { return offset_; }
  const std::optional<std::size_t>& exposure() const { return exposure_; }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  const LevelCodes& codes_;
  std::vector<Input> inputs_;
  std::vector<std::vector<std::uint32_t>> number_places_;  // per input; mostly empty
  std::vector<std::size_t> categories_;
  std::vector<std::uint32_t> input_of_;  // per column, for coding levels
  std::optional<std::size_t> target_, weight_, offset_, exposure_;
  ColumnType target_type_ = ColumnType::real;
};

class BatchColumns final : public InputColumns {
 public:
  BatchColumns(const PipelinePlan& plan, const LevelCodes& codes, const BoundColumns& bound,
               const Batch& batch)
      : plan_(plan),
        codes_(codes),
        bound_(bound),
        batch_(batch),
        rows_(batch.rows()),
        order_(batch.block_rows()) {}
  // These rows of the batch alone.
  BatchColumns(const PipelinePlan& plan, const LevelCodes& codes, const BoundColumns& bound,
               const Batch& batch, std::span<const std::uint32_t> rows);

  std::uint32_t rows() const { return rows_; }

  void numbers(std::size_t input, std::uint32_t first, std::span<double> out) const override;
  void slots(std::size_t input, std::uint32_t first, std::uint32_t rows, std::uint32_t* out,
             std::size_t stride) const override;
  bool number_slots(std::size_t input, std::uint32_t first, std::uint32_t rows, std::uint32_t* out,
                    std::size_t stride) const override;
  const std::uint32_t* number_places(std::size_t input) const override { return bound_.number_places(input); }
  std::string_view text(std::size_t input, std::uint32_t row) const override;
  BlockView::SparseRow sparse(std::size_t input, std::uint32_t row) const override;

  // Target, weight and offset.
  void labels(bool with_target, EncodedBatch& out) const;

 private:
  std::uint32_t at(std::uint32_t row) const {
    return order_.empty() ? batch_.block_row(0) + row : order_[row];
  }
  void column_numbers(std::size_t column, std::uint32_t first, std::span<double> out) const;
  bool written(const BoundColumns::Input& from, std::uint32_t row) const;
  void target(EncodedBatch& out) const;
  void offset(EncodedBatch& out) const;

  const PipelinePlan& plan_;
  const LevelCodes& codes_;
  const BoundColumns& bound_;
  const Batch& batch_;
  const std::uint32_t rows_;
  std::vector<std::uint32_t> chosen_;     // rows of the block, when they are not the batch's
  std::span<const std::uint32_t> order_;  // rows of the block; empty: as they lie from the batch's first on
  mutable std::string written_;           // the value being converted
};

}  // namespace samovar::trainer
