// The levels of one category column of one block: numbers in order of appearance.
//
// Open addressing; a slot is four bytes that name an entry, so that the table of a column of many levels
// stays in the second-level cache. It starts small and is not cleared between columns: a slot counts only
// with the stamp of its column.
//
// Threading: one thread.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/ingest/cell.hpp"
#include "daemon/ingest/hex_levels.hpp"

namespace samovar::ingest {

class BlockDictionary {
 public:
  static constexpr std::uint32_t kMissing = 0xffffffff;

  // Writes each cell's code, or kMissing, to `codes`. `text` is what long cells point into; `missing` are
  // the texts that are no levels; `levels_before` is how many the column had in the block before, so that the
  // table need not grow.
  void encode(const char* text, const std::vector<std::string>& missing, const std::vector<Cell>& cells,
              std::size_t levels_before, std::vector<std::uint32_t>& codes);

  // The same of cells that are all numbers of eight hexadecimal digits (HexLevels::read).
  void encode(std::vector<std::uint32_t>& keys, const std::vector<std::uint8_t>& gone, std::size_t rows,
              std::size_t levels_before, std::vector<std::uint32_t>& codes);

  // Of the last encode(), in the order of their codes.
  std::size_t size() const noexcept { return size_; }
  const Cell* levels() const noexcept { return entries_.data() + first_; }
  // Their texts, one after the other, and where each ends.
  void write_levels(std::vector<char>& chars, std::vector<std::uint32_t>& ends) const;

 private:
  // stamp << kEntryBits | entry. Entries below first_ are cells that stand for a missing value, the others
  // levels, in the order of their codes.
  using Slot = std::uint32_t;
  static constexpr unsigned kEntryBits = 18;
  static constexpr Slot kEntryMask = (Slot{1} << kEntryBits) - 1;
  static constexpr std::uint32_t kStampMax = 0xffff'ffff >> kEntryBits;
  static constexpr std::size_t kEntriesMax = std::size_t{1} << kEntryBits;
  // What a look needs to know.
  struct Table {
    const Slot* slots;
    const Cell* entries;
    std::uint32_t stamp;
    unsigned shift;
    std::uint32_t first;
  };
  struct LongSlot {
    std::uint64_t hash = 0;
    std::uint32_t stamp = 0;
    std::uint32_t code = 0;
  };
  static constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15;
  std::size_t slot_of(Cell cell) const noexcept { return cell * kMultiplier >> shift_; }
  void begin(std::size_t cells, std::size_t levels_before);
  void add_missing(Cell cell);
  // Codes of the cells whose own slot has them; the places of the others go to `open`. Returns how many.
  using Look = std::size_t (*)(const Table& table, const Cell* cells, std::size_t count, std::uint32_t* codes,
                               std::uint8_t* open) noexcept;
  static std::size_t look_plainly(const Table& table, const Cell* cells, std::size_t count,
                                  std::uint32_t* codes, std::uint8_t* open) noexcept;
  static std::size_t look_wide(const Table& table, const Cell* cells, std::size_t count, std::uint32_t* codes,
                               std::uint8_t* open) noexcept;
  static Look best_look() noexcept;
  void encode_batch(const Cell* cells, std::size_t count, std::uint32_t* codes);
  std::uint32_t long_code(Cell cell);
  void put(std::size_t entry);
  void put_long(std::uint64_t hash, std::uint32_t code);
  void resize(unsigned bits);
  void empty_long();
  std::string_view text_of(const Cell& cell) const noexcept { return cell_text(cell, text_); }

  HexLevels hex_;
  const char* text_ = nullptr;
  const std::vector<std::string>* missing_ = nullptr;
  std::vector<Cell> entries_;  // more room than entries, and never less than a stale slot may name
  std::size_t first_ = 0;
  std::size_t size_ = 0;  // levels
  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  unsigned shift_ = 0;
  std::vector<LongSlot> long_slots_;
  std::size_t long_mask_ = 0;
  std::size_t long_used_ = 0;
  std::uint32_t stamp_ = 0;
  std::uint32_t long_stamp_ = 0;
};

}  // namespace samovar::ingest
