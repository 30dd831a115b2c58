#include "daemon/power/history_ring.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/assert.hpp"
#include "daemon/power/history_metrics.hpp"

namespace samovar::power {
namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

std::uint16_t add_counts(std::uint16_t a, std::uint16_t b) noexcept {
  return static_cast<std::uint16_t>(std::min<std::uint32_t>(std::uint32_t{a} + b, 65535));
}

}  // namespace

HistorySlot::HistorySlot() { std::fill(std::begin(cells), std::end(cells), kNone); }

void HistorySlot::absorb(const HistorySlot& other) {
  samples = add_counts(samples, other.samples);
  for (std::size_t i = 0; i < kColumns; ++i) {
    if (std::isnan(other.cells[i])) continue;
    if (std::isnan(cells[i])) {
      cells[i] = other.cells[i];
    } else if (is_mean(i)) {
      const double weight =
          static_cast<double>(other.counts[i]) / (static_cast<double>(counts[i]) + other.counts[i]);
      cells[i] = static_cast<float>(cells[i] + (static_cast<double>(other.cells[i]) - cells[i]) * weight);
    } else {
      cells[i] = is_max(i) ? std::max(cells[i], other.cells[i]) : cells[i] + other.cells[i];
    }
    if (is_mean(i)) counts[i] = add_counts(counts[i], other.counts[i]);
  }
}

HistoryRing::HistoryRing(std::uint32_t step_s, std::uint32_t capacity)
    : step_s_(step_s), capacity_(capacity) {
  SAMOVAR_ASSERT(step_s > 0 && capacity > 0);
}

const HistorySlot* HistoryRing::find(std::int64_t number) const noexcept {
  if (number < 0 || slots_.empty()) return nullptr;
  const HistorySlot& slot = slots_[static_cast<std::size_t>(number) % capacity_];
  return slot.samples != 0 && slot.number == number ? &slot : nullptr;
}

void HistoryRing::add(const HistorySlot& slot) {
  if (slots_.empty()) slots_.resize(capacity_);
  HistorySlot& place = slots_[slot.number % capacity_];
  if (place.samples != 0 && place.number == slot.number) {
    place.absorb(slot);
  } else {
    place = slot;
  }
}

void HistoryRing::add_older(const HistorySlot& slot) {
  if (!slots_.empty()) {
    const HistorySlot& place = slots_[slot.number % capacity_];
    if (place.samples != 0 && place.number > slot.number) return;
  }
  add(slot);
}

}  // namespace samovar::power
