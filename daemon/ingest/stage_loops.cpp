#include "daemon/ingest/stage_loops.hpp"

#include <cstring>
#include <limits>

#include "daemon/ingest/column_stage.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#define SAMOVAR_WIDE __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl")))
#endif

namespace samovar::ingest::stage_loops {

#if defined(__x86_64__)
namespace {

const bool kHasWide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");

SAMOVAR_WIDE std::uint32_t integers_wide(const char* text, const std::uint32_t* marks, std::size_t stride,
                                         std::uint32_t rows, std::int64_t* out, std::uint32_t* odd,
                                         std::uint32_t& odds) noexcept {
  const __m512i bits = _mm512_set1_epi64(64);
  const __m512i zeros = _mm512_set1_epi8('0');
  const __m512i none = _mm512_set1_epi64(std::numeric_limits<long long>::min());
  const std::uint32_t whole = rows / 8 * 8;
  for (std::uint32_t row = 0; row < whole; row += 8) {
    // Loads one by one, which are quicker than gathers here.
    alignas(64) std::uint64_t words[8];
    alignas(64) std::uint64_t sizes[8];
#pragma GCC unroll 8
    for (std::size_t lane = 0; lane < 8; ++lane, marks += stride) {
      words[lane] = load_word(text + marks[1] - 8);  // it ends with the last digit
      sizes[lane] = marks[1] - marks[0] - 1;         // of 32 bits: before the first cell stands mark -1
    }
    const __m512i word = _mm512_load_si512(words);
    const __m512i size = _mm512_load_si512(sizes);
    const __m512i first = _mm512_srlv_epi64(word, _mm512_sub_epi64(bits, _mm512_slli_epi64(size, 3)));
    const __mmask8 negative =
        _mm512_cmpeq_epi64_mask(_mm512_and_si512(first, _mm512_set1_epi64(0xff)), _mm512_set1_epi64('-'));
    const __m512i digits = _mm512_mask_sub_epi64(size, negative, size, _mm512_set1_epi64(1));
    const __m512i shift = _mm512_sub_epi64(bits, _mm512_slli_epi64(digits, 3));
    // What stands before the first digit becomes 0.
    const __m512i kept = _mm512_sllv_epi64(_mm512_srlv_epi64(word, shift), shift);
    const __m512i values = _mm512_sub_epi8(kept, _mm512_sllv_epi64(zeros, shift));
    const __mmask64 no_digit = _mm512_cmpgt_epu8_mask(values, _mm512_set1_epi8(9));
    // Digits to pairs, to fours, to eights.
    const __m512i pairs = _mm512_maddubs_epi16(values, _mm512_set1_epi16(0x010a));
    const __m512i fours = _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x0001'0064));
    const __m512i eights =
        _mm512_add_epi64(_mm512_mul_epu32(fours, _mm512_set1_epi64(10'000)), _mm512_srli_epi64(fours, 32));
    const __mmask8 empty = _mm512_cmpeq_epi64_mask(size, _mm512_setzero_si512());
    __m512i result = _mm512_mask_sub_epi64(eights, negative, _mm512_setzero_si512(), eights);
    result = _mm512_mask_mov_epi64(result, empty, none);
    _mm512_storeu_si512(out + row, result);
    const __mmask8 too_long = _mm512_cmpgt_epi64_mask(digits, _mm512_set1_epi64(8));
    const __mmask8 only_sign = negative & _mm512_cmpeq_epi64_mask(digits, _mm512_setzero_si512());
    if ((no_digit | too_long | only_sign) == 0) [[likely]]
      continue;
    for (std::uint32_t lane = 0; lane < 8; ++lane) {
      if (((no_digit >> (8 * lane) & 0xff) | (too_long >> lane & 1) | (only_sign >> lane & 1)) == 0) continue;
      odd[odds++] = row + lane;
    }
  }
  return whole;
}

// Eight of them; `missing` collects the places of those that are not there.
SAMOVAR_WIDE inline __mmask8 gone(const __m512i& values, std::int64_t) noexcept {
  return _mm512_cmpeq_epi64_mask(values, _mm512_set1_epi64(kNoInteger));
}
SAMOVAR_WIDE inline __mmask8 gone(const __m512i& values, double) noexcept {
  const __m512d reals = _mm512_castsi512_pd(values);
  return _mm512_cmp_pd_mask(reals, reals, _CMP_UNORD_Q);
}

// Always a whole number of steps: rows differ by some bytes, and a loop as long as the row would be
// mispredicted at the end of most of them.
template <std::size_t kSteps>
SAMOVAR_WIDE inline void copy_steps(const char* row, char* out) noexcept {
  __m512i steps[kSteps];
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kSteps; ++i) steps[i] = _mm512_loadu_si512(row + 64 * i);
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kSteps; ++i) _mm512_storeu_si512(out + 64 * i, steps[i]);
}
SAMOVAR_WIDE void copy_row_wide(const char* row, std::size_t bytes, char* out) noexcept {
  if (bytes <= 64) return copy_steps<1>(row, out);
  if (bytes <= 128) return copy_steps<2>(row, out);
  if (bytes <= 256) return copy_steps<4>(row, out);
  copy_steps<8>(row, out);
}

template <class T>
SAMOVAR_WIDE std::size_t pick_wide(const T* in, const std::uint32_t* order, std::size_t count, T* out,
                                   std::uint8_t* valid, bool& missing) noexcept {
  const std::size_t whole = count / 8 * 8;
  unsigned any = 0;
  for (std::size_t i = 0; i < whole; i += 8) {
    // Loads one by one, as above.
    alignas(64) T eight[8];
#pragma GCC unroll 8
    for (std::size_t lane = 0; lane < 8; ++lane) eight[lane] = in[order[i + lane]];
    const __m512i values = _mm512_load_si512(eight);
    const __mmask8 absent = gone(values, T{});
    any |= absent;
    _mm512_storeu_si512(out + i, values);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(valid + i),
                     _mm_maskz_set1_epi8(static_cast<__mmask16>(~absent & 0xff), 1));
  }
  missing = any != 0;
  return whole;
}
template <>
SAMOVAR_WIDE std::size_t pick_wide(const std::uint32_t* in, const std::uint32_t* order, std::size_t count,
                                   std::uint32_t* out, std::uint8_t* valid, bool& missing) noexcept {
  const std::size_t whole = count / 16 * 16;
  const __m512i none = _mm512_set1_epi32(-1);
  unsigned any = 0;
  for (std::size_t i = 0; i < whole; i += 16) {
    alignas(64) std::uint32_t sixteen[16];
#pragma GCC unroll 16
    for (std::size_t lane = 0; lane < 16; ++lane) sixteen[lane] = in[order[i + lane]];
    const __m512i values = _mm512_load_si512(sixteen);
    const __mmask16 present = _mm512_cmpneq_epi32_mask(values, none);
    any |= static_cast<unsigned>(present) ^ 0xffff;
    _mm512_storeu_si512(out + i, values);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(valid + i), _mm_maskz_set1_epi8(present, 1));
  }
  missing = any != 0;
  return whole;
}

}  // namespace
#endif

namespace {

inline bool here(std::int64_t value) noexcept { return value != kNoInteger; }
inline bool here(double value) noexcept { return value == value; }
inline bool here(std::uint32_t value) noexcept { return value != 0xffff'ffff; }

// Columns lie in an outer cache by now: in order they come much faster than one by one.
void touch(const void* at, std::size_t bytes) noexcept {
  const char* const first = static_cast<const char*>(at);
  unsigned sum = 0;
  for (std::size_t i = 0; i < bytes; i += 64) sum += static_cast<unsigned char>(first[i]);
  asm volatile("" : : "r"(sum));
}

template <class T>
bool pick_any(const T* in, const std::uint32_t* order, std::size_t count, T* out,
              std::uint8_t* valid) noexcept {
  std::size_t done = 0;
  bool missing = false;
  touch(in, count * sizeof(T));
#if defined(__x86_64__)
  if (kHasWide) done = pick_wide(in, order, count, out, valid, missing);
#endif
  unsigned every = 1;
  for (std::size_t i = done; i < count; ++i) {
    out[i] = in[order[i]];
    const unsigned present = here(out[i]) ? 1 : 0;
    valid[i] = static_cast<std::uint8_t>(present);
    every &= present;
  }
  return missing || every == 0;
}

}  // namespace

bool pick(const std::int64_t* in, const std::uint32_t* order, std::size_t count, std::int64_t* out,
          std::uint8_t* valid) noexcept {
  return pick_any(in, order, count, out, valid);
}
bool pick(const double* in, const std::uint32_t* order, std::size_t count, double* out,
          std::uint8_t* valid) noexcept {
  return pick_any(in, order, count, out, valid);
}
bool pick(const std::uint32_t* in, const std::uint32_t* order, std::size_t count, std::uint32_t* out,
          std::uint8_t* valid) noexcept {
  return pick_any(in, order, count, out, valid);
}

#if defined(__x86_64__)
// One after the other: two gathers take longer than the eight loads each that they stand for.
__attribute__((target("bmi2"))) void cells_bmi2(const char* text, const std::uint32_t* marks,
                                                std::size_t stride, std::uint32_t rows, Cell* out) noexcept {
  // In most columns all are short, or nearly all groups of them are.
  std::uint32_t room = 0;  // its topmost bit: one was longer
  const std::uint32_t* mark = marks;
  for (std::uint32_t row = 0; row < rows; ++row, mark += stride) {
    const std::uint32_t begin = mark[0] + 1;
    const std::uint32_t size = mark[1] - begin;
    out[row] = _bzhi_u64(load_word(text + begin), 8 * size);
    room |= 8 - size;
  }
  if (room >> 31 == 0) return;
  for (std::uint32_t row = 0; row < rows; ++row, marks += stride) {
    const std::uint32_t begin = marks[0] + 1;
    const std::uint32_t size = marks[1] - begin;
    const std::uint64_t itself = _bzhi_u64(load_word(text + begin), 8 * size);
    const std::uint64_t place = std::uint64_t{0xff} << 56 | std::uint64_t{size} << 32 | begin;
    out[row] = size <= 8 ? itself : place;
  }
}
#endif

void copy_row(const char* row, std::size_t bytes, char* out) noexcept {
  if (bytes > 512) {
    std::memcpy(out, row, bytes);
    return;
  }
#if defined(__x86_64__)
  if (kHasWide) return copy_row_wide(row, bytes, out);
#endif
  for (std::size_t i = 0; i < bytes; i += 32) std::memcpy(out + i, row + i, 32);
}

void cells(const char* text, const std::uint32_t* marks, std::size_t stride, std::uint32_t rows,
           Cell* out) noexcept {
#if defined(__x86_64__)
  static const bool quick = __builtin_cpu_supports("bmi2");
  if (quick) return cells_bmi2(text, marks, stride, rows, out);
#endif
  for (std::uint32_t row = 0; row < rows; ++row, marks += stride)
    out[row] = make_cell(text, marks[0] + 1, marks[1]);
}

std::uint32_t integers([[maybe_unused]] const char* text, [[maybe_unused]] const std::uint32_t* marks,
                       [[maybe_unused]] std::size_t stride, [[maybe_unused]] std::uint32_t rows,
                       [[maybe_unused]] std::int64_t* out, [[maybe_unused]] std::uint32_t* odd,
                       std::uint32_t& odds) noexcept {
  odds = 0;
#if defined(__x86_64__)
  if (kHasWide) return integers_wide(text, marks, stride, rows, out, odd, odds);
#endif
  return 0;
}

}  // namespace samovar::ingest::stage_loops
