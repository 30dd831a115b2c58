#include "daemon/ingest/hex_levels.hpp"

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>
#define SAMOVAR_WIDE __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,bmi,bmi2")))
#endif

namespace samovar::ingest {

#if defined(__x86_64__)

namespace {

constexpr unsigned kBitsFirst = 9;
constexpr std::size_t kLanes = 16;
constexpr std::size_t kBatch = HexLevels::kSlack;  // cells between two looks at how full the table is
constexpr std::size_t kSlotsPerLevel = 4;
constexpr std::uint32_t kOdd = 0x9e37'79b1;
constexpr std::uint16_t kAll = 0xffff;  // lanes; shifts without a mask make g++ 12 warn of its own header
constexpr std::uint32_t kEmpty = 0xffff'ffff;  // no entry: codes have a bit less than there are slots

bool is_hex(const std::string& text) noexcept {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// Eight cells to eight keys. The bits of those that are no numbers are set in `other`.
SAMOVAR_WIDE inline __m256i keys_of(__m512i cells, __mmask8& other) noexcept {
  const __m512i digit = _mm512_sub_epi8(cells, _mm512_set1_epi8('0'));
  const __m512i letter = _mm512_sub_epi8(cells, _mm512_set1_epi8('a'));
  const __mmask64 digits = _mm512_cmplt_epu8_mask(digit, _mm512_set1_epi8(10));
  const __mmask64 letters = _mm512_cmplt_epu8_mask(letter, _mm512_set1_epi8(6));
  const __m512i values = _mm512_mask_add_epi8(digit, letters, letter, _mm512_set1_epi8(10));
  other = _mm512_cmpneq_epi64_mask(_mm512_movm_epi8(digits | letters), _mm512_set1_epi64(-1));
  return _mm512_cvtepi16_epi8(_mm512_maddubs_epi16(values, _mm512_set1_epi16(0x1001)));
}

SAMOVAR_WIDE inline __mmask16 missing_of(const std::uint8_t* gone) noexcept {
  const __m128i sixteen = _mm_loadu_si128(reinterpret_cast<const __m128i*>(gone));
  return _mm_test_epi8_mask(sixteen, sixteen);
}

struct Seek {
  const std::uint32_t* slots;
  unsigned bits;
  std::uint32_t filler;
};

// The codes of kBatch cells by a look at each one's own slot; a bit for each that was not found there. In
// three steps over all of them: what one stores piece by piece the next loads whole, which has to wait
// otherwise.
SAMOVAR_WIDE __attribute__((noinline)) std::uint64_t look_wide(const Seek& seek, std::uint32_t* keys,
                                                               const std::uint8_t* gone,
                                                               std::uint32_t* codes) noexcept {
  alignas(64) std::uint32_t at[kBatch];
  alignas(64) std::uint32_t slots[kBatch];
  const __m512i odd = _mm512_set1_epi32(static_cast<int>(kOdd));
  const __m128i upper = _mm_cvtsi32_si128(static_cast<int>(32 - seek.bits));
  for (std::size_t i = 0; i < kBatch; i += kLanes) {
    const __mmask16 missing = missing_of(gone + i);
    const __m512i key =
        _mm512_mask_set1_epi32(_mm512_loadu_si512(keys + i), missing, static_cast<int>(seek.filler));
    _mm512_storeu_si512(keys + i, key);
    _mm512_store_si512(at + i, _mm512_maskz_srl_epi32(kAll, _mm512_mullo_epi32(key, odd), upper));
  }
  // Loads one by one, which are quicker than gathers here. The compiler must not see that the places lie side
  // by side: it would load them as vectors and take them apart again.
  const std::uint32_t* const from = seek.slots;
#pragma GCC unroll 16
  for (std::size_t i = 0; i < kBatch; ++i) {
    std::uint64_t place = at[i];
    asm("" : "+r"(place));
    slots[i] = from[place];
  }
  const __m128i lower = _mm_cvtsi32_si128(static_cast<int>(seek.bits));
  const __m128i code_bits = _mm_cvtsi32_si128(static_cast<int>(seek.bits - 1));
  const __m512i code_mask = _mm512_set1_epi32(static_cast<int>((1u << (seek.bits - 1)) - 1));
  std::uint64_t open = 0;
  for (std::size_t i = 0; i < kBatch; i += kLanes) {
    const __mmask16 missing = missing_of(gone + i);
    const __m512i slot = _mm512_load_si512(slots + i);
    const __m512i number = _mm512_mullo_epi32(_mm512_loadu_si512(keys + i), odd);
    const __m512i want = _mm512_maskz_srl_epi32(kAll, _mm512_maskz_sll_epi32(kAll, number, lower), code_bits);
    const __mmask16 differs = _mm512_cmpneq_epi32_mask(_mm512_maskz_srl_epi32(kAll, slot, code_bits), want);
    _mm512_storeu_si512(codes + i, _mm512_mask_set1_epi32(_mm512_and_si512(slot, code_mask), missing, -1));
    open |= std::uint64_t{differs} << i;
  }
  return open;
}

}  // namespace

bool HexLevels::suits(const std::vector<std::string>& missing) noexcept {
  static const bool runs = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  return runs && std::none_of(missing.begin(), missing.end(),
                              [](const std::string& token) { return token.size() == 8 && is_hex(token); });
}

SAMOVAR_WIDE bool HexLevels::read(const Cell* cells, std::size_t count, bool empty_is_missing,
                                  std::uint32_t* keys, std::uint8_t* gone) noexcept {
  const __m512i none = _mm512_set1_epi64(static_cast<long long>(kNoCell));
  const __mmask8 empties = empty_is_missing ? 0xff : 0;
  for (std::size_t i = 0; i < count; i += 8) {
    const __mmask8 inside = count - i >= 8 ? 0xff : static_cast<__mmask8>((1u << (count - i)) - 1);
    const __m512i eight = _mm512_maskz_loadu_epi64(inside, cells + i);
    __mmask8 other = 0;
    const __m256i read = keys_of(eight, other);
    const __mmask8 missing =
        _mm512_cmpeq_epi64_mask(eight, none) | (_mm512_testn_epi64_mask(eight, eight) & empties);
    if ((other & ~missing & inside) != 0) return false;
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(keys + i), read);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(gone + i), _mm_movm_epi8(missing));
  }
  return true;
}

void HexLevels::encode(std::uint32_t* keys, const std::uint8_t* gone, std::size_t count,
                       std::size_t levels_before, std::uint32_t* codes) {
  size_ = 0;
  std::size_t there = 0;
  while (there < count && gone[there] != 0) ++there;
  if (there == count) return std::fill(codes, codes + count, kEmpty);
  filler_ = keys[there];
  if (known_.size() < count + 1) known_.resize(count + 1);
  unsigned bits = kBitsFirst;
  while (kSlotsPerLevel * (std::min(levels_before, count) + 2 * kBatch) > std::size_t{1} << bits) ++bits;
  resize(bits);
  // The first, in its own slot: always found at once.
  known_[0] = filler_;
  put(filler_, 0);
  size_ = 1;
  for (std::size_t first = 0; first < count; first += kBatch) {
    if (kSlotsPerLevel * (size_ + kBatch) > std::size_t{1} << bits_) resize(bits_ + 2);
    look(keys + first, gone + first, std::min(kBatch, count - first), codes + first);
  }
}

void HexLevels::look(std::uint32_t* keys, const std::uint8_t* gone, std::size_t count, std::uint32_t* codes) {
  const Seek seek{slots_.data(), bits_, filler_};
  std::uint32_t some[kBatch];  // the last few: there may be no room for as many codes as are looked at
  std::uint32_t* const out = count == kBatch ? codes : some;
  std::uint64_t open = look_wide(seek, keys, gone, out);
  if (count < kBatch) open &= (std::uint64_t{1} << count) - 1;
  // Copies: what is stored below could otherwise change the members.
  std::uint32_t* const slots = slots_.data();
  std::uint32_t* const known = known_.data();
  const std::uint32_t mask = (1u << bits_) - 1;
  const std::uint32_t code_mask = mask >> 1;
  const unsigned bits = bits_;
  std::uint32_t size = size_;
  for (; open != 0; open &= open - 1) {
    const auto i = static_cast<std::size_t>(__builtin_ctzll(open));
    const std::uint32_t number = keys[i] * kOdd;
    const std::uint32_t own = number >> (32 - bits);
    std::uint32_t at = own;
    while (slots[at] != kEmpty && known[slots[at] & code_mask] != keys[i]) at = (at + 1) & mask;
    if (slots[at] != kEmpty) {
      out[i] = slots[at] & code_mask;  // since the look, or not in its own slot
      continue;
    }
    slots[at] = number << bits | (at != own ? code_mask + 1 : 0) | size;
    known[size] = keys[i];
    out[i] = size++;
  }
  size_ = size;
  if (out == some) std::copy(some, some + count, codes);
}

void HexLevels::resize(unsigned bits) {
  bits_ = bits;
  slots_.assign(std::size_t{1} << bits, kEmpty);
  for (std::uint32_t code = 0; code < size_; ++code) put(known_[code], code);
}

void HexLevels::put(std::uint32_t key, std::uint32_t code) {
  const std::uint32_t number = key * kOdd;
  const std::uint32_t mask = (1u << bits_) - 1;
  const std::uint32_t own = number >> (32 - bits_);
  std::uint32_t at = own;
  while (slots_[at] != kEmpty) at = (at + 1) & mask;
  slots_[at] = number << bits_ | (at != own ? mask / 2 + 1 : 0) | code;
}

#else

bool HexLevels::suits(const std::vector<std::string>&) noexcept { return false; }
bool HexLevels::read(const Cell*, std::size_t, bool, std::uint32_t*, std::uint8_t*) noexcept { return false; }
void HexLevels::encode(std::uint32_t*, const std::uint8_t*, std::size_t, std::size_t, std::uint32_t*) {}

#endif

}  // namespace samovar::ingest
