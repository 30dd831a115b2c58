// A text through the whole pipeline and back out of its blocks.
#pragma once
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/ingest/pipeline.hpp"
#include "trainer/data/block.hpp"

namespace samovar::test {

class TextSource final : public ingest::Source {
 public:
  explicit TextSource(std::string text, std::size_t step = ~std::size_t{0})
      : text_(std::move(text)), step_(step) {}
  Result<std::size_t> read(MutableBytes out) override {
    const std::size_t bytes = std::min({out.size(), text_.size() - at_, step_});
    std::copy_n(text_.data() + at_, bytes, out.data());
    at_ += bytes;
    return bytes;
  }
  std::uint64_t raw_bytes_read() const override { return at_; }

 private:
  const std::string text_;
  const std::size_t step_;
  std::size_t at_ = 0;
};

struct KeepingSink final : ingest::ShardSink {
  struct Block {
    std::uint32_t shard = 0;
    std::uint32_t rows = 0;
    Bytes bytes;
    friend bool operator==(const Block&, const Block&) = default;
  };
  Result<void> block(std::uint32_t shard, std::uint32_t rows, ByteView encoded) override {
    blocks.push_back({shard, rows, to_bytes(encoded)});
    return {};
  }
  Result<void> bad_row(std::string_view line) override {
    bad += line;
    return {};
  }
  std::vector<Block> blocks;
  std::string bad;
};

using TextRow = std::vector<std::optional<std::string>>;

inline std::optional<std::string> value_text(const trainer::BlockView& view, const trainer::Schema& schema,
                                             std::size_t column, std::uint32_t row) {
  if (!view.valid(column, row)) return std::nullopt;
  switch (schema.columns[column].type) {
    case trainer::ColumnType::category:
    case trainer::ColumnType::text:
      return std::string(view.text(column, row));
    case trainer::ColumnType::real: {
      double value = 0;
      view.reals(column, row, std::span(&value, 1));
      return std::to_string(value);
    }
    case trainer::ColumnType::sparse: {
      std::string out;
      const auto pairs = view.sparse(column, row);
      for (std::size_t i = 0; i < pairs.indices.size(); ++i) {
        out += std::to_string(pairs.indices[i]) + ":" + std::to_string(pairs.values[i]) + " ";
      }
      return out;
    }
    default: {
      std::int64_t value = 0;
      view.integers(column, row, std::span(&value, 1));
      return std::to_string(value);
    }
  }
}

// All rows, in the order of the blocks. Nothing when a block does not open.
inline std::optional<std::vector<TextRow>> rows_of(const KeepingSink& sink, const trainer::Schema& schema) {
  std::vector<TextRow> rows;
  for (const KeepingSink::Block& block : sink.blocks) {
    const auto view = trainer::BlockView::open(block.bytes, schema);
    if (!view || view->rows() != block.rows) return std::nullopt;
    for (std::uint32_t row = 0; row < view->rows(); ++row) {
      TextRow cells;
      for (std::size_t c = 0; c < schema.columns.size(); ++c)
        cells.push_back(value_text(*view, schema, c, row));
      rows.push_back(std::move(cells));
    }
  }
  return rows;
}

inline trainer::Schema schema_of(const std::vector<std::pair<std::string, trainer::ColumnType>>& columns) {
  trainer::Schema schema;
  for (const auto& [name, type] : columns) schema.columns.push_back({name, type, false});
  return schema;
}

inline ingest::IngestPlan plan_of(trainer::Schema schema, std::size_t bytes) {
  ingest::IngestPlan plan;
  plan.schema = std::move(schema);
  plan.raw_bytes = bytes;
  return plan;
}

}  // namespace samovar::test
