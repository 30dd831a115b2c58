#include "daemon/ingest/block_dictionary.hpp"

#include <algorithm>
#include <string>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace samovar::ingest {
namespace {

constexpr unsigned kBitsFirst = 9;
// Cells between two looks at how full the table is.
constexpr std::size_t kBatch = 64;

}  // namespace

void BlockDictionary::next(std::uint32_t& stamp, std::vector<Slot>& slots) {
  if (++stamp != 0) return;
  // After 2^32 tables: old stamps would look new.
  std::fill(slots.begin(), slots.end(), Slot{});
  stamp = 1;
}

void BlockDictionary::begin(std::size_t cells, std::size_t levels_before) {
  size_ = 0;
  if (levels_.size() < cells + 1) levels_.resize(cells + 1);
  next(long_stamp_, long_slots_);
  long_used_ = 0;
  long_mask_ = (std::size_t{1} << kBitsFirst) - 1;
  if (long_slots_.size() <= long_mask_) long_slots_.resize(long_mask_ + 1);
  unsigned bits = kBitsFirst;
  while (3 * (std::min(levels_before, cells) + 2 * kBatch) > std::size_t{1} << bits) ++bits;
  resize(bits);
}

void BlockDictionary::resize(unsigned bits) {
  mask_ = (std::size_t{1} << bits) - 1;
  shift_ = 64 - bits;
  if (slots_.size() <= mask_) slots_.resize(mask_ + 1);
  next(stamp_, slots_);  // empties it
  put(kNoCell, kMissing);
  for (const std::string& token : *missing_) {
    if (token.size() > 8) continue;
    char padded[8] = {};
    std::copy(token.begin(), token.end(), padded);
    put(load_word(padded), kMissing);
  }
  for (std::size_t code = 0; code < size_; ++code) {
    if (!cell_is_long(levels_[code])) put(levels_[code], static_cast<std::uint32_t>(code));
  }
}

void BlockDictionary::put(Cell cell, std::uint32_t code) {
  Slot* const slots = slots_.data();
  std::size_t at = slot_of(cell);
  while (slots[at].stamp() == stamp_) {
    if (slots[at].cell == cell) return;
    at = (at + 1) & mask_;
  }
  slots[at] = {cell, tag(stamp_, code)};
}

void BlockDictionary::encode(const char* text, const std::vector<std::string>& missing,
                             const std::vector<Cell>& cells, std::size_t levels_before,
                             std::vector<std::uint32_t>& codes) {
  text_ = text;
  missing_ = &missing;
  begin(cells.size(), levels_before);
  codes.resize(cells.size());
  const Cell* const in = cells.data();
  std::uint32_t* const out = codes.data();
  for (std::size_t first = 0; first < cells.size(); first += kBatch) {
    const std::size_t count = std::min(kBatch, cells.size() - first);
    if (3 * (size_ + kBatch + missing.size() + 1) > mask_) resize(64 - shift_ + 2);
    encode_batch(in + first, count, out + first);
  }
}

inline std::uint32_t BlockDictionary::code_of(Cell cell) {
  if (cell_is_long(cell)) [[unlikely]]
    return long_code(cell);
  Slot* const slots = slots_.data();
  std::size_t at = slot_of(cell);
  while (slots[at].stamp() == stamp_) {
    if (slots[at].cell == cell) return slots[at].code();
    at = (at + 1) & mask_;
  }
  const auto code = static_cast<std::uint32_t>(size_);
  levels_.data()[size_++] = cell;
  slots[at] = {cell, tag(stamp_, code)};
  return code;
}

// First a look at each cell's own slot, writing nothing, so that the looks do not wait for one another;
// whether a cell is known is as good as random in a column of many levels, so nothing branches on it either.
// Those that were not found are then added one by one.
void BlockDictionary::encode_batch(const Cell* cells, std::size_t count, std::uint32_t* codes) {
  static const Look look = best_look();
  std::uint8_t open[kBatch + 8];
  const std::size_t opens = look(slots_.data(), stamp_, shift_, cells, count, codes, open);
  for (std::size_t i = 0; i < opens; ++i) codes[open[i]] = code_of(cells[open[i]]);
}

std::size_t BlockDictionary::look_plainly(const Slot* slots, std::uint32_t stamp, unsigned shift,
                                          const Cell* cells, std::size_t count, std::uint32_t* codes,
                                          std::uint8_t* open) noexcept {
  std::size_t opens = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Slot& slot = slots[cells[i] * kMultiplier >> shift];
    const std::uint64_t tag = slot.tag;
    const std::uint64_t differs = (tag >> 32 ^ stamp) | (slot.cell ^ cells[i]);
    codes[i] = static_cast<std::uint32_t>(tag);
    open[opens] = static_cast<std::uint8_t>(i);
    opens += differs != 0 ? 1 : 0;
  }
  return opens;
}

#if defined(__x86_64__)
__attribute__((target("avx512f,avx512dq,avx512vl"))) std::size_t BlockDictionary::look_wide(
    const Slot* slots, std::uint32_t stamp, unsigned shift, const Cell* cells, std::size_t count,
    std::uint32_t* codes, std::uint8_t* open) noexcept {
  if (count < kBatch) return look_plainly(slots, stamp, shift, cells, count, codes, open);
  const __m512i multiplier = _mm512_set1_epi64(static_cast<long long>(kMultiplier));
  const __m512i stamps = _mm512_set1_epi64(stamp);
  const __m128i by = _mm_cvtsi32_si128(static_cast<int>(shift));
  std::uint64_t unknown = 0;
  for (std::size_t i = 0; i < kBatch; i += 8) {
    const __m512i cell = _mm512_loadu_si512(cells + i);
    const __m512i at = _mm512_slli_epi64(_mm512_srl_epi64(_mm512_mullo_epi64(cell, multiplier), by), 1);
    const __m512i found = _mm512_i64gather_epi64(at, &slots->cell, 8);
    const __m512i tag = _mm512_i64gather_epi64(at, &slots->tag, 8);
    const __mmask8 other =
        _mm512_cmpneq_epi64_mask(found, cell) | _mm512_cmpneq_epi64_mask(_mm512_srli_epi64(tag, 32), stamps);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(codes + i), _mm512_cvtepi64_epi32(tag));
    unknown |= std::uint64_t{other} << i;
  }
  std::size_t opens = 0;
  for (; unknown != 0; unknown &= unknown - 1)
    open[opens++] = static_cast<std::uint8_t>(__builtin_ctzll(unknown));
  return opens;
}
#endif

BlockDictionary::Look BlockDictionary::best_look() noexcept {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) return look_wide;
#endif
  return look_plainly;
}

std::uint32_t BlockDictionary::long_code(Cell cell) {
  const std::string_view text = text_of(cell);
  const std::uint64_t hash = hash_text(text);
  for (std::size_t at = hash & long_mask_;; at = (at + 1) & long_mask_) {
    const Slot& slot = long_slots_[at];
    if (slot.stamp() != long_stamp_) break;
    if (slot.cell == hash && text_of(levels_[slot.code()]) == text) return slot.code();
  }
  for (const std::string& token : *missing_) {
    if (token == text) return kMissing;
  }
  const auto code = static_cast<std::uint32_t>(size_);
  levels_[size_++] = cell;
  put_long(hash, code);
  ++long_used_;
  if (2 * long_used_ > long_mask_) {
    next(long_stamp_, long_slots_);
    long_mask_ = 4 * long_mask_ + 3;
    if (long_slots_.size() <= long_mask_) long_slots_.resize(long_mask_ + 1);
    for (std::size_t i = 0; i < size_; ++i) {
      if (cell_is_long(levels_[i])) put_long(hash_text(text_of(levels_[i])), static_cast<std::uint32_t>(i));
    }
  }
  return code;
}

void BlockDictionary::put_long(std::uint64_t hash, std::uint32_t code) {
  std::size_t at = hash & long_mask_;
  while (long_slots_[at].stamp() == long_stamp_) at = (at + 1) & long_mask_;
  long_slots_[at] = {hash, tag(long_stamp_, code)};
}

void BlockDictionary::write_levels(std::vector<char>& chars, std::vector<std::uint32_t>& ends) const {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < size_; ++i) bytes += cell_size(levels_.data()[i]);
  chars.resize(bytes + sizeof(Cell));  // short ones are written as whole words
  ends.resize(size_);
  char* out = chars.data();
  const char* const first = out;
  std::uint32_t* const end = ends.data();
  for (std::size_t i = 0; i < size_; ++i) {
    const Cell& level = levels_.data()[i];
    const std::size_t size = cell_size(level);
    if (cell_is_long(level))
      std::memcpy(out, text_of(level).data(), size);
    else
      std::memcpy(out, &level, sizeof level);
    out += size;
    end[i] = static_cast<std::uint32_t>(out - first);
  }
  chars.resize(bytes);
}

}  // namespace samovar::ingest
