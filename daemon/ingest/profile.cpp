#include "daemon/ingest/profile.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

namespace samovar::ingest {

using trainer::ColumnType;

namespace {
constexpr std::size_t kValuesMax = 4096;
}

// Memory for all columns together is bounded: many columns get less each.
ProfileBuilder::ProfileBuilder(const trainer::Schema& schema, DistinctCounters& distinct)
    : distinct_(distinct),
      sample_max_(std::clamp<std::size_t>((1u << 21) / schema.columns.size(), 512, 65'536)),
      levels_max_(std::clamp<std::size_t>(65'536 / schema.columns.size(), 64, 2048)),
      columns_(schema.columns.size()) {}

void ProfileBuilder::add(std::uint32_t rows, BlockStats&& stats) {
  rows_ += rows;
  sampled_rows_ += stats.sampled_rows;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    Column& column = columns_[c];
    column.total.merge(stats.columns[c]);
    add_sample(column, stats.columns[c].sample);
    add_values(column, stats.columns[c]);
    add_levels(column, std::move(stats.columns[c].levels), stats.columns[c].levels_complete);
  }
  if (comoments_.pairs.empty()) {
    comoments_ = std::move(stats.comoments);
  } else {
    for (std::size_t i = 0; i < comoments_.pairs.size(); ++i)
      comoments_.pairs[i].merge(stats.comoments.pairs[i]);
  }
}

void ProfileBuilder::add_sample(Column& column, const std::vector<double>& values) {
  for (const double value : values) {
    if (column.sample_offered++ % column.sample_stride != 0) continue;
    column.sample.push_back(value);
    if (column.sample.size() < 2 * sample_max_) continue;
    // Too many: every second one goes, and from now on twice as many are passed over.
    for (std::size_t i = 0; 2 * i < column.sample.size(); ++i) column.sample[i] = column.sample[2 * i];
    column.sample.resize(column.sample.size() / 2);
    column.sample_stride *= 2;
  }
}

void ProfileBuilder::add_values(Column& column, const ColumnStats& stats) {
  column.values_exact &= stats.values_complete;
  if (!column.values_exact) {
    column.values.clear();
    return;
  }
  if (std::includes(column.values.begin(), column.values.end(), stats.values.begin(), stats.values.end()))
    return;
  std::vector<std::int64_t> both;
  std::set_union(column.values.begin(), column.values.end(), stats.values.begin(), stats.values.end(),
                 std::back_inserter(both));
  column.values = std::move(both);
  column.values_exact = column.values.size() <= kValuesMax;
}

void ProfileBuilder::add_levels(Column& column, std::vector<LevelCount>&& levels, bool complete) {
  column.levels_exact &= complete;
  for (LevelCount& level : levels) {
    Level& known = column.levels[level.hash];
    if (known.count == 0) known.text = std::move(level.text);
    known.count += level.count;
  }
  if (column.levels.size() <= levels_max_) return;
  // Too many to keep: the rarer half goes, and counts are lower bounds from now on.
  column.levels_exact = false;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> common;  // the same choice whatever the map's order
  common.reserve(column.levels.size());
  for (const auto& [hash, level] : column.levels) common.emplace_back(level.count, hash);
  const auto middle = common.begin() + static_cast<std::ptrdiff_t>(levels_max_ / 2);
  std::nth_element(common.begin(), middle, common.end(), std::greater<>());
  for (auto rare = middle; rare != common.end(); ++rare) column.levels.erase(rare->second);
}

}  // namespace samovar::ingest
