#include "trainer/features/frequent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <tuple>

#include "trainer/features/tokens.hpp"

namespace samovar::trainer {

namespace {

// Enough to tell the values that are in one row of ten thousand; reading more would cost more than it finds.
constexpr std::uint64_t kSampleRows = std::uint64_t{1} << 17;
// In the whole sample: below, there is too little to learn for a place to matter.
constexpr std::uint64_t kRowsLeast = 8;
// Most levels of a block are there once, which says little.
constexpr std::uint32_t kBlockRowsLeast = 2;
// Of all columns in all blocks of the sample.
constexpr std::size_t kCountedMax = std::size_t{1} << 20;
constexpr std::size_t kKeptLeast = 16;
// A longer level is hashed like the rare ones.
constexpr std::size_t kLevelBytesMax = 256;

// Part of a model, and of a C file, where a zero byte ends a text.
bool can_have_a_place(std::string_view level) {
  return !level.empty() && level.size() <= kLevelBytesMax && level.find('\0') == std::string_view::npos;
}

}  // namespace

std::vector<bool> frequent_sample(const BlockSource& source) {
  const std::uint64_t blocks = source.blocks();
  std::uint64_t rows = 0;
  for (std::size_t block = 0; block < blocks; ++block) rows += source.rows_of_all(block);
  std::vector<bool> out(blocks, rows <= kSampleRows);
  if (rows <= kSampleRows) return out;
  const std::uint64_t taken = std::clamp<std::uint64_t>(kSampleRows * blocks / rows, 1, blocks);
  for (std::uint64_t block = 0; block < blocks; ++block)
    out[block] = (block + 1) * taken / blocks != block * taken / blocks;
  return out;
}

FrequentLimits frequent_limits(std::size_t blocks, std::size_t columns) {
  const std::size_t all = std::max<std::size_t>(blocks * columns, 1);
  // Half of what a block has of a level that is just frequent enough.
  const auto rows = static_cast<std::uint32_t>(kRowsLeast / (2 * std::max<std::size_t>(blocks, 1)));
  return {std::max(rows, kBlockRowsLeast), std::max(kCountedMax / all, kKeptLeast)};
}

void FrequentCounts::add_levels(const BlockView& block, std::size_t column, std::span<const std::uint8_t> use,
                                const FrequentLimits& limits) {
  const std::uint32_t levels = block.levels(column);
  std::vector<std::uint32_t> codes(block.rows());
  block.codes(column, 0, codes);
  std::vector<std::uint32_t> here(levels + std::size_t{1});
  for (std::size_t row = 0; row < codes.size(); ++row) here[std::min(codes[row], levels)] += use[row];
  missing_ += here[levels];
  using Counted = std::pair<std::uint32_t, std::string_view>;
  std::vector<Counted> counted;
  block.each_level(column, [&](std::uint32_t level, std::string_view text) {
    if (text.empty()) missing_ += here[level];
    if (here[level] >= limits.rows_least && can_have_a_place(text)) counted.emplace_back(here[level], text);
  });
  if (const std::size_t most = limits.levels_most; counted.size() > most) {
    std::nth_element(counted.begin(), counted.begin() + static_cast<std::ptrdiff_t>(most), counted.end(),
                     [](const Counted& a, const Counted& b) {
                       return a.first != b.first ? a.first > b.first : a.second < b.second;
                     });
    counted.resize(most);
  }
  for (const auto& [rows, text] : counted) levels_[std::string(text)] += rows;
}

void FrequentCounts::add_numbers(std::span<const double> values, std::span<const std::uint8_t> use) {
  std::vector<std::uint32_t> here(Tokens::kNumberTokens);
  for (std::size_t row = 0; row < values.size(); ++row) {
    const double value = std::isfinite(values[row]) ? values[row] : std::numeric_limits<double>::infinity();
    here[Tokens::number_token(value)] += use[row];
  }
  missing_ += here[Tokens::kNoNumber];
  for (std::uint32_t token = 0; token < here.size(); ++token) {
    const auto as = static_cast<std::uint16_t>(token);
    if (here[token] >= kBlockRowsLeast && Tokens::is_number(as)) numbers_[as] += here[token];
  }
}

void FrequentCounts::put(StateWriter& out) const {
  out.put(missing_);
  // In one order, whatever the hash table's: the same rows give the same bytes.
  std::vector<std::pair<std::string_view, std::uint64_t>> sorted(levels_.begin(), levels_.end());
  std::sort(sorted.begin(), sorted.end());
  out.put(std::uint64_t{sorted.size()});
  for (const auto& [level, rows] : sorted) {
    out.put(level);
    out.put(rows);
  }
  out.put(std::uint64_t{numbers_.size()});
  for (const auto& [token, rows] : numbers_) {
    out.put(token);
    out.put(rows);
  }
}

void FrequentCounts::merge(StateReader& in) {
  missing_ += in.get<std::uint64_t>();
  for (auto left = in.get<std::uint64_t>(); left > 0 && !in.failed(); --left) {
    std::string level = in.text();
    const auto rows = in.get<std::uint64_t>();
    if (can_have_a_place(level)) levels_[std::move(level)] += rows;
  }
  for (auto left = in.get<std::uint64_t>(); left > 0 && !in.failed(); --left) {
    const auto token = in.get<std::uint16_t>();
    const auto rows = in.get<std::uint64_t>();
    if (token < Tokens::kNumberTokens && Tokens::is_number(token)) numbers_[token] += rows;
  }
}

void choose_frequent(std::span<const FrequentInput> inputs, std::size_t most) {
  enum class Kind : std::uint8_t { missing, number, level };
  struct Value {
    std::uint64_t rows = 0;
    std::size_t input = 0;
    Kind kind = Kind::level;
    std::uint16_t token = 0;
    std::string_view text;
    // The most frequent first, and one order for all of them.
    bool operator<(const Value& other) const {
      return std::tie(other.rows, input, kind, token, text) <
             std::tie(rows, other.input, other.kind, other.token, other.text);
    }
  };
  std::vector<Value> values;
  const auto add = [&](Value value) {
    if (value.rows >= kRowsLeast) values.push_back(value);
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const FrequentCounts& counts = *inputs[i].counts;
    add({counts.missing(), i, Kind::missing, 0, {}});
    for (const auto& [token, rows] : counts.numbers()) add({rows, i, Kind::number, token, {}});
    for (const auto& [text, rows] : counts.levels()) add({rows, i, Kind::level, 0, text});
  }
  std::sort(values.begin(), values.end());
  if (values.size() > most) values.resize(most);
  for (const Value& value : values) {
    InputPlan& input = *inputs[value.input].input;
    switch (value.kind) {
      case Kind::missing:
        input.frequent_missing = true;
        break;
      case Kind::number:
        input.frequent_numbers.push_back(value.token);
        break;
      case Kind::level:
        input.frequent.emplace_back(value.text);
        break;
    }
  }
}

}  // namespace samovar::trainer
