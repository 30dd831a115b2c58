#include "daemon/ingest/profile.hpp"

#include <algorithm>
#include <bit>
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
      columns_(schema.columns.size()),
      association_(AssociationPlan::make(schema)) {}

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
  add_rows(std::move(stats.rows));
  if (comoments_.pairs.empty()) {
    comoments_ = std::move(stats.comoments);
  } else {
    for (std::size_t i = 0; i < comoments_.pairs.size(); ++i)
      comoments_.pairs[i].merge(stats.comoments.pairs[i]);
  }
}

// Whole blocks' shares, so that the columns stay side by side; enough is enough.
void ProfileBuilder::add_rows(RowSample&& rows) {
  if (row_sample_.columns.empty()) {
    row_sample_ = std::move(rows);
    return;
  }
  if (row_sample_.columns[0].size() >= AssociationPlan::kRowsMax) return;
  for (std::size_t c = 0; c < row_sample_.columns.size(); ++c) {
    row_sample_.columns[c].insert(row_sample_.columns[c].end(), rows.columns[c].begin(),
                                  rows.columns[c].end());
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
  column.levels.look_for(levels);
  for (LevelCount& level : levels) column.levels.add(std::move(level));
  if (column.levels.size() <= levels_max_) return;
  // Too many to keep: the rarer half goes, and counts are lower bounds from now on.
  column.levels_exact = false;
  column.levels.keep_common(levels_max_ / 2);
}

// The tables of all columns together are more than a cache holds: all that will be looked at is asked for.
void ProfileBuilder::Levels::look_for(const std::vector<LevelCount>& levels) const noexcept {
  if (slots_.empty()) return;
  const std::size_t mask = slots_.size() - 1;
  for (const LevelCount& level : levels) __builtin_prefetch(&slots_[level.hash & mask]);
  for (const LevelCount& level : levels) {
    const std::uint32_t place = slots_[level.hash & mask];
    if (place != 0) __builtin_prefetch(&levels_[place - 1], 1);
  }
}

void ProfileBuilder::Levels::add(LevelCount&& level) {
  if (2 * levels_.size() >= slots_.size()) index(std::max<std::size_t>(64, 4 * levels_.size()));
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = level.hash & mask;
  for (; slots_[at] != 0; at = (at + 1) & mask) {
    Level& known = levels_[slots_[at] - 1];
    if (known.hash != level.hash) continue;
    known.count += level.count;
    return;
  }
  levels_.push_back({level.hash, level.count, std::move(level.text)});
  slots_[at] = static_cast<std::uint32_t>(levels_.size());
}

void ProfileBuilder::Levels::keep_common(std::size_t count) {
  if (count >= levels_.size()) return;
  // By hash where the counts are the same: one choice, whatever their order.
  std::nth_element(levels_.begin(), levels_.begin() + static_cast<std::ptrdiff_t>(count), levels_.end(),
                   [](const Level& a, const Level& b) {
                     return a.count != b.count ? a.count > b.count : a.hash > b.hash;
                   });
  levels_.resize(count);
  index(slots_.size());
}

void ProfileBuilder::Levels::index(std::size_t slots) {
  slots_.assign(std::bit_ceil(slots), 0);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    std::size_t at = levels_[i].hash & mask;
    while (slots_[at] != 0) at = (at + 1) & mask;
    slots_[at] = static_cast<std::uint32_t>(i + 1);
  }
}

}  // namespace samovar::ingest
