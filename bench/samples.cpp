#include "bench/samples.hpp"

#include <cmath>
#include <cstdio>
#include <unordered_map>

namespace samovar::bench {

using namespace trainer;

namespace {

BlockColumn counts(std::uint32_t rows, double missing, double spread, Luck& luck) {
  BlockColumn column;
  column.type = ColumnType::integer;
  column.valid.resize(rows, 1);
  column.integers.resize(rows);
  for (std::uint32_t row = 0; row < rows; ++row) {
    column.valid[row] = luck.chance(missing) ? 0 : 1;
    column.integers[row] =
        column.valid[row] != 0 ? static_cast<std::int64_t>(std::exp(spread * luck.unit()) - 1) : 0;
  }
  return column;
}

BlockColumn hex_levels(std::uint32_t rows, std::uint64_t distinct, double missing, std::uint64_t salt,
                       Luck& luck) {
  BlockColumn column;
  column.type = ColumnType::category;
  column.valid.resize(rows, 1);
  std::unordered_map<std::uint64_t, std::uint32_t> known;
  for (std::uint32_t row = 0; row < rows; ++row) {
    column.valid[row] = luck.chance(missing) ? 0 : 1;
    // Few levels are common, most are rare.
    const double u = luck.unit();
    const auto level = static_cast<std::uint64_t>(std::pow(u, 4) * static_cast<double>(distinct));
    const auto [at, fresh] = known.emplace(level, static_cast<std::uint32_t>(known.size()));
    if (fresh) {
      char digits[9];
      std::snprintf(digits, sizeof digits, "%08x",
                    static_cast<unsigned>((level * 0x9e37'79b9'7f4a'7c15 + salt) >> 32));
      column.chars.insert(column.chars.end(), digits, digits + 8);
      column.ends.push_back(static_cast<std::uint32_t>(column.chars.size()));
    }
    column.codes.push_back(at->second);
  }
  return column;
}

BlockColumn numbers(std::uint32_t rows, auto make) {
  BlockColumn column;
  column.type = ColumnType::real;
  for (std::uint32_t row = 0; row < rows; ++row) column.reals.push_back(make(row));
  return column;
}

BlockColumn whole(ColumnType type, std::uint32_t rows, auto make) {
  BlockColumn column;
  column.type = type;
  for (std::uint32_t row = 0; row < rows; ++row) column.integers.push_back(make(row));
  return column;
}

BlockColumn prose(std::uint32_t rows, Luck& luck) {
  static constexpr const char* kWords[] = {"patient", "was",   "seen",  "on",   "the",   "ward",
                                           "and",     "sent",  "home",  "with", "fever", "without",
                                           "pain",    "after", "three", "days"};
  BlockColumn column;
  column.type = ColumnType::text;
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (std::uint64_t i = 0, n = 3 + luck.below(12); i < n; ++i) {
      for (const char* at = kWords[luck.below(16)]; *at != 0; ++at) column.chars.push_back(*at);
      column.chars.push_back(' ');
    }
    column.ends.push_back(static_cast<std::uint32_t>(column.chars.size()));
  }
  return column;
}

BlockColumn sparse(std::uint32_t rows, Luck& luck) {
  BlockColumn column;
  column.type = ColumnType::sparse;
  for (std::uint32_t row = 0; row < rows; ++row) {
    std::uint32_t index = 0;
    for (int i = 0; i < 14; ++i) {
      column.indices.push_back(index += 1 + static_cast<std::uint32_t>(luck.below(3000)));
      column.values.push_back(static_cast<float>(luck.unit()));
    }
    column.ends.push_back(static_cast<std::uint32_t>(column.indices.size()));
  }
  return column;
}

}  // namespace

std::vector<Sample> single_columns(std::uint32_t rows) {
  Luck luck(7);
  std::vector<Sample> out;
  const auto add = [&](std::string name, BlockColumn column) {
    const ColumnType type = column.type;
    out.push_back({std::move(name), type, std::move(column)});
  };
  add("integer 1 byte",
      whole(ColumnType::integer, rows, [&](auto) { return static_cast<std::int64_t>(luck.below(200)); }));
  add("integer 2 bytes",
      whole(ColumnType::integer, rows, [&](auto) { return static_cast<std::int64_t>(luck.below(50'000)); }));
  add("integer 2 bytes, half missing", counts(rows, 0.5, 10, luck));
  add("time",
      whole(ColumnType::time, rows, [&](auto) { return static_cast<std::int64_t>(luck.below(1ull << 50)); }));
  add("boolean",
      whole(ColumnType::boolean, rows, [&](auto) { return static_cast<std::int64_t>(luck.below(2)); }));
  add("real, 2 decimals", numbers(rows, [&](auto) { return static_cast<double>(luck.below(60'000)) / 100; }));
  add("real, 5 decimals",
      numbers(rows, [&](auto) { return static_cast<double>(luck.below(900'000'000)) / 1e5; }));
  add("real, float",
      numbers(rows, [&](auto) { return static_cast<double>(static_cast<float>(luck.unit())); }));
  add("real, double", numbers(rows, [&](auto) { return luck.unit(); }));
  add("category, 100 levels", hex_levels(rows, 100, 0.1, 1, luck));
  add("category, many levels", hex_levels(rows, 10'000'000, 0.1, 2, luck));
  add("text", prose(rows, luck));
  add("sparse", sparse(rows, luck));
  return out;
}

std::pair<Schema, BlockColumns> click_log(std::uint32_t rows, std::uint64_t seed) {
  static constexpr double kMissing[13] = {.45, 0, .21, .22, .03, .22, .04, 0, .04, .45, .04, .76, .22};
  static constexpr std::uint64_t kDistinct[26] = {
      1460,   583,   10'131'227, 2'202'608, 305, 24,      12'517,    633,    3,
      93'145, 5'683, 8'351'593,  3'194,     27,  14'992,  5'461'306, 10,     5'652,
      2'173,  4,     7'046'547,  18,        15,  286'181, 105,       142'572};
  Luck luck(seed);
  Schema schema;
  BlockColumns block;
  block.rows = rows;
  schema.columns.push_back({"label", ColumnType::boolean});
  block.columns.push_back(
      whole(ColumnType::boolean, rows, [&](auto) { return static_cast<std::int64_t>(luck.chance(0.25)); }));
  for (int i = 0; i < 13; ++i) {
    schema.columns.push_back({"I" + std::to_string(i + 1), ColumnType::integer});
    block.columns.push_back(counts(rows, kMissing[i], 4 + i % 5 * 2, luck));
  }
  for (int i = 0; i < 26; ++i) {
    schema.columns.push_back({"C" + std::to_string(i + 1), ColumnType::category});
    block.columns.push_back(
        hex_levels(rows, kDistinct[i], i % 5 == 0 ? 0.4 : 0.03, static_cast<std::uint64_t>(i), luck));
  }
  return {std::move(schema), std::move(block)};
}

std::pair<Schema, BlockColumns> measurements(std::uint32_t rows, std::uint64_t seed) {
  Luck luck(seed);
  Schema schema;
  BlockColumns block;
  block.rows = rows;
  for (int i = 0; i < 90; ++i) {
    schema.columns.push_back({"x" + std::to_string(i), ColumnType::real});
    block.columns.push_back(numbers(rows, [&](auto) { return std::round((luck.unit() - 0.5) * 4e7) / 1e5; }));
  }
  return {std::move(schema), std::move(block)};
}

std::uint64_t plain_bytes(const BlockColumns& block) {
  std::uint64_t bytes = 0;
  for (const BlockColumn& column : block.columns) {
    bytes += column.reals.size() * 8 + column.integers.size() * 8 + column.codes.size() * 4 +
             column.ends.size() * 4;
    bytes += column.chars.size() + column.indices.size() * 4 + column.values.size() * 4;
  }
  return bytes;
}

}  // namespace samovar::bench
