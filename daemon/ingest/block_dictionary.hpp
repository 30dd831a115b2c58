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

  // Writes each cell's code, or kMissing, to `codes`. `text` is what long cells point into; `missing` are
  // the texts that are no levels; `levels_before` is how many the column had in the block before, so that the
  // table need not grow.
  void encode(const char* text, const std::vector<std::string>& missing, const std::vector<Cell>& cells,
              std::size_t levels_before, std::vector<std::uint32_t>& codes);

  // Of the last encode(), in the order of their codes.
  std::size_t size() const noexcept { return size_; }
  const Cell* levels() const noexcept { return levels_.data(); }
  // Their texts, one after the other, and where each ends.
  void write_levels(std::vector<char>& chars, std::vector<std::uint32_t>& ends) const;

 private:
  struct Slot {
    Cell cell = 0;  // of long ones, the hash
    std::uint64_t tag = 0;
    std::uint32_t stamp() const noexcept { return static_cast<std::uint32_t>(tag >> 32); }
    std::uint32_t code() const noexcept { return static_cast<std::uint32_t>(tag); }
  };
  static std::uint64_t tag(std::uint32_t stamp, std::uint32_t code) noexcept {
    return std::uint64_t{stamp} << 32 | code;
  }
  static constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15;
  std::size_t slot_of(Cell cell) const noexcept { return cell * kMultiplier >> shift_; }
  void begin(std::size_t cells, std::size_t levels_before);
  // Codes of the cells whose own slot has them; the places of the others go to `open`. Returns how many.
  using Look = std::size_t (*)(const Slot* slots, std::uint32_t stamp, unsigned shift, const Cell* cells,
                               std::size_t count, std::uint32_t* codes, std::uint8_t* open) noexcept;
  static std::size_t look_plainly(const Slot* slots, std::uint32_t stamp, unsigned shift, const Cell* cells,
                                  std::size_t count, std::uint32_t* codes, std::uint8_t* open) noexcept;
  static std::size_t look_wide(const Slot* slots, std::uint32_t stamp, unsigned shift, const Cell* cells,
                               std::size_t count, std::uint32_t* codes, std::uint8_t* open) noexcept;
  static Look best_look() noexcept;
  void encode_batch(const Cell* cells, std::size_t count, std::uint32_t* codes);
  std::uint32_t code_of(Cell cell);
  std::uint32_t long_code(Cell cell);
  void put(Cell cell, std::uint32_t code);
  void put_long(std::uint64_t hash, std::uint32_t code);
  void resize(unsigned bits);
  static void next(std::uint32_t& stamp, std::vector<Slot>& slots);
  std::string_view text_of(const Cell& cell) const noexcept { return cell_text(cell, text_); }

  const char* text_ = nullptr;
  const std::vector<std::string>* missing_ = nullptr;
  std::vector<Cell> levels_;  // more room than levels
  std::size_t size_ = 0;
  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  unsigned shift_ = 0;
  std::vector<Slot> long_slots_;
  std::size_t long_mask_ = 0;
  std::size_t long_used_ = 0;
  std::uint32_t stamp_ = 0;
  std::uint32_t long_stamp_ = 0;
};

}  // namespace samovar::ingest
