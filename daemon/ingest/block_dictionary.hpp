// The levels of one category column of one block: numbers in order of appearance.
//
// Open addressing over eight-byte cells; the table starts small, so that few levels stay in the first-level
// cache, and is not cleared between columns: a slot counts only with the stamp of its column.
//
// Threading: one thread.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/ingest/cell.hpp"

namespace samovar::ingest {

class BlockDictionary {
 public:
  static constexpr std::uint32_t kMissing = 0xffffffff;

  // `text` is what long cells point into; `missing` are cells that are no levels.
  void begin(const char* text, const std::vector<std::string>& missing);
  const std::vector<Cell>& levels() const noexcept { return levels_; }

  std::uint32_t code(Cell cell) {
    if (cell_is_long(cell)) [[unlikely]]
      return long_code(cell);
    for (std::size_t at = slot_of(cell);; at = (at + 1) & mask_) {
      Slot& slot = slots_[at];
      if (slot.stamp == stamp_ && slot.cell == cell) return slot.code;
      if (slot.stamp != stamp_) return add(cell);
    }
  }

 private:
  struct Slot {
    Cell cell = 0;  // of long ones, the hash
    std::uint32_t code = 0;
    std::uint32_t stamp = 0;
  };
  std::size_t slot_of(Cell cell) const noexcept { return cell * 0x9e3779b97f4a7c15 >> shift_; }
  std::uint32_t add(Cell cell);
  std::uint32_t long_code(Cell cell);
  void put(Cell cell, std::uint32_t code);
  void put_long(std::uint64_t hash, std::uint32_t code);
  void resize(unsigned bits);
  static void next(std::uint32_t& stamp, std::vector<Slot>& slots);
  std::string_view text_of(const Cell& cell) const noexcept { return cell_text(cell, text_); }

  const char* text_ = nullptr;
  std::vector<Cell> levels_;
  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  unsigned shift_ = 0;
  std::size_t used_ = 0;
  std::vector<Slot> long_slots_;
  std::size_t long_mask_ = 0;
  std::size_t long_used_ = 0;
  std::uint32_t stamp_ = 0;
  std::uint32_t long_stamp_ = 0;
  const std::vector<std::string>* missing_ = nullptr;
};

}  // namespace samovar::ingest
