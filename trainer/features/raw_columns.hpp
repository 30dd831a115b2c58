// Rows that a program or a form sent, as columns of the types that training had.
//
// Threading: constant after construction.
// Ownership: borrows plan and codes, which outlive it.
#pragma once
#include <string>
#include <vector>

#include "trainer/features/columns.hpp"
#include "trainer/features/level_codes.hpp"
#include "trainer/features/pipeline.hpp"

namespace samovar::trainer {

// The columns of a data set that are missing or have another type.
std::vector<InputWarning> column_warnings(const PipelinePlan& plan, const Schema& schema);

class RawColumns final : public InputColumns {
 public:
  RawColumns(const PipelinePlan& plan, const LevelCodes& codes, const RawTable& table,
             std::vector<InputWarning>& warnings);

  void numbers(std::size_t input, std::uint32_t first, std::span<double> out) const override;
  void slots(std::size_t input, std::uint32_t first, std::uint32_t rows, std::uint32_t* out,
             std::size_t stride) const override;
  std::string_view text(std::size_t input, std::uint32_t row) const override;
  BlockView::SparseRow sparse(std::size_t input, std::uint32_t row) const override;
  void offset(const RawTable& table, EncodedBatch& out) const;

 private:
  struct Column {
    std::vector<double> numbers;
    std::vector<std::uint32_t> slots;
    std::vector<std::string> texts;
    std::vector<std::uint32_t> ends, indices;  // sparse
    std::vector<float> values;
  };
  const PipelinePlan& plan_;
  std::vector<Column> columns_;  // per input
};

}  // namespace samovar::trainer
