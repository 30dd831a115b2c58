#include "daemon/ingest/association.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/json.hpp"
#include "daemon/ingest/block_stats.hpp"

namespace samovar::ingest {

using nlohmann::json;
using trainer::ColumnType;

namespace {

// The most common ones have a code of their own, the others share the last; missing ones have one beyond it,
// so that counting needs no branch.
constexpr std::size_t kCodes = 64;
constexpr std::size_t kNoCode = kCodes;
using Codes = std::vector<std::uint8_t>;

Codes codes_of(const std::vector<std::uint64_t>& hashes) {
  struct Level {
    std::uint64_t hash = 0;
    std::uint32_t count = 0;
    std::uint32_t first = 0;  // where it stands
    std::uint32_t number = 0;
  };
  std::vector<Level> levels;
  std::vector<std::uint32_t> slots(std::bit_ceil(2 * hashes.size() + 2),
                                   0);  // number of a level + 1; 0: none
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::vector<std::uint32_t> numbers(hashes.size(), kNone);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    if (hashes[i] == RowSample::kMissing) continue;
    std::size_t at = hashes[i] & (slots.size() - 1);
    while (slots[at] != 0 && levels[slots[at] - 1].hash != hashes[i]) at = (at + 1) & (slots.size() - 1);
    if (slots[at] == 0) {
      const auto number = static_cast<std::uint32_t>(levels.size());
      levels.push_back({hashes[i], 0, static_cast<std::uint32_t>(i), number});
      slots[at] = number + 1;
    }
    numbers[i] = slots[at] - 1;
    ++levels[numbers[i]].count;
  }
  std::vector<std::uint8_t> code(levels.size(), kCodes - 1);
  const std::size_t own = std::min(levels.size(), kCodes - 1);
  std::partial_sort(levels.begin(), levels.begin() + static_cast<std::ptrdiff_t>(own), levels.end(),
                    [](const Level& x, const Level& y) {
                      return x.count != y.count ? x.count > y.count : x.first < y.first;
                    });
  for (std::size_t i = 0; i < own; ++i) code[levels[i].number] = static_cast<std::uint8_t>(i);
  Codes out(hashes.size(), kNoCode);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    if (numbers[i] != kNone) out[i] = code[numbers[i]];
  }
  return out;
}

json rounded(double value) { return std::round(std::clamp(value, 0.0, 1.0) * 1e4) / 1e4; }

// A column of numbers without the rows that have none: how far each is from their mean.
struct Numbers {
  std::vector<std::uint32_t> rows;
  std::vector<double> values;
  double mean = 0;
  Numbers(const std::vector<std::uint64_t>& words, std::size_t count) {
    for (std::size_t i = 0; i < std::min(count, words.size()); ++i) {
      const auto value = std::bit_cast<double>(words[i]);
      if (!std::isfinite(value)) continue;
      rows.push_back(static_cast<std::uint32_t>(i));
      values.push_back(value);
    }
    for (const double value : values) mean += value / static_cast<double>(values.size());
    for (double& value : values) value -= mean;
  }
};

// Of one category column and one of numbers. A row without a level adds 0 to the squares: nothing branches.
struct Sums {
  std::uint32_t counts[kCodes + 1] = {};
  double sums[kCodes + 1] = {};
  double here[kCodes + 1] = {};  // 1, and 0 for no level
  double squares = 0;

  Sums() { std::fill(here, here + kCodes, 1.0); }
  void add(std::size_t code, double value) noexcept {
    ++counts[code];
    sums[code] += value;
    squares += value * value * here[code];
  }
  // Of the numbers' variance, the share between the levels (Kelley 1935: without what chance adds); its root.
  // The values are near 0 on average, so that nothing is lost where squares are taken from each other.
  json ratio(double center) const {
    double levels = 0;
    double count = 0;
    double sum = 0;
    double between = 0;
    for (std::size_t code = 0; code < kCodes; ++code) {
      if (counts[code] == 0) continue;
      levels += 1;
      count += counts[code];
      sum += sums[code];
      between += sums[code] * sums[code] / counts[code];
    }
    if (levels < 2 || count < levels + 2) return nullptr;
    const double mean = center + sum / count;
    const double all = squares - sum * sum / count;
    const double within = squares - between;
    // What is left of rounding is no variance.
    if (!(all > 1e-12 * count * mean * mean) || !std::isfinite(all)) return nullptr;
    return rounded(std::sqrt(std::max(0.0, 1 - within / (count - levels) / (all / (count - 1)))));
  }
};

// Some categories side by side: the sums of one wait for each other, those of several do not.
template <std::size_t kCount>
void ratios(const Codes* codes, const Numbers& numbers, json* out) {
  Sums sums[kCount];
  for (std::size_t i = 0; i < numbers.rows.size(); ++i) {
    for (std::size_t k = 0; k < kCount; ++k) sums[k].add(codes[k][numbers.rows[i]], numbers.values[i]);
  }
  for (std::size_t k = 0; k < kCount; ++k) out[k] = sums[k].ratio(numbers.mean);
}

// Bergsma 2013: Cramér's V without what chance adds.
json cramers_v(const Codes& x, const Codes& y) {
  constexpr std::size_t kSide = kCodes + 1;
  std::uint32_t table[kSide * kSide] = {};
  const std::size_t samples = std::min(x.size(), y.size());
  for (std::size_t i = 0; i < samples; ++i) ++table[x[i] * kSide + y[i]];
  std::uint32_t rows[kCodes] = {};
  std::uint32_t columns[kCodes] = {};
  double count = 0;
  for (std::size_t i = 0; i < kCodes; ++i) {
    for (std::size_t j = 0; j < kCodes; ++j) {
      rows[i] += table[i * kSide + j];
      columns[j] += table[i * kSide + j];
    }
    count += rows[i];
  }
  const auto levels = [](const std::uint32_t* counts) {
    return static_cast<double>(std::count_if(counts, counts + kCodes, [](std::uint32_t n) { return n > 0; }));
  };
  const double r = levels(rows);
  const double k = levels(columns);
  if (r < 2 || k < 2 || count < 3) return nullptr;
  double inverse[kCodes];
  for (std::size_t j = 0; j < kCodes; ++j) inverse[j] = 1.0 / std::max(columns[j], 1u);
  double share = -1;  // χ² / n
  for (std::size_t i = 0; i < kCodes; ++i) {
    if (rows[i] == 0) continue;
    double parts[4] = {};  // four sums side by side do not wait for one another
    for (std::size_t j = 0; j < kCodes; ++j) {
      const double cell = table[i * kSide + j];
      parts[j % 4] += cell * cell * inverse[j];
    }
    share += (parts[0] + parts[1] + parts[2] + parts[3]) / rows[i];
  }
  const double corrected = std::max(0.0, share - (k - 1) * (r - 1) / (count - 1));
  const double least = std::min(k - (k - 1) * (k - 1) / (count - 1), r - (r - 1) * (r - 1) / (count - 1)) - 1;
  if (!(least > 0)) return nullptr;
  return rounded(std::sqrt(corrected / least));
}

}  // namespace

AssociationPlan AssociationPlan::make(const trainer::Schema& schema) {
  AssociationPlan plan;
  plan.place.assign(schema.columns.size(), kNone);
  for (std::size_t c = 0; c < schema.columns.size(); ++c) {
    const ColumnType type = schema.columns[c].type;
    auto& kind = type == ColumnType::category ? plan.categories : plan.numbers;
    if ((type == ColumnType::category || is_number(type)) && kind.size() < kColumnsMax)
      kind.push_back(static_cast<std::uint32_t>(c));
  }
  if (plan.categories.empty()) plan.numbers.clear();  // numbers among themselves have their moments
  std::uint32_t at = 0;
  for (const std::uint32_t c : plan.categories) plan.place[c] = at++;
  for (const std::uint32_t c : plan.numbers) plan.place[c] = at++;
  return plan;
}

json association_json(const AssociationPlan& plan, const RowSample& sample) {
  json by_number = json::array();
  json v = json::array();
  if (sample.columns.size() == plan.size()) {
    std::vector<Codes> codes;
    for (std::size_t x = 0; x < plan.categories.size(); ++x) codes.push_back(codes_of(sample.columns[x]));
    const std::size_t numbers = plan.numbers.size();
    std::vector<json> all(codes.size() * numbers);
    std::vector<json> some(codes.size());
    for (std::size_t y = 0; y < numbers; ++y) {
      const Numbers values(sample.columns[codes.size() + y], codes[0].size());
      std::size_t x = 0;
      for (; x + 4 <= codes.size(); x += 4) ratios<4>(&codes[x], values, &some[x]);
      for (; x < codes.size(); ++x) ratios<1>(&codes[x], values, &some[x]);
      for (x = 0; x < codes.size(); ++x) all[x * numbers + y] = std::move(some[x]);
    }
    for (json& one : all) by_number.push_back(std::move(one));
    for (std::size_t x = 0; x < codes.size(); ++x) {
      for (std::size_t y = x + 1; y < codes.size(); ++y) v.push_back(cramers_v(codes[x], codes[y]));
    }
  }
  return {{"categories", plan.categories},
          {"numbers", plan.numbers},
          {"ratios", std::move(by_number)},
          {"v", std::move(v)}};
}

}  // namespace samovar::ingest
