#include "daemon/power/history.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "daemon/power/history_metrics.hpp"

namespace samovar::power {
namespace {

constexpr std::int64_t kSecondMax = std::numeric_limits<std::uint32_t>::max();
// A tick that was skipped or late is bridged by the next sample; longer silence stays a gap.
constexpr std::int64_t kBridgeSecondsMax = 3;

std::int64_t floor_seconds(WallTime t) {
  return std::chrono::floor<std::chrono::seconds>(t).time_since_epoch().count();
}

double seconds_of(WallTime t) { return std::chrono::duration<double>(t.time_since_epoch()).count(); }

double watt_samples(const HistorySlot& slot) { return slot.counts[kWattsColumn]; }

double joules_of(const HistorySlot& slot) {
  return std::isnan(slot.cells[kEnergyColumn]) ? 0.0 : static_cast<double>(slot.cells[kEnergyColumn]);
}

// Whether the finer ring still has every sample of this slot.
bool holds_all(const HistoryRing& finer, const HistorySlot& slot, std::uint32_t step_s) {
  const std::int64_t first = std::int64_t{slot.number} * step_s / finer.step_s();
  const std::int64_t count = step_s / finer.step_s();
  double samples = 0;
  for (std::int64_t n = first; n < first + count; ++n)
    if (const HistorySlot* part = finer.find(n)) samples += watt_samples(*part);
  return samples == watt_samples(slot);
}

// Whole slots count as they are; a slot that the range cuts is asked of the finer rings, and shared
// in proportion where they have forgotten it. rings: finest first, the last one is looked at.
void sum_energy(const HistoryRing* rings, std::size_t level, double from, double to, Energy& out) {
  const HistoryRing& ring = rings[level];
  const double step = ring.step_s();
  for (auto n = static_cast<std::int64_t>(std::floor(from / step)); static_cast<double>(n) * step < to; ++n) {
    const HistorySlot* slot = ring.find(n);
    if (slot == nullptr) continue;
    const double begin = std::max(from, static_cast<double>(n) * step);
    const double end = std::min(to, static_cast<double>(n + 1) * step);
    const double share = (end - begin) / step;
    if (share < 1.0 && level > 0 && holds_all(rings[level - 1], *slot, ring.step_s())) {
      sum_energy(rings, level - 1, begin, end, out);
    } else {
      out.joules += joules_of(*slot) * share;
      out.seconds += watt_samples(*slot) * share;
    }
  }
}

}  // namespace

History::History() : rings_{HistoryRing{1, 3600}, HistoryRing{10, 8640}, HistoryRing{300, 8640}} {}

void History::add(const Sample& sample) {
  const std::int64_t second = floor_seconds(sample.t);
  if (second < 0 || second > kSecondMax) return;
  std::int64_t bridged = second - last_s_;
  if (last_s_ == 0 || bridged < 1 || bridged > kBridgeSecondsMax || sample.covers_s > kBridgeSecondsMax + 0.5)
    bridged = 1;
  last_s_ = second;

  const double covered = std::min(sample.covers_s, static_cast<double>(kBridgeSecondsMax));
  const double joules = sample.watts.value_or(0) * covered / static_cast<double>(bridged);
  for (std::int64_t s = second - bridged + 1; s <= second; ++s)
    for (HistoryRing& ring : rings_) {
      HistorySlot slot = make_slot(sample, static_cast<std::uint32_t>(s), joules);
      slot.number /= ring.step_s();
      ring.add(slot);
    }
}

Energy History::energy(WallTime from, WallTime to) const {
  Energy out;
  // Further back than the rings reach there is nothing, so the walk is bounded whatever is asked.
  const double begin = std::max(0.0, seconds_of(from));
  const double end = std::min(seconds_of(to), static_cast<double>(kSecondMax));
  const HistoryRing& last = rings_.back();
  const double reach = static_cast<double>(last.step_s()) * (last.capacity() + 1.0);
  if (begin < end) sum_energy(rings_.data(), rings_.size() - 1, std::max(begin, end - reach), end, out);
  return out;
}

void History::merge(const History& older) {
  for (std::size_t i = 0; i < rings_.size(); ++i)
    for (const HistorySlot& slot : older.rings_[i].slots())
      if (slot.samples != 0) rings_[i].add_older(slot);
}

}  // namespace samovar::power
