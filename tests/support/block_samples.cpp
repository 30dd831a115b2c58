#include "tests/support/block_samples.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <string>

namespace samovar::tests {

using namespace trainer;

namespace {

std::uint64_t mix(std::uint64_t x) {
  x += 0x9e37'79b9'7f4a'7c15;
  x = (x ^ (x >> 30)) * 0xbf58'476d'1ce4'e5b9;
  x = (x ^ (x >> 27)) * 0x94d0'49bb'1331'11eb;
  return x ^ (x >> 31);
}

void add_text(BlockColumn& column, std::string_view text) {
  column.chars.insert(column.chars.end(), text.begin(), text.end());
  column.ends.push_back(static_cast<std::uint32_t>(column.chars.size()));
}

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

bool same_numbers(const BlockView& view, std::size_t c, const BlockColumn& column) {
  const std::uint32_t rows = view.rows();
  std::vector<double> reals(rows);
  std::vector<float> floats(rows);
  view.reals(c, 0, reals);
  view.reals(c, 0, floats);
  std::vector<std::int64_t> integers(rows);
  if (column.type != ColumnType::real) view.integers(c, 0, integers);
  for (std::uint32_t row = 0; row < rows; ++row) {
    if (!view.valid(c, row)) {
      if (!std::isnan(reals[row]) || !std::isnan(floats[row]) || integers[row] != 0) return false;
      continue;
    }
    const double was =
        column.type == ColumnType::real ? column.reals[row] : static_cast<double>(column.integers[row]);
    if (!same_bits(reals[row], was) || floats[row] != static_cast<float>(was)) return false;
    if (column.type != ColumnType::real && integers[row] != column.integers[row]) return false;
  }
  return true;
}

}  // namespace

BlockColumn column_of(ColumnType type) {
  BlockColumn column;
  column.type = type;
  return column;
}

BlockColumn with_holes(BlockColumn column, std::uint32_t rows, std::uint32_t every) {
  column.valid.resize(rows);
  for (std::uint32_t row = 0; row < rows; ++row) column.valid[row] = row % every == 0 ? 0 : 1;
  return column;
}

BlockColumn categories(std::uint32_t rows, std::uint32_t levels, std::string_view prefix) {
  BlockColumn column = column_of(ColumnType::category);
  for (std::uint32_t level = 0; level < levels; ++level)
    add_text(column, std::string(prefix) + std::to_string(level));
  for (std::uint32_t row = 0; row < rows; ++row) column.codes.push_back((row * 7919u + 3) % levels);
  return column;
}

BlockColumn hex_text(std::uint32_t rows) {
  BlockColumn column = column_of(ColumnType::text);
  for (std::uint32_t row = 0; row < rows; ++row) {
    char digits[9];
    std::snprintf(digits, sizeof digits, "%08x", static_cast<std::uint32_t>(mix(row)));
    add_text(column, digits);
  }
  return column;
}

BlockColumn prose(std::uint32_t rows) {
  BlockColumn column = column_of(ColumnType::text);
  for (std::uint32_t row = 0; row < rows; ++row)
    add_text(column, row % 5 == 0
                         ? ""
                         : "the patient was seen on ward " + std::to_string(row % 40) + " and went home");
  return column;
}

BlockColumn noise(std::uint32_t rows) {
  BlockColumn column = column_of(ColumnType::text);
  for (std::uint32_t row = 0; row < rows; ++row) {
    std::string text;
    for (std::uint64_t i = 0; i < mix(row) % 13; ++i) text += static_cast<char>(mix(row * 31 + i));
    add_text(column, text);
  }
  return column;
}

BlockColumn sparse(std::uint32_t rows, std::uint32_t index_max, bool same_value) {
  BlockColumn column = column_of(ColumnType::sparse);
  for (std::uint32_t row = 0; row < rows; ++row) {
    std::uint64_t index = row % 17;
    for (std::uint32_t i = 0; i < row % 6; ++i) {
      column.indices.push_back(static_cast<std::uint32_t>(index));
      index += 1 + mix(row + i) % (index_max / 8);
    }
    column.values.resize(column.indices.size(), same_value ? 1.0f : static_cast<float>(row) / 3);
    column.ends.push_back(static_cast<std::uint32_t>(column.indices.size()));
  }
  return column;
}

std::pair<Schema, BlockColumns> mixed(std::uint32_t rows, std::uint64_t seed) {
  BlockColumns block;
  block.rows = rows;
  const auto number = [&](std::uint32_t row) { return mix(seed * 1'000'003 + row); };
  const auto integers = [&](ColumnType type, std::uint64_t range, std::int64_t base) {
    BlockColumn column = column_of(type);
    for (std::uint32_t row = 0; row < rows; ++row)
      column.integers.push_back(base + static_cast<std::int64_t>(number(row) % range));
    return column;
  };
  const auto reals = [&](double divisor) {
    BlockColumn column = column_of(ColumnType::real);
    for (std::uint32_t row = 0; row < rows; ++row)
      column.reals.push_back(static_cast<double>(number(row) % 30'000) / divisor);
    return column;
  };
  block.columns = {integers(ColumnType::integer, 100, -50),
                   with_holes(integers(ColumnType::integer, 50'000, 7), rows, 3),
                   integers(ColumnType::time, std::uint64_t{1} << 50, 1'500'000'000'000'000),
                   with_holes(integers(ColumnType::boolean, 2, 0), rows, 5),
                   reals(100),
                   with_holes(reals(8192), rows, 2),
                   reals(7),
                   categories(rows, std::max(rows / 3, 1u), "c"),
                   with_holes(categories(rows, 3, "level "), rows, 4),
                   hex_text(rows),
                   with_holes(prose(rows), rows, 3),
                   noise(rows),
                   sparse(rows, 40'000, false),
                   sparse(rows, 100, true)};
  Schema schema;
  for (std::size_t i = 0; i < block.columns.size(); ++i)
    schema.columns.push_back({"column " + std::to_string(i), block.columns[i].type, false});
  return {std::move(schema), std::move(block)};
}

Bytes encoded(std::uint32_t rows, std::vector<BlockColumn> columns) {
  return encoded({rows, std::move(columns)});
}

Bytes encoded(const BlockColumns& block) {
  Bytes bytes;
  encode_block(block, bytes);
  return bytes;
}

bool same_values(const BlockView& view, const BlockColumns& block) {
  if (view.rows() != block.rows || view.columns() != block.columns.size()) return false;
  for (std::size_t c = 0; c < block.columns.size(); ++c) {
    const BlockColumn& column = block.columns[c];
    std::uint32_t first = 0;
    for (std::uint32_t row = 0; row < block.rows; ++row) {
      const bool valid = column.valid.empty() || column.valid[row] != 0;
      if (view.valid(c, row) != valid) return false;
      if (column.type == ColumnType::text) {
        const std::string_view was(column.chars.data() + first, column.ends[row] - first);
        if (view.text(c, row) != (valid ? was : "")) return false;
        first = column.ends[row];
      } else if (column.type == ColumnType::category) {
        const std::uint32_t code = column.codes[row];
        const std::uint32_t start = code == 0 ? 0 : column.ends[code - 1];
        const std::string_view was(column.chars.data() + start, column.ends[code] - start);
        if (view.text(c, row) != (valid ? was : "")) return false;
      } else if (column.type == ColumnType::sparse) {
        const auto pairs = view.sparse(c, row);
        if (pairs.indices.size() != column.ends[row] - first) return false;
        for (std::size_t i = 0; i < pairs.indices.size(); ++i) {
          if (pairs.indices[i] != column.indices[first + i] || pairs.values[i] != column.values[first + i])
            return false;
        }
        first = column.ends[row];
      }
    }
    const bool numbers = column.type == ColumnType::real || !column.integers.empty();
    if (numbers && !same_numbers(view, c, column)) return false;
  }
  return true;
}

std::uint64_t touch_everything(const BlockView& view, const Schema& schema) {
  std::uint64_t sum = 0;
  const std::uint32_t rows = view.rows();
  for (std::size_t c = 0; c < schema.columns.size(); ++c) {
    const ColumnType type = schema.columns[c].type;
    std::vector<double> reals(rows);
    std::vector<float> floats(rows);
    std::vector<std::int64_t> integers(rows);
    std::vector<std::uint32_t> codes(rows);
    const bool whole = type == ColumnType::integer || type == ColumnType::time || type == ColumnType::boolean;
    if (whole || type == ColumnType::real) {
      view.reals(c, 0, reals);
      view.reals(c, 0, floats);
    }
    if (whole) view.integers(c, 0, integers);
    if (type == ColumnType::category) view.codes(c, 0, codes);
    for (std::uint32_t code = 0; code < view.levels(c); ++code) {
      for (const char ch : view.level(c, code)) sum += static_cast<unsigned char>(ch);
    }
    for (std::uint32_t row = 0; row < rows; ++row) {
      sum += view.valid(c, row) ? 1 : 0;
      sum += std::bit_cast<std::uint64_t>(reals[row]) + std::bit_cast<std::uint32_t>(floats[row]);
      sum += static_cast<std::uint64_t>(integers[row]) + codes[row];
      // A code is a level or missing, whatever the bytes were: trainers index tables by it.
      if (type == ColumnType::category && codes[row] >= view.levels(c) &&
          codes[row] != BlockView::kMissingCode)
        __builtin_trap();
      for (const char ch : view.text(c, row)) sum += static_cast<unsigned char>(ch);
      const auto pairs = view.sparse(c, row);
      for (const std::uint32_t index : pairs.indices) sum += index;
      for (const float value : pairs.values) sum += std::bit_cast<std::uint32_t>(value);
    }
  }
  return sum;
}

}  // namespace samovar::tests
