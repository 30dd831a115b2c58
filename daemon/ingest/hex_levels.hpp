// Levels of eight hexadecimal digits, as hashed identifiers in logs are written: numbers in order of
// appearance, the same that BlockDictionary gives, in a third of the time.
//
// Such a cell is a number of 32 bits. Multiplied by an odd one it is another number, and no two become the
// same; its upper bits choose a slot, and the slot holds the lower ones beside the code: one load says
// whether a cell is known, and no two levels are ever compared.
//
// Threading: one thread; it keeps its memory from column to column.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "daemon/ingest/cell.hpp"

namespace samovar::ingest {

class HexLevels {
 public:
  // Keys and missing ones are read and written for so many cells past the last.
  static constexpr std::size_t kSlack = 64;

  // Whether this CPU has the vectors for it (AVX-512), and no such level stands for a missing value.
  // Elsewhere it would gain nothing.
  static bool suits(const std::vector<std::string>& missing) noexcept;

  // The keys of cells, and for those that are missing not 0 in `gone`. False when a cell is neither missing
  // nor eight digits 0-9, a-f.
  static bool read(const Cell* cells, std::size_t count, bool empty_is_missing, std::uint32_t* keys,
                   std::uint8_t* gone) noexcept;

  // As BlockDictionary::encode. Keys of missing cells are changed.
  void encode(std::uint32_t* keys, const std::uint8_t* gone, std::size_t count, std::size_t levels_before,
              std::uint32_t* codes);
  // Of the last encode().
  std::size_t size() const noexcept { return size_; }
  const std::uint32_t* levels() const noexcept { return known_.data(); }

 private:
  void look(std::uint32_t* keys, const std::uint8_t* gone, std::size_t count, std::uint32_t* codes);
  void resize(unsigned bits);
  void put(std::uint32_t key, std::uint32_t code);

  // Lower bits of the number, whether the entry stands beside its own slot, code.
  std::vector<std::uint32_t> slots_;
  std::vector<std::uint32_t> known_;  // by code
  unsigned bits_ = 0;                 // of the slots' number
  std::uint32_t filler_ = 0;          // key of a cell that is there, for those that are not
  std::uint32_t size_ = 0;
};

}  // namespace samovar::ingest
