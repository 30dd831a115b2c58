// A table made up for tests: the same values as blocks of a data set and as rows that a program sends.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "trainer/data/reader.hpp"
#include "trainer/features/pipeline.hpp"

namespace samovar::tests {

// Sparse values are written as "index:value index:value".
class MemoryTable final : public trainer::BlockSource {
 public:
  explicit MemoryTable(trainer::Schema schema, std::uint32_t block_rows = 500)
      : schema_(std::move(schema)), block_rows_(block_rows), columns_(schema_.columns.size()) {}

  // One value for each column.
  void add(std::vector<trainer::RawValue> row);
  // Columns may be made after the fact.
  std::vector<trainer::RawValue>& column(std::size_t index) { return columns_[index]; }

  const trainer::Schema& schema() const { return schema_; }
  std::uint32_t all_rows() const { return static_cast<std::uint32_t>(columns_[0].size()); }
  trainer::RawTable raw(std::uint32_t first, std::uint32_t rows) const;
  trainer::RawTable raw() const { return raw(0, all_rows()); }

  std::size_t blocks() const override { return (all_rows() + block_rows_ - 1) / block_rows_; }
  std::uint32_t rows(std::size_t block) const override;
  Result<void> read(std::size_t block, Bytes& out) override;

 private:
  const trainer::Schema schema_;
  const std::uint32_t block_rows_;
  std::vector<std::vector<trainer::RawValue>> columns_;
};

// Columns of all types, some values missing, levels and words that come again; "yes", "class", "number" and
// "count" can be targets.
MemoryTable random_table(std::uint32_t rows, std::uint64_t seed);

}  // namespace samovar::tests
