#include "tests/support/memory_table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "tests/support/block_samples.hpp"
#include "trainer/data/order.hpp"

namespace samovar::tests {

using namespace trainer;

namespace {

void add_text(BlockColumn& column, std::string_view text) {
  column.chars.insert(column.chars.end(), text.begin(), text.end());
  column.ends.push_back(static_cast<std::uint32_t>(column.chars.size()));
}

double number_of(const RawValue& value) {
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* yes = std::get_if<bool>(&value)) return *yes ? 1 : 0;
  return 0;
}
std::int64_t whole_of(const RawValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return *whole;
  return static_cast<std::int64_t>(number_of(value));
}

void add_pairs(BlockColumn& column, const std::string& text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    std::uint32_t index = 0;
    float value = 0;
    at = std::from_chars(at, end, index).ptr + 1;
    at = std::from_chars(at, end, value).ptr;
    column.indices.push_back(index);
    column.values.push_back(value);
    if (at != end) ++at;
  }
}

BlockColumn block_column(ColumnType type, const RawValue* values, std::uint32_t rows) {
  BlockColumn column = column_of(type);
  std::map<std::string, std::uint32_t> levels;
  bool all = true;
  for (std::uint32_t row = 0; row < rows; ++row) {
    const RawValue& value = values[row];
    const bool there = !std::holds_alternative<std::monostate>(value);
    all = all && there;
    column.valid.push_back(there ? 1 : 0);
    const std::string text = std::holds_alternative<std::string>(value) ? std::get<std::string>(value) : "";
    switch (type) {
      case ColumnType::real:
        column.reals.push_back(number_of(value));
        break;
      case ColumnType::integer:
      case ColumnType::boolean:
      case ColumnType::time:
        column.integers.push_back(whole_of(value));
        break;
      case ColumnType::category: {
        const auto [at, fresh] = levels.emplace(text, static_cast<std::uint32_t>(levels.size()));
        if (fresh) add_text(column, text);
        column.codes.push_back(at->second);
        break;
      }
      case ColumnType::text:
        add_text(column, text);
        break;
      case ColumnType::sparse:
        add_pairs(column, text);
        column.ends.push_back(static_cast<std::uint32_t>(column.indices.size()));
        break;
    }
  }
  if (all) column.valid.clear();
  return column;
}

}  // namespace

void MemoryTable::add(std::vector<RawValue> row) {
  for (std::size_t i = 0; i < columns_.size(); ++i) columns_[i].push_back(std::move(row.at(i)));
}

RawTable MemoryTable::raw(std::uint32_t first, std::uint32_t rows) const {
  RawTable out;
  out.rows = rows;
  for (std::size_t i = 0; i < columns_.size(); ++i)
    out.columns[schema_.columns[i].name].assign(columns_[i].begin() + first,
                                                columns_[i].begin() + first + rows);
  return out;
}

std::uint32_t MemoryTable::rows(std::size_t block) const {
  return std::min(block_rows_, all_rows() - static_cast<std::uint32_t>(block) * block_rows_);
}

Result<void> MemoryTable::read(std::size_t block, Bytes& out) {
  BlockColumns columns;
  columns.rows = rows(block);
  for (std::size_t i = 0; i < columns_.size(); ++i)
    columns.columns.push_back(
        block_column(schema_.columns[i].type, columns_[i].data() + block * block_rows_, columns.rows));
  out = encoded(columns);
  return {};
}

MemoryTable random_table(std::uint32_t rows, std::uint64_t seed) {
  MemoryTable table({{{"yes", ColumnType::boolean},
                      {"class", ColumnType::category},
                      {"number", ColumnType::real},
                      {"count", ColumnType::integer},
                      {"real", ColumnType::real},
                      {"whole", ColumnType::integer},
                      {"flag", ColumnType::boolean},
                      {"when", ColumnType::time},
                      {"few", ColumnType::category},
                      {"many", ColumnType::category},
                      {"prose", ColumnType::text},
                      {"pairs", ColumnType::sparse}}});
  SeededOrder luck(seed);
  const auto below = [&](std::uint64_t bound) {
    return static_cast<std::int64_t>((luck.next() >> 11) % bound);
  };
  const auto unit = [&] { return static_cast<double>(luck.next() >> 11) * 0x1p-53; };
  const auto maybe = [&](RawValue value) { return below(8) == 0 ? RawValue() : value; };
  static constexpr const char* kWords[] = {"fever", "Kopf",   "ÄRZTE",  "ward", "and",
                                           "42",    "no-one", "Москва", "病"};
  for (std::uint32_t row = 0; row < rows; ++row) {
    const double real = unit() * 20 - 10;
    const std::int64_t few = below(4);
    const bool yes = unit() < 1 / (1 + std::exp(-real / 4 - static_cast<double>(few) + 1.5));
    std::string prose;
    for (std::int64_t i = 0, n = below(8); i < n; ++i) prose += std::string(kWords[below(9)]) + " ";
    std::string pairs;
    std::int64_t index = below(5);
    for (std::int64_t i = 0, n = below(6); i < n; ++i, index += 1 + below(40)) {
      pairs += (i == 0 ? "" : " ") + std::to_string(index) + ":" + std::to_string(below(1000)) + ".5";
    }
    table.add({RawValue(yes), std::string(1, static_cast<char>('a' + below(3))), real * 2 + unit(), below(6),
               maybe(real), maybe(below(100'000) - 500), maybe(below(2) == 1),
               maybe(std::int64_t{1'700'000'000'000'000} + below(90'000'000) * 1'000'000),
               maybe("level " + std::to_string(few)), maybe("m" + std::to_string(below(300) * below(300))),
               maybe(prose), maybe(pairs)});
  }
  return table;
}

}  // namespace samovar::tests
