#include "daemon/ingest/association.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "daemon/ingest/block_stats.hpp"

namespace samovar::ingest {

using nlohmann::json;
using trainer::ColumnType;

namespace {

// The most common ones have a code of their own, the others share the last.
constexpr std::size_t kCodes = 64;
constexpr std::uint8_t kNoCode = 0xff;

std::vector<std::uint8_t> codes_of(const std::vector<std::uint64_t>& hashes) {
  struct Level {
    std::size_t count = 0;
    std::size_t first = 0;  // where it stands: one order, whatever the map's
  };
  std::unordered_map<std::uint64_t, Level> levels;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    if (hashes[i] == RowSample::kMissing) continue;
    Level& level = levels.try_emplace(hashes[i], Level{0, i}).first->second;
    ++level.count;
  }
  std::vector<std::pair<std::uint64_t, Level>> common(levels.begin(), levels.end());
  std::sort(common.begin(), common.end(), [](const auto& a, const auto& b) {
    return a.second.count != b.second.count ? a.second.count > b.second.count
                                            : a.second.first < b.second.first;
  });
  std::unordered_map<std::uint64_t, std::uint8_t> code;
  for (std::size_t i = 0; i < common.size(); ++i)
    code[common[i].first] = static_cast<std::uint8_t>(std::min(i, kCodes - 1));
  std::vector<std::uint8_t> out(hashes.size(), kNoCode);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    if (hashes[i] != RowSample::kMissing) out[i] = code[hashes[i]];
  }
  return out;
}

json rounded(double value) { return std::round(std::clamp(value, 0.0, 1.0) * 1e4) / 1e4; }

// Of the numbers' variance, the share between the levels (Kelley 1935: without what chance adds); its root.
json ratio(const std::vector<std::uint8_t>& codes, const std::vector<std::uint64_t>& words) {
  double counts[kCodes] = {};
  double sums[kCodes] = {};
  double count = 0;
  double sum = 0;
  const std::size_t rows = std::min(codes.size(), words.size());
  const auto each = [&](auto use) {
    for (std::size_t i = 0; i < rows; ++i) {
      const auto value = std::bit_cast<double>(words[i]);
      if (codes[i] != kNoCode && std::isfinite(value)) use(codes[i], value);
    }
  };
  each([&](std::uint8_t code, double value) {
    counts[code] += 1;
    sums[code] += value;
    count += 1;
    sum += value;
  });
  const double mean = sum / count;
  double all = 0;
  double within = 0;
  each([&](std::uint8_t code, double value) {
    const double off = value - sums[code] / counts[code];
    all += (value - mean) * (value - mean);
    within += off * off;
  });
  const auto levels =
      static_cast<double>(std::count_if(counts, counts + kCodes, [](double n) { return n > 0; }));
  // What is left of rounding is no variance.
  if (levels < 2 || count < levels + 2 || !(all > 1e-12 * count * mean * mean) || !std::isfinite(all))
    return nullptr;
  return rounded(std::sqrt(std::max(0.0, 1 - within / (count - levels) / (all / (count - 1)))));
}

// Bergsma 2013: Cramér's V without what chance adds.
json cramers_v(const std::vector<std::uint8_t>& x, const std::vector<std::uint8_t>& y) {
  std::vector<std::uint32_t> table(kCodes * kCodes);
  double rows[kCodes] = {};
  double columns[kCodes] = {};
  double count = 0;
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    if (x[i] == kNoCode || y[i] == kNoCode) continue;
    ++table[x[i] * kCodes + y[i]];
    rows[x[i]] += 1;
    columns[y[i]] += 1;
    count += 1;
  }
  const auto levels = [](const double* counts) {
    return static_cast<double>(std::count_if(counts, counts + kCodes, [](double n) { return n > 0; }));
  };
  const double r = levels(rows);
  const double k = levels(columns);
  if (r < 2 || k < 2 || count < 3) return nullptr;
  double share = -1;  // χ² / n
  for (std::size_t i = 0; i < kCodes; ++i) {
    if (rows[i] == 0) continue;
    for (std::size_t j = 0; j < kCodes; ++j) {
      const double cell = table[i * kCodes + j];
      if (cell > 0) share += cell * cell / (rows[i] * columns[j]);
    }
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
  json ratios = json::array();
  json v = json::array();
  if (sample.columns.size() == plan.size()) {
    std::vector<std::vector<std::uint8_t>> codes;
    for (std::size_t x = 0; x < plan.categories.size(); ++x) codes.push_back(codes_of(sample.columns[x]));
    for (std::size_t x = 0; x < codes.size(); ++x) {
      for (std::size_t y = 0; y < plan.numbers.size(); ++y)
        ratios.push_back(ratio(codes[x], sample.columns[codes.size() + y]));
      for (std::size_t y = x + 1; y < codes.size(); ++y) v.push_back(cramers_v(codes[x], codes[y]));
    }
  }
  return {{"categories", plan.categories},
          {"numbers", plan.numbers},
          {"ratios", std::move(ratios)},
          {"v", std::move(v)}};
}

}  // namespace samovar::ingest
