#include "daemon/ingest/block_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "daemon/ingest/utf8.hpp"

namespace samovar::ingest {

using trainer::ColumnType;

namespace {

// A group's text and marks stay in the first-level cache while its columns are parsed one after the other.
constexpr std::size_t kGroupBytes = 24u << 10;
constexpr std::size_t kGroupCells = 4096;

bool has_nul(std::string_view text) noexcept { return text.find('\0') != std::string_view::npos; }

}  // namespace

Result<std::unique_ptr<BlockParser>> BlockParser::create(const BlockRules& rules) {
  std::unique_ptr<BlockParser> parser(new BlockParser(rules));
  if (rules.options.format != Format::csv && rules.options.format != Format::pairs) {
    SAMOVAR_TRY(parser->lines_, make_line_parser(rules.options, rules.schema));
  }
  return parser;
}

BlockParser::BlockParser(const BlockRules& rules)
    : rules_(rules), columns_(rules.schema.columns.size()), stats_(rules.schema, rules.distinct) {
  stages_.resize(columns_);
  levels_.resize(columns_);
  no_hex_.resize(columns_);
}

void BlockParser::parse(ShardText& in, ParsedBlock& out) {
  in_ = &in;
  out_ = &out;
  tail_ = in.size;
  out.shard = in.shard;
  out.rows = 0;
  out.encoded = {};
  out.bad_rows.clear();
  out.types.clear();
  skip_.assign(in.rows(), 0);
  const bool hex = !lines_ && HexLevels::suits(rules_.cells.tokens);
  for (std::size_t c = 0; c < columns_; ++c) {
    // A column that was none before is not tried again.
    stages_[c].begin(rules_.schema.columns[c].type, in.rows(), hex && no_hex_[c] == 0);
  }
  if (lines_)
    parse_lines();
  else
    parse_csv();
  std::sort(out.bad_rows.begin(), out.bad_rows.end(),
            [](const BadRow& a, const BadRow& b) { return a.line < b.line; });

  shuffle_good_rows();
  if (order_.empty()) return;
  out.rows = static_cast<std::uint32_t>(order_.size());
  stats_.begin({in.sample_share, in.moments_share}, out.rows, out.stats);
  encoder_.begin(out.rows, columns_, out.room);
  for (std::size_t c = 0; c < columns_; ++c) {
    const trainer::BlockColumn& column = finish_column(c);
    stats_.add(c, column, dictionary_, in.text.data());
    encoder_.add(column);
    out.types.push_back(column.type);
  }
  stats_.finish();
  out.encoded = encoder_.finish();
}

std::string_view BlockParser::row_text(std::uint32_t row) const {
  const std::uint32_t begin = row == 0 ? 0 : in_->ends[row - 1] + 1;
  return {in_->text.data() + begin, in_->ends[row] - begin};
}

void BlockParser::set_bad(std::uint32_t row, std::string reason) {
  if (skip_[row] != 0) return;
  skip_[row] = 1;
  BadRow bad;
  bad.line = in_->lines[row];
  bad.reason = std::move(reason);
  bad.text = printable(row_text(row), BadRow::kTextBytesMax);
  out_->bad_rows.push_back(std::move(bad));
}

void BlockParser::set_unfit(std::uint32_t row, std::size_t column, std::string_view value) {
  if (skip_[row] != 0) return;
  const trainer::ColumnSpec& spec = rules_.schema.columns[column];
  std::string shown = printable(value, 60);
  set_bad(row, fmt::format("{}: \"{}\" {}", spec.name, shown, unfit_reason(spec.type)));
  out_->bad_rows.back().column = column;
  out_->bad_rows.back().value = std::move(shown);
}

bool BlockParser::well_formed(std::uint32_t row) {
  const std::string_view text = row_text(row);
  if (has_nul(text)) return set_bad(row, "it holds a NUL character"), false;
  if (!utf8_valid(text)) return set_bad(row, "it is not written in UTF-8"), false;
  return true;
}

void BlockParser::parse_csv() {
  const std::uint32_t rows = in_->rows();
  std::uint32_t first = 0;
  while (first < rows) {
    const std::size_t begin = first == 0 ? 0 : in_->ends[first - 1] + 1;
    std::uint32_t last = first;
    while (last < rows && (last == first || (in_->ends[last] - begin < kGroupBytes &&
                                             (last - first) * columns_ < kGroupCells))) {
      ++last;
    }
    parse_group(first, last - first);
    first = last;
  }
}

void BlockParser::parse_group(std::uint32_t first, std::uint32_t rows) {
  if (rules_.split.special() || !split_plainly(first, rows)) split_carefully(first, rows);
  stage_group(first, rows);
}

// Every row has as many marks as columns, and its last one is its end: nothing more is to be done.
bool BlockParser::split_plainly(std::uint32_t first, std::uint32_t rows) {
  const char* const text = in_->text.data();
  const std::size_t begin = first == 0 ? 0 : in_->ends[first - 1] + 1;
  const std::size_t end = in_->ends[first + rows - 1] + 1;
  if (end - begin > kCellBytesMax) return false;
  if (marks_.size() < end - begin + 65) marks_.resize(end - begin + 65);
  const TextMarks look{rules_.split.delimiter, '\n', rules_.split.quote.value_or('\n')};
  TextTraits traits;
  const std::size_t found = find_marks(text, begin, end, look, marks_.data() + 1, traits);
  if (found != rows * columns_ || traits.nul || (traits.quote && rules_.split.quote)) return false;
  if (traits.high && !utf8_valid({text + begin, end - begin})) return false;
  marks_[0] = static_cast<std::uint32_t>(begin) - 1;
  for (std::uint32_t row = 0; row < rows; ++row) {
    if (marks_[(row + 1) * columns_] != in_->ends[first + row]) return false;
  }
  stride_ = columns_;
  trim_ = traits.blank;
  return true;
}

void BlockParser::split_carefully(std::uint32_t first, std::uint32_t rows) {
  stride_ = columns_ + 1;
  trim_ = false;
  if (marks_.size() < rows * stride_) marks_.resize(rows * stride_);
  for (std::uint32_t r = 0; r < rows; ++r) {
    std::uint32_t* const marks = marks_.data() + r * stride_;
    if (well_formed(first + r) && split_one(first + r, marks)) continue;
    for (std::size_t i = 0; i < stride_; ++i) marks[i] = static_cast<std::uint32_t>(i);  // empty cells
  }
}

bool BlockParser::split_one(std::uint32_t row, std::uint32_t* marks) {
  in_->text.reserve(tail_ + row_text(row).size() + 1);
  const std::string_view text = row_text(row);
  marks[0] = static_cast<std::uint32_t>(tail_) - 1;
  const std::size_t cells = split_row(text, rules_.split, in_->text.data() + tail_,
                                      static_cast<std::uint32_t>(tail_), marks + 1, columns_);
  if (cells != columns_) {
    set_bad(row, fmt::format("it has {} cells instead of {}", cells, columns_));
    return false;
  }
  for (std::size_t c = 0; c < columns_; ++c) {
    if (marks[c + 1] - marks[c] - 1 <= kCellBytesMax) continue;
    set_bad(row, fmt::format("{}: the cell is longer than 1 MiB", rules_.schema.columns[c].name));
    return false;
  }
  tail_ = marks[columns_] + 1;
  return true;
}

void BlockParser::stage_group(std::uint32_t first, std::uint32_t rows) {
  // Meanwhile the next group comes nearer, a part with each column.
  const std::uint32_t next = first + rows;
  const std::size_t end = in_->ends[next - 1];
  const std::size_t stop = std::min(end + kGroupBytes, in_->size);
  const std::size_t part = kGroupBytes / columns_ + 1;
  std::size_t ahead = end;
  for (std::size_t c = 0; c < columns_; ++c) {
    for (const std::size_t until = std::min(end + (c + 1) * part, stop); ahead < until; ahead += 64)
      __builtin_prefetch(in_->text.data() + ahead, 0, 2);
    const CellSpan span{in_->text.data(), marks_.data() + c, stride_, first, rows, trim_};
    unfit_.clear();
    stages_[c].stage(span, rules_.cells, unfit_);
    if (next < in_->rows()) stages_[c].expect(next, rows);
    for (const std::uint32_t row : unfit_) set_unfit(row, c, span.cell(row - first));
  }
}

void BlockParser::parse_lines() {
  for (std::uint32_t row = 0; row < in_->rows(); ++row) {
    if (well_formed(row)) stage_line(row);
  }
}

void BlockParser::stage_line(std::uint32_t row) {
  // Room first: the cells point into the line, which must not move any more.
  in_->text.reserve(tail_ + 2 * row_text(row).size() + kTextSlack);
  const LineKind kind = lines_->parse(row_text(row), line_cells_);
  if (kind == LineKind::bad) return set_bad(row, line_cells_.reason);
  if (kind == LineKind::nothing) {
    skip_[row] = 1;
    return;
  }
  for (std::size_t c = 0; c < columns_; ++c) {
    ColumnStage& stage = stages_[c];
    const std::string_view cell = line_cells_.cells[c];
    if (stage.type == ColumnType::sparse) {
      stage.stage_sparse(row, line_cells_.indices, line_cells_.values);
    } else if (line_cells_.missing[c] != 0) {
      stage.stage_missing(row);
    } else if (stage.type == ColumnType::category || stage.type == ColumnType::text) {
      if (cell.size() > kCellBytesMax || tail_ + cell.size() > in_->text.capacity()) {
        return set_bad(row, fmt::format("{}: the cell is too long", rules_.schema.columns[c].name));
      }
      std::memcpy(in_->text.data() + tail_, cell.data(), cell.size());
      stage.stage_text(row, make_cell(in_->text.data(), static_cast<std::uint32_t>(tail_),
                                      static_cast<std::uint32_t>(tail_ + cell.size())));
      tail_ += cell.size();
    } else if (!stage.stage_one(row, cell, rules_.cells)) {
      return set_unfit(row, c, cell);
    }
  }
}

}  // namespace samovar::ingest
