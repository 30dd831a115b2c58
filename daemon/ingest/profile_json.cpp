// The profile as people and pages get it.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "base/json.hpp"
#include "daemon/ingest/profile.hpp"
#include "daemon/ingest/utf8.hpp"

namespace samovar::ingest {

using nlohmann::json;
using trainer::ColumnType;

namespace {

constexpr std::size_t kLevelsShown = 50;
constexpr std::size_t kBins = 30;
constexpr std::size_t kHeadCellBytes = 200;
constexpr std::array<std::pair<const char*, double>, 7> kQuantiles = {
    {{"0.01", .01}, {"0.05", .05}, {"0.25", .25}, {"0.5", .5}, {"0.75", .75}, {"0.95", .95}, {"0.99", .99}}};

// Whole numbers are written as such as long as f64 holds them exactly.
json number(double value, bool whole) {
  if (!std::isfinite(value)) return nullptr;
  if (whole && std::abs(value) < 9e15) return static_cast<std::int64_t>(value);
  return value;
}

// By their bytes, the lowest first: samples are long, and small whole numbers have few bytes that differ.
// None is NaN.
void sort_numbers(std::vector<double>& values) {
  constexpr std::size_t kFew = 512;
  if (values.size() < kFew) return std::sort(values.begin(), values.end());
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  const std::size_t count = values.size();
  std::vector<std::uint64_t> keys(count);
  std::vector<std::uint64_t> other(count);
  std::array<std::array<std::uint32_t, 256>, 8> counts{};
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<std::uint64_t>(values[i]);
    keys[i] = (bits & kSign) != 0 ? ~bits : bits | kSign;  // rising as the numbers do
    for (std::size_t byte = 0; byte < 8; ++byte) ++counts[byte][keys[i] >> (8 * byte) & 0xff];
  }
  for (std::size_t byte = 0; byte < 8; ++byte) {
    std::array<std::uint32_t, 256>& places = counts[byte];
    if (places[keys[0] >> (8 * byte) & 0xff] == count) continue;  // all the same
    std::uint32_t before = 0;
    for (std::uint32_t& place : places) before += std::exchange(place, before);
    for (const std::uint64_t key : keys) other[places[key >> (8 * byte) & 0xff]++] = key;
    std::swap(keys, other);
  }
  for (std::size_t i = 0; i < count; ++i)
    values[i] = std::bit_cast<double>((keys[i] & kSign) != 0 ? keys[i] & ~kSign : ~keys[i]);
}

std::uint64_t count_distinct(const std::vector<double>& sorted) {
  std::uint64_t count = sorted.empty() ? 0 : 1;
  for (std::size_t i = 1; i < sorted.size(); ++i) count += sorted[i] != sorted[i - 1] ? 1 : 0;
  return count;
}

double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (at - static_cast<double>(low));
}

// Equal steps over all values, or, where a few lie far out, over the middle 98 %: the outermost bins then
// reach to the smallest and the largest value.
json histogram(const std::vector<double>& sorted, double min, double max, bool whole, std::uint64_t present) {
  double low = quantile(sorted, .01);
  double high = quantile(sorted, .99);
  if (max - min <= 4 * (high - low) || !(high > low)) {
    low = min;
    high = max;
  }
  std::size_t bins = kBins;
  double step = (high - low) / static_cast<double>(bins);
  if (whole && high - low < static_cast<double>(kBins)) {
    step = 1;
    bins = static_cast<std::size_t>(high - low) + 1;
  }
  if (!(step > 0)) {
    step = 1;
    bins = 1;
  }
  std::vector<double> edges;
  for (std::size_t i = 0; i <= bins; ++i) edges.push_back(low + step * static_cast<double>(i));
  edges.front() = min;
  edges.back() = std::max(max, edges.back());
  std::vector<std::uint64_t> counts(bins);
  for (const double value : sorted) {
    const double at = (value - low) / step;
    ++counts[static_cast<std::size_t>(std::clamp(at, 0.0, static_cast<double>(bins - 1)))];
  }
  const double scale = static_cast<double>(present) / static_cast<double>(sorted.size());
  for (std::uint64_t& count : counts) {
    count = static_cast<std::uint64_t>(std::llround(static_cast<double>(count) * scale));
  }
  return {{"edges", std::move(edges)}, {"counts", std::move(counts)}};
}

}  // namespace

json ProfileBuilder::column_json(const trainer::ColumnSpec& spec, std::size_t index) {
  Column& column = columns_[index];
  const ColumnStats& total = column.total;
  json out = {{"name", spec.name}, {"type", trainer::to_string(spec.type)}, {"missing", total.missing}};
  if (spec.type == ColumnType::sparse) return out;
  sort_numbers(column.sample);
  const bool text = spec.type == ColumnType::category || spec.type == ColumnType::text;
  const bool sample_is_all = column.sample.size() == total.present;
  bool exact = text ? column.levels_exact : column.values_exact;
  std::uint64_t distinct = text ? column.levels.size() : column.values.size();
  if (!exact && !text && sample_is_all) {
    exact = true;
    distinct = count_distinct(column.sample);
  }
  out["distinct"] = exact ? distinct : std::min(distinct_.estimate(index), total.present);
  out["distinct_exact"] = exact;
  if (is_number(spec.type) && total.present > 0) {
    const bool whole = spec.type == ColumnType::integer || spec.type == ColumnType::boolean;
    out["min"] = number(total.min, whole);
    out["max"] = number(total.max, whole);
    out["mean"] = total.mean;
    out["sd"] =
        total.present > 1 ? json(std::sqrt(total.m2 / static_cast<double>(total.present - 1))) : json();
    json& quantiles = out["quantiles"] = json::object();
    if (!column.sample.empty()) {
      for (const auto& [name, share] : kQuantiles)
        quantiles[name] = number(quantile(column.sample, share), false);
      out["histogram"] = histogram(column.sample, total.min, total.max, whole, total.present);
    }
  }
  if (text || spec.type == ColumnType::boolean) {
    std::vector<const Level*> common;
    for (const Level& level : column.levels.all()) common.push_back(&level);
    std::sort(common.begin(), common.end(), [](const Level* a, const Level* b) {
      return a->count != b->count ? a->count > b->count : a->text < b->text;
    });
    json levels = json::array();
    std::uint64_t shown = 0;
    for (std::size_t i = 0; i < std::min(kLevelsShown, common.size()); ++i) {
      levels.push_back({{"value", printable(common[i]->text, kLevelBytesMax)}, {"count", common[i]->count}});
      shown += common[i]->count;
    }
    out["levels"] = std::move(levels);
    out["levels_exact"] = column.levels_exact;
    out["other"] = total.present > shown ? total.present - shown : 0;
  }
  if (spec.type == ColumnType::text && total.present > 0) {
    out["length"] = {{"min", total.length_min},
                     {"max", total.length_max},
                     {"mean", total.length_sum / static_cast<double>(total.present)}};
  }
  return out;
}

std::string ProfileBuilder::finish(const trainer::Schema& schema, std::uint64_t bad_rows,
                                   const CellRules& rules) {
  json columns = json::array();
  for (std::size_t c = 0; c < columns_.size(); ++c) columns.push_back(column_json(schema.columns[c], c));
  json head = json::array();
  for (const std::vector<std::string>& row : head_) {
    json cells = json::array();
    for (const std::string& cell : row) {
      if (rules.missing(cell))
        cells.push_back(nullptr);
      else
        cells.push_back(printable(cell, kHeadCellBytes));
    }
    head.push_back(std::move(cells));
  }
  const json profile = {{"rows", rows_},
                        {"bad_rows", bad_rows},
                        {"sampled_rows", sampled_rows_},
                        {"columns", std::move(columns)},
                        {"moments", moments_json()},
                        {"head", std::move(head)}};
  return profile.dump(-1, ' ', false, json::error_handler_t::replace);
}

json ProfileBuilder::moments_json() const {
  json correlations = json::array();
  for (const PairMoments& pair : comoments_.pairs) {
    const double scale = std::sqrt(pair.xx * pair.yy);
    // What is left of rounding is no variance.
    const bool flat = !(pair.xx > 1e-12 * pair.count * pair.mean_x * pair.mean_x) ||
                      !(pair.yy > 1e-12 * pair.count * pair.mean_y * pair.mean_y) || pair.count < 3;
    if (flat || !std::isfinite(pair.xy / scale))
      correlations.push_back(nullptr);
    else
      correlations.push_back(std::round(std::clamp(pair.xy / scale, -1.0, 1.0) * 1e6) / 1e6);
  }
  return {{"columns", comoments_.columns},
          {"correlations", std::move(correlations)},
          {"associations", association_json(association_, row_sample_)}};
}

}  // namespace samovar::ingest
