// History::query: rings to columns for a chart.
#include <algorithm>
#include <cmath>
#include <limits>

#include "daemon/power/history.hpp"
#include "daemon/power/history_metrics.hpp"

namespace samovar::power {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kRangeSecondsMax = 31LL * 24 * 3600;
// Steps that divide an hour or a day, so that points fall on round times.
constexpr std::uint32_t kAutoSteps[] = {1, 2, 5, 10, 30, 60, 300, 600, 1800, 3600};

std::uint32_t auto_step(std::int64_t range_s) {
  for (const std::uint32_t step : kAutoSteps)
    if (range_s / step <= History::kPointsAuto) return step;
  return kAutoSteps[std::size(kAutoSteps) - 1];
}

double rounded(float cell, int decimals) {
  if (std::isnan(cell)) return kNone;
  const double scale = decimals == 0 ? 1 : std::pow(10.0, decimals);
  return std::round(static_cast<double>(cell) * scale) / scale;
}

// The coarsest ring that is fine enough, or a coarser one when `from` is older than it remembers.
std::size_t choose_ring(const std::array<HistoryRing, 3>& rings, std::uint32_t step_s, std::int64_t from_s,
                        std::int64_t newest_s) {
  std::size_t level = 0;
  while (level + 1 < rings.size() && rings[level + 1].step_s() <= step_s &&
         step_s % rings[level + 1].step_s() == 0)
    ++level;
  const auto reaches = [&](const HistoryRing& ring) {
    return from_s + ring.step_s() >= newest_s - std::int64_t{ring.capacity()} * ring.step_s();
  };
  while (level + 1 < rings.size() && !reaches(rings[level])) ++level;
  return level;
}

Result<std::vector<std::size_t>> find_columns(const std::vector<std::string>& metrics) {
  std::vector<std::size_t> columns;
  for (const std::string& name : metrics) {
    const auto column = find_history_column(name);
    if (!column)
      return Error{Errc::invalid, "there is no metric \"" + name + "\": use " + history_column_list()};
    columns.push_back(*column);
  }
  if (columns.empty()) return Error{Errc::invalid, "name at least one metric: " + history_column_list()};
  if (columns.size() > 2 * kColumns) return Error{Errc::invalid, "name each metric once"};
  return columns;
}

}  // namespace

Result<HistoryTable> History::query(const HistoryQuery& query) const {
  SAMOVAR_TRY(const std::vector<std::size_t> columns, find_columns(query.metrics));
  const std::int64_t from = std::max<std::int64_t>(
      0, std::chrono::floor<std::chrono::seconds>(query.from).time_since_epoch().count());
  const std::int64_t to = std::chrono::ceil<std::chrono::seconds>(query.to).time_since_epoch().count();
  if (to <= from) return Error{Errc::invalid, "the end of the range must lie after its start"};
  if (to - from > kRangeSecondsMax)
    return Error{Errc::invalid, "the history reaches back 30 days: ask for at most 31 days at once"};

  std::uint32_t step = query.step_s != 0 ? query.step_s : auto_step(to - from);
  if (step > kRangeSecondsMax)
    return Error{Errc::invalid, "the step is longer than the history: use at most 31 days"};
  const HistoryRing& ring = rings_[choose_ring(rings_, step, from, last_s_ != 0 ? last_s_ : to)];
  step = (step + ring.step_s() - 1) / ring.step_s() * ring.step_s();

  HistoryTable table;
  table.step_s = step;
  table.start_s = from - from % step;
  table.end_s = to;
  const std::int64_t points = (to - table.start_s + step - 1) / step;
  if (points > kPointsMax)
    return Error{Errc::invalid,
                 "that is more than " + std::to_string(kPointsMax) + " points: use a larger step"};

  table.names.emplace_back("t");
  table.names.insert(table.names.end(), query.metrics.begin(), query.metrics.end());
  table.cols.resize(table.names.size());
  for (auto& column : table.cols) column.reserve(static_cast<std::size_t>(points));
  for (std::int64_t t = table.start_s; t < to; t += step) {
    HistorySlot sum;
    for (std::int64_t n = t / ring.step_s(); n < (t + step) / ring.step_s(); ++n)
      if (const HistorySlot* slot = ring.find(n)) sum.absorb(*slot);
    table.cols[0].push_back(static_cast<double>(t));
    for (std::size_t i = 0; i < columns.size(); ++i)
      table.cols[i + 1].push_back(rounded(sum.cells[columns[i]], kHistoryColumns[columns[i]].decimals));
  }
  return table;
}

}  // namespace samovar::power
