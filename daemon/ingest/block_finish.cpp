// From staged cells, in the order of the file, to the block's columns, in the order of the deal.
#include "daemon/ingest/block_parser.hpp"
#include "daemon/ingest/stage_loops.hpp"

namespace samovar::ingest {

using trainer::BlockColumn;
using trainer::ColumnType;

void BlockParser::shuffle_good_rows() {
  order_.clear();
  for (std::uint32_t row = 0; row < in_->rows(); ++row) {
    if (skip_[row] == 0) {
      order_.push_back(row);
    } else {
      for (ColumnStage& stage : stages_) stage.stage_missing(row);  // no level of a category is theirs alone
    }
  }
  if (rules_.in_order) return;
  // Fisher-Yates; the block's number makes each block's order its own.
  std::uint64_t state = mix_word(rules_.seed ^ mix_word(in_->sequence + 0x9e3779b97f4a7c15));
  for (std::size_t left = order_.size(); left > 1; --left) {
    state += 0x9e3779b97f4a7c15;
    const auto pick = static_cast<std::size_t>((mix_word(state) >> 32) * left >> 32);
    std::swap(order_[left - 1], order_[pick]);
  }
}

const BlockColumn& BlockParser::finish_column(std::size_t column) {
  const ColumnStage& stage = stages_[column];
  const std::size_t rows = order_.size();
  BlockColumn& out = finished_[static_cast<std::size_t>(stage.type)];
  out.type = stage.type;
  switch (stage.type) {
    case ColumnType::category:
      finish_category(column, out);
      break;
    case ColumnType::text:
      finish_text(stage, out);
      break;
    case ColumnType::sparse:
      finish_sparse(stage, out);
      break;
    case ColumnType::real:
      out.valid.resize(rows);
      out.reals.resize(rows);
      if (!stage_loops::pick(stage.reals.data(), order_.data(), rows, out.reals.data(), out.valid.data()))
        out.valid.clear();
      break;
    default:
      out.valid.resize(rows);
      out.integers.resize(rows);
      if (!stage_loops::pick(stage.integers.data(), order_.data(), rows, out.integers.data(),
                             out.valid.data()))
        out.valid.clear();
  }
  return out;
}

void BlockParser::finish_category(std::size_t column, BlockColumn& out) {
  const std::size_t rows = order_.size();
  ColumnStage& stage = stages_[column];
  std::uint32_t& levels = levels_[column];
  if (stage.hex)
    dictionary_.encode(stage.keys, stage.gone, in_->rows(), levels, codes_);
  else
    dictionary_.encode(in_->text.data(), rules_.cells.tokens, stage.cells, levels, codes_);
  no_hex_[column] = stage.hex ? 0 : 1;
  levels = static_cast<std::uint32_t>(dictionary_.size());
  dictionary_.write_levels(out.chars, out.ends);
  out.codes.resize(rows);
  out.valid.resize(rows);
  if (!stage_loops::pick(codes_.data(), order_.data(), rows, out.codes.data(), out.valid.data()))
    out.valid.clear();
}

void BlockParser::finish_text(const ColumnStage& stage, BlockColumn& out) {
  const std::size_t rows = order_.size();
  const char* const text = in_->text.data();
  out.valid.resize(rows);
  out.ends.resize(rows);
  out.chars.clear();
  for (std::size_t i = 0; i < rows; ++i) {
    const Cell& cell = stage.cells[order_[i]];
    const std::string_view value = cell == kNoCell ? std::string_view() : cell_text(cell, text);
    const bool missing = cell == kNoCell || rules_.cells.missing(value);
    out.valid[i] = missing ? 0 : 1;
    if (!missing) out.chars.insert(out.chars.end(), value.begin(), value.end());
    out.ends[i] = static_cast<std::uint32_t>(out.chars.size());
  }
}

void BlockParser::finish_sparse(const ColumnStage& stage, BlockColumn& out) {
  const std::size_t rows = order_.size();
  out.valid.clear();
  out.ends.resize(rows);
  out.indices.clear();
  out.values.clear();
  for (std::size_t i = 0; i < rows; ++i) {
    const std::uint32_t begin = stage.sparse_begin[order_[i]];
    const std::uint32_t end = stage.sparse_end[order_[i]];
    out.indices.insert(out.indices.end(), stage.indices.begin() + begin, stage.indices.begin() + end);
    out.values.insert(out.values.end(), stage.values.begin() + begin, stage.values.begin() + end);
    out.ends[i] = static_cast<std::uint32_t>(out.indices.size());
  }
}

}  // namespace samovar::ingest
