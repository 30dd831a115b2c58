#include "daemon/ingest/block_dictionary.hpp"

#include <algorithm>
#include <string>

#include "base/assert.hpp"
#include "daemon/ingest/stats_loops.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace samovar::ingest {
namespace {

constexpr unsigned kBitsFirst = 9;
// Cells between two looks at how full the table is.
constexpr std::size_t kBatch = 64;
// Few levels share a slot, and those that do cost a second look each time.
constexpr std::size_t kSlotsPerLevel = 4;

}  // namespace

void BlockDictionary::begin(std::size_t cells, std::size_t levels_before) {
  SAMOVAR_ASSERT(cells + missing_->size() + 1 <= kEntriesMax);
  size_ = 0;
  first_ = 0;
  add_missing(kNoCell);
  for (const std::string& token : *missing_) {
    if (token.size() > 8) continue;
    char padded[8] = {};
    std::copy(token.begin(), token.end(), padded);
    add_missing(load_word(padded));
  }
  empty_long();
  long_used_ = 0;
  long_mask_ = (std::size_t{1} << kBitsFirst) - 1;
  if (long_slots_.size() <= long_mask_) long_slots_.resize(long_mask_ + 1);
  unsigned bits = kBitsFirst;
  while (kSlotsPerLevel * (std::min(levels_before, cells) + 2 * kBatch) > std::size_t{1} << bits) ++bits;
  resize(bits);
}

void BlockDictionary::add_missing(Cell cell) {
  Cell* const end = entries_.data() + first_;
  if (std::find(entries_.data(), end, cell) == end) entries_[first_++] = cell;
}

void BlockDictionary::resize(unsigned bits) {
  mask_ = (std::size_t{1} << bits) - 1;
  shift_ = 64 - bits;
  if (slots_.size() <= mask_) slots_.resize(mask_ + 1);
  if (++stamp_ > kStampMax) {
    std::fill(slots_.begin(), slots_.end(), Slot{0});  // old stamps would look new
    stamp_ = 1;
  }
  for (std::size_t entry = 0; entry < first_ + size_; ++entry) {
    if (!cell_is_long(entries_[entry])) put(entry);
  }
}

// No entry has the same cell.
void BlockDictionary::put(std::size_t entry) {
  Slot* const slots = slots_.data();
  std::size_t at = slot_of(entries_[entry]);
  while (slots[at] >> kEntryBits == stamp_) at = (at + 1) & mask_;
  slots[at] = stamp_ << kEntryBits | static_cast<Slot>(entry);
}

void BlockDictionary::encode(std::vector<std::uint32_t>& keys, const std::vector<std::uint8_t>& gone,
                             std::size_t rows, std::size_t levels_before, std::vector<std::uint32_t>& codes) {
  SAMOVAR_ASSERT(keys.size() >= rows + HexLevels::kSlack && gone.size() >= rows + HexLevels::kSlack);
  codes.resize(rows);
  hex_.encode(keys.data(), gone.data(), rows, levels_before, codes.data());
  first_ = 0;
  size_ = hex_.size();
  if (entries_.size() < size_) entries_.resize(size_);
  stats_loops::hex_cells(hex_.levels(), size_, entries_.data());
}

void BlockDictionary::encode(const char* text, const std::vector<std::string>& missing,
                             const std::vector<Cell>& cells, std::size_t levels_before,
                             std::vector<std::uint32_t>& codes) {
  text_ = text;
  missing_ = &missing;
  codes.resize(cells.size());
  if (entries_.size() < cells.size() + missing_->size() + 1)
    entries_.resize(cells.size() + missing_->size() + 1);
  begin(cells.size(), levels_before);
  const Cell* const in = cells.data();
  std::uint32_t* const out = codes.data();
  for (std::size_t first = 0; first < cells.size(); first += kBatch) {
    const std::size_t count = std::min(kBatch, cells.size() - first);
    if (kSlotsPerLevel * (first_ + size_ + kBatch) > mask_) resize(64 - shift_ + 2);
    encode_batch(in + first, count, out + first);
  }
}

// First a look at each cell's own slot, writing nothing, so that the looks do not wait for one another;
// whether a cell is known is as good as random in a column of many levels, so nothing branches on it either.
// Those that were not found are then added one by one.
void BlockDictionary::encode_batch(const Cell* cells, std::size_t count, std::uint32_t* codes) {
  static const Look look = best_look();
  std::uint8_t open[kBatch + 8];
  const Table table{slots_.data(), entries_.data(), stamp_, shift_, static_cast<std::uint32_t>(first_)};
  const std::size_t opens = look(table, cells, count, codes, open);
  // Copies: what is stored below could otherwise change the members.
  Slot* const slots = slots_.data();
  Cell* const entries = entries_.data();
  const std::size_t mask = mask_;
  const std::uint32_t first = table.first;
  const Slot stamp = stamp_ << kEntryBits;
  auto next = static_cast<std::uint32_t>(first_ + size_);  // entry of the next level
  for (std::size_t i = 0; i < opens; ++i) {
    const Cell cell = cells[open[i]];
    if (cell_is_long(cell)) [[unlikely]] {
      size_ = next - first;
      codes[open[i]] = long_code(cell);
      next = static_cast<std::uint32_t>(first_ + size_);
      continue;
    }
    std::size_t at = cell * kMultiplier >> table.shift;
    std::uint32_t entry = next;
    while (slots[at] >= stamp && entries[slots[at] - stamp] != cell) at = (at + 1) & mask;
    if (slots[at] >= stamp) {
      entry = slots[at] - stamp;  // since the look
    } else {
      entries[next] = cell;
      slots[at] = stamp | next++;
    }
    codes[open[i]] = entry < first ? kMissing : entry - first;
  }
  size_ = next - first;
}

std::size_t BlockDictionary::look_plainly(const Table& table, const Cell* cells, std::size_t count,
                                          std::uint32_t* codes, std::uint8_t* open) noexcept {
  const Table t = table;  // a copy: stores through `codes` cannot change it
  std::size_t opens = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Slot slot = t.slots[cells[i] * kMultiplier >> t.shift];
    const std::uint32_t entry = slot & kEntryMask;
    const std::uint64_t differs = (slot >> kEntryBits ^ t.stamp) | (t.entries[entry] ^ cells[i]);
    codes[i] = entry < t.first ? kMissing : entry - t.first;
    open[opens] = static_cast<std::uint8_t>(i);
    opens += differs != 0 ? 1 : 0;
  }
  return opens;
}

#if defined(__x86_64__)
__attribute__((target("avx512f,avx512dq,avx512vl,bmi2"))) std::size_t BlockDictionary::look_wide(
    const Table& table, const Cell* cells, std::size_t count, std::uint32_t* codes,
    std::uint8_t* open) noexcept {
  if (count < kBatch) return look_plainly(table, cells, count, codes, open);
  // Loads one by one, which are quicker than gathers here; what is compared, side by side.
  const Table t = table;
  Slot slots[kBatch];
  Cell found[kBatch];
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kBatch; ++i) slots[i] = t.slots[cells[i] * kMultiplier >> t.shift];
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kBatch; ++i) found[i] = t.entries[slots[i] & kEntryMask];
  const __m256i stamps = _mm256_set1_epi32(static_cast<int>(t.stamp));
  const __m256i firsts = _mm256_set1_epi32(static_cast<int>(t.first));
  const __m256i entry_mask = _mm256_set1_epi32(kEntryMask);
  const __m256i missing = _mm256_set1_epi32(-1);
  std::uint64_t unknown = 0;
  for (std::size_t i = 0; i < kBatch; i += 8) {
    const __m256i slot = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(slots + i));
    const __m256i entry = _mm256_and_si256(slot, entry_mask);
    const __mmask8 other =
        _mm512_cmpneq_epi64_mask(_mm512_loadu_si512(found + i), _mm512_loadu_si512(cells + i)) |
        _mm256_cmpneq_epi32_mask(_mm256_srli_epi32(slot, kEntryBits), stamps);
    const __mmask8 none = _mm256_cmplt_epu32_mask(entry, firsts);
    const __m256i code = _mm256_mask_mov_epi32(_mm256_sub_epi32(entry, firsts), none, missing);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(codes + i), code);
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
  if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("bmi2"))
    return look_wide;
#endif
  return look_plainly;
}

void BlockDictionary::empty_long() {
  if (++long_stamp_ != 0) return;
  std::fill(long_slots_.begin(), long_slots_.end(), LongSlot{});  // old stamps would look new
  long_stamp_ = 1;
}

std::uint32_t BlockDictionary::long_code(Cell cell) {
  const std::string_view text = text_of(cell);
  const std::uint64_t hash = hash_text(text);
  const Cell* const known = levels();
  for (std::size_t at = hash & long_mask_;; at = (at + 1) & long_mask_) {
    const LongSlot& slot = long_slots_[at];
    if (slot.stamp != long_stamp_) break;
    if (slot.hash == hash && text_of(known[slot.code]) == text) return slot.code;
  }
  for (const std::string& token : *missing_) {
    if (token == text) return kMissing;
  }
  const auto code = static_cast<std::uint32_t>(size_++);
  entries_[first_ + code] = cell;
  put_long(hash, code);
  ++long_used_;
  if (2 * long_used_ > long_mask_) {
    empty_long();
    long_mask_ = 4 * long_mask_ + 3;
    if (long_slots_.size() <= long_mask_) long_slots_.resize(long_mask_ + 1);
    for (std::size_t i = 0; i < size_; ++i) {
      if (cell_is_long(known[i])) put_long(hash_text(text_of(known[i])), static_cast<std::uint32_t>(i));
    }
  }
  return code;
}

void BlockDictionary::put_long(std::uint64_t hash, std::uint32_t code) {
  std::size_t at = hash & long_mask_;
  while (long_slots_[at].stamp == long_stamp_) at = (at + 1) & long_mask_;
  long_slots_[at] = {hash, long_stamp_, code};
}

void BlockDictionary::write_levels(std::vector<char>& chars, std::vector<std::uint32_t>& ends) const {
  const Cell* const known = levels();
  // Codes of one length are common, and eight bytes the most common of all.
  bool all_eight = true;
  for (std::size_t i = 0; i < size_; ++i) {
    const std::uint64_t top = known[i] >> 56;
    all_eight &= top != 0 && top != 0xff;
  }
  ends.resize(size_);
  std::uint32_t* const end = ends.data();
  if (all_eight) {
    chars.resize(size_ * sizeof(Cell));
    if (size_ > 0) std::memcpy(chars.data(), known, size_ * sizeof(Cell));
    for (std::size_t i = 0; i < size_; ++i) end[i] = static_cast<std::uint32_t>((i + 1) * sizeof(Cell));
    return;
  }
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < size_; ++i) bytes += cell_size(known[i]);
  chars.resize(bytes + sizeof(Cell));  // short ones are written as whole words
  char* out = chars.data();
  const char* const first = out;
  for (std::size_t i = 0; i < size_; ++i) {
    const Cell& level = known[i];
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
