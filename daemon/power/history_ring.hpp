// One resolution of the history: a ring of slots, each with its number, its weight and its cells.
//
// Threading: none of its own.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace samovar::power {

// The columns: means first, then maxima, then the energy. Names: history_metrics.cpp.
inline constexpr std::size_t kMeanColumns = 11;
inline constexpr std::size_t kMaxColumns = 4;
inline constexpr std::size_t kEnergyColumn = kMeanColumns + kMaxColumns;
inline constexpr std::size_t kColumns = kEnergyColumn + 1;

// One slot's content on its way in or out. NaN is "no value".
struct HistorySlot {
  std::uint32_t number = 0;
  std::uint16_t samples = 0;        // 0: empty
  std::uint16_t power_samples = 0;  // those that knew the watts
  float cells[kColumns];

  HistorySlot() {
    for (float& cell : cells) cell = std::numeric_limits<float>::quiet_NaN();
  }
};

class HistoryRing {
 public:
  HistoryRing(std::uint32_t step_s, std::uint32_t capacity);

  std::uint32_t step_s() const noexcept { return step_s_; }
  std::uint32_t capacity() const noexcept { return static_cast<std::uint32_t>(slots_.size()); }
  // Null when that number was never recorded or has been overwritten.
  const HistorySlot* find(std::int64_t number) const noexcept;
  // Adds to the slot of slot.number: means weighted by samples, maxima, sums; an older or newer number in its
  // place is replaced.
  void add(const HistorySlot& slot);
  // Like add, but what is already here stays (for merging an older run's record).
  void add_older(const HistorySlot& slot);
  const std::vector<HistorySlot>& slots() const noexcept { return slots_; }

 private:
  std::uint32_t step_s_;
  std::vector<HistorySlot> slots_;
};

inline constexpr std::size_t kHistorySlots = 3600 + 8640 + 8640;
inline constexpr std::size_t kHistoryBytes = kHistorySlots * sizeof(HistorySlot);

}  // namespace samovar::power
