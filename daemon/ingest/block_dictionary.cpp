#include "daemon/ingest/block_dictionary.hpp"

#include <algorithm>
#include <string>

namespace samovar::ingest {
namespace {
constexpr unsigned kBitsFirst = 9;
}

void BlockDictionary::begin(const char* text, const std::vector<std::string>& missing) {
  text_ = text;
  missing_ = &missing;
  levels_.clear();
  next(stamp_, slots_);
  next(long_stamp_, long_slots_);
  used_ = long_used_ = 0;
  long_mask_ = (std::size_t{1} << kBitsFirst) - 1;
  if (long_slots_.size() <= long_mask_) long_slots_.resize(long_mask_ + 1);
  resize(kBitsFirst);
}

void BlockDictionary::next(std::uint32_t& stamp, std::vector<Slot>& slots) {
  if (++stamp != 0) return;
  // After 2^32 tables: old stamps would look new.
  std::fill(slots.begin(), slots.end(), Slot{});
  stamp = 1;
}

void BlockDictionary::resize(unsigned bits) {
  mask_ = (std::size_t{1} << bits) - 1;
  shift_ = 64 - bits;
  if (slots_.size() <= mask_) slots_.resize(mask_ + 1);
  used_ = 0;
  put(kNoCell, kMissing);
  for (const std::string& token : *missing_) {
    if (token.size() <= 8) {
      char padded[8] = {};
      std::copy(token.begin(), token.end(), padded);
      put(load_word(padded), kMissing);
    }
  }
  for (std::size_t code = 0; code < levels_.size(); ++code) {
    if (!cell_is_long(levels_[code])) put(levels_[code], static_cast<std::uint32_t>(code));
  }
}

void BlockDictionary::put(Cell cell, std::uint32_t code) {
  std::size_t at = slot_of(cell);
  while (slots_[at].stamp == stamp_) {
    if (slots_[at].cell == cell) return;
    at = (at + 1) & mask_;
  }
  slots_[at] = {cell, code, stamp_};
  ++used_;
}

std::uint32_t BlockDictionary::add(Cell cell) {
  const auto code = static_cast<std::uint32_t>(levels_.size());
  levels_.push_back(cell);
  put(cell, code);
  if (2 * used_ > mask_) {
    next(stamp_, slots_);  // empties the table
    resize(64 - shift_ + 2);
  }
  return code;
}

std::uint32_t BlockDictionary::long_code(Cell cell) {
  const std::string_view text = text_of(cell);
  const std::uint64_t hash = hash_text(text);
  for (std::size_t at = hash & long_mask_;; at = (at + 1) & long_mask_) {
    const Slot& slot = long_slots_[at];
    if (slot.stamp != long_stamp_) break;
    if (slot.cell == hash && text_of(levels_[slot.code]) == text) return slot.code;
  }
  for (const std::string& token : *missing_) {
    if (token == text) return kMissing;
  }
  const auto code = static_cast<std::uint32_t>(levels_.size());
  levels_.push_back(cell);
  put_long(hash, code);
  ++long_used_;
  if (2 * long_used_ > long_mask_) {
    next(long_stamp_, long_slots_);
    long_mask_ = 4 * long_mask_ + 3;
    if (long_slots_.size() <= long_mask_) long_slots_.resize(long_mask_ + 1);
    for (std::size_t i = 0; i < levels_.size(); ++i) {
      if (cell_is_long(levels_[i])) put_long(hash_text(text_of(levels_[i])), static_cast<std::uint32_t>(i));
    }
  }
  return code;
}

void BlockDictionary::put_long(std::uint64_t hash, std::uint32_t code) {
  std::size_t at = hash & long_mask_;
  while (long_slots_[at].stamp == long_stamp_) at = (at + 1) & long_mask_;
  long_slots_[at] = {hash, code, long_stamp_};
}

}  // namespace samovar::ingest
