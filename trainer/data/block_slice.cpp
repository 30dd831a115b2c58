#include "trainer/data/block_slice.hpp"

#include <map>

namespace samovar::trainer {
namespace {

class Slicer {
 public:
  Slicer(const BlockView& block, std::uint32_t first, std::uint32_t rows)
      : block_(block), first_(first), rows_(rows) {}

  BlockColumn column(std::size_t at, ColumnType type) const {
    BlockColumn out;
    out.type = type;
    if (!block_.all_valid(at)) {
      out.valid.resize(rows_);
      for (std::uint32_t row = 0; row < rows_; ++row) out.valid[row] = block_.valid(at, first_ + row) ? 1 : 0;
    }
    switch (type) {
      case ColumnType::real:
        out.reals.resize(rows_);
        block_.reals(at, first_, std::span<double>(out.reals));
        break;
      case ColumnType::integer:
      case ColumnType::boolean:
      case ColumnType::time:
        out.integers.resize(rows_);
        block_.integers(at, first_, out.integers);
        break;
      case ColumnType::category:
        levels(at, out);
        break;
      case ColumnType::text:
        for (std::uint32_t row = 0; row < rows_; ++row) {
          const std::string_view text = block_.text(at, first_ + row);
          out.chars.insert(out.chars.end(), text.begin(), text.end());
          out.ends.push_back(static_cast<std::uint32_t>(out.chars.size()));
        }
        break;
      case ColumnType::sparse:
        for (std::uint32_t row = 0; row < rows_; ++row) {
          const auto pairs = block_.sparse(at, first_ + row);
          out.indices.insert(out.indices.end(), pairs.indices.begin(), pairs.indices.end());
          out.values.insert(out.values.end(), pairs.values.begin(), pairs.values.end());
          out.ends.push_back(static_cast<std::uint32_t>(out.indices.size()));
        }
        break;
    }
    return out;
  }

 private:
  // Only those that are there, numbered as they come.
  void levels(std::size_t at, BlockColumn& out) const {
    std::vector<std::uint32_t> codes(rows_);
    block_.codes(at, first_, codes);
    std::map<std::uint32_t, std::uint32_t> numbers;
    out.codes.resize(rows_);
    for (std::uint32_t row = 0; row < rows_; ++row) {
      if (codes[row] == BlockView::kMissingCode) continue;
      const auto [found, first] = numbers.try_emplace(codes[row], static_cast<std::uint32_t>(numbers.size()));
      out.codes[row] = found->second;
      if (!first) continue;
      const std::string_view level = block_.level(at, codes[row]);
      out.chars.insert(out.chars.end(), level.begin(), level.end());
      out.ends.push_back(static_cast<std::uint32_t>(out.chars.size()));
    }
  }

  const BlockView& block_;
  const std::uint32_t first_;
  const std::uint32_t rows_;
};

}  // namespace

void slice_block(const BlockView& block, const Schema& schema, std::uint32_t first, std::uint32_t rows,
                 Bytes& out) {
  SAMOVAR_ASSERT(first <= block.rows() && rows <= block.rows() - first);
  const Slicer slicer(block, first, rows);
  BlockColumns columns;
  columns.rows = rows;
  for (std::size_t at = 0; at < schema.columns.size(); ++at)
    columns.columns.push_back(slicer.column(at, schema.columns[at].type));
  encode_block(columns, out);
}

}  // namespace samovar::trainer
