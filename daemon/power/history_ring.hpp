// One resolution of the history: a ring of slots, each with its number, its weight and its cells.
//
// Threading: none of its own.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace samovar::power {

// The columns: means first, then maxima, then the energy. Names: history_metrics.hpp.
inline constexpr std::size_t kMeanColumns = 11;
inline constexpr std::size_t kMaxColumns = 4;
inline constexpr std::size_t kEnergyColumn = kMeanColumns + kMaxColumns;
inline constexpr std::size_t kColumns = kEnergyColumn + 1;

struct HistorySlot {
  std::uint32_t number = 0;                 // unix seconds / step
  std::uint16_t samples = 0;                // 0: empty
  std::uint16_t counts[kMeanColumns] = {};  // samples that knew this metric: the weight of its mean
  float cells[kColumns];                    // NaN: no value

  HistorySlot();
  // Means by weight, maxima, sums. The number stays.
  void absorb(const HistorySlot& other);
};

class HistoryRing {
 public:
  HistoryRing(std::uint32_t step_s, std::uint32_t capacity);

  std::uint32_t step_s() const noexcept { return step_s_; }
  std::uint32_t capacity() const noexcept { return capacity_; }
  // Null when that number was never recorded or has been overwritten.
  const HistorySlot* find(std::int64_t number) const noexcept;
  // Into the slot of its number; whatever other time stood in that place is overwritten.
  void add(const HistorySlot& slot);
  // The same for the record of an older run: a later time that stands in its place stays.
  void add_older(const HistorySlot& slot);
  const std::vector<HistorySlot>& slots() const noexcept { return slots_; }

 private:
  std::uint32_t step_s_;
  std::uint32_t capacity_;
  std::vector<HistorySlot> slots_;  // empty until the first add, then capacity_ for good
};

inline constexpr std::size_t kHistorySlots = 3600 + 8640 + 8640;
inline constexpr std::size_t kHistoryBytes = kHistorySlots * sizeof(HistorySlot);
static_assert(kHistoryBytes < 2'000'000, "the memory that docs/formats/history.md states");

}  // namespace samovar::power
