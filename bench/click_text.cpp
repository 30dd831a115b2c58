#include "bench/click_text.hpp"

#include <array>
#include <cmath>
#include <cstring>

#include "bench/samples.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace samovar::bench {
namespace {

constexpr std::size_t kCounts = 13;
constexpr std::size_t kCategories = 26;

struct Count {
  double missing;
  double log_mean;
  double log_sd;
};
constexpr std::array<Count, kCounts> kCount = {{{.45, .7, 1.1},
                                                {0, 1.6, 1.9},
                                                {.21, 1.9, 1.3},
                                                {.22, 1.8, .8},
                                                {.03, 8.3, 1.9},
                                                {.22, 3.6, 1.6},
                                                {.04, 1.8, 1.5},
                                                {0, 2.2, 1},
                                                {.04, 4.1, 1.4},
                                                {.45, .4, .5},
                                                {.04, .9, .9},
                                                {.76, .5, .8},
                                                {.22, 1.7, 1.1}}};

struct Category {
  double levels;
  double exponent;  // of Zipf's law
  double missing;
};
constexpr std::array<Category, kCategories> kCategory = {
    {{1461, 1.25, 0},       {584, 1.05, 0},    {10131227, 1.12, .034}, {2202608, 1.1, .034},
     {306, 1.45, 0},        {24, 1.2, .12},    {12518, 1.05, 0},       {634, 1.55, 0},
     {4, 1.6, 0},           {93146, 1.05, 0},  {5684, 1.05, 0},        {8351593, 1.12, .034},
     {3195, 1.05, 0},       {28, 1.3, 0},      {14993, 1.05, 0},       {5461306, 1.1, .034},
     {11, 1.01, 0},         {5653, 1.05, 0},   {2173, 1.6, .44},       {4, 1.1, .44},
     {7046547, 1.12, .034}, {18, 1.3, .763},   {16, 1.2, 0},           {286181, 1.1, .034},
     {105, 1.3, .44},       {142572, 1.1, .44}}};

std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51'afd7'ed55'8ccd;
  x ^= x >> 33;
  x *= 0xc4ce'b9fe'1a85'ec53;
  return x ^ x >> 33;
}

double gauss(Luck& luck) {
  return std::sqrt(-2 * std::log(1 - luck.unit())) * std::cos(6.283185307179586 * luck.unit());
}

void append_count(std::string& out, const Count& count, Luck& luck, double common, bool signed_one) {
  if (luck.chance(count.missing)) return;
  if (signed_one && luck.chance(.12)) {
    out += "-1";
    return;
  }
  const double log = count.log_mean + count.log_sd * (.5 * common + .866 * gauss(luck));
  out += std::to_string(static_cast<std::uint64_t>(std::min(std::expm1(std::max(log, 0.)), 9999999.)));
}

void append_category(std::string& out, std::size_t column, Luck& luck) {
  const Category& category = kCategory[column];
  if (luck.chance(category.missing)) return;
  const double power = 1 - category.exponent;
  const double rank = std::pow(luck.unit() * (std::pow(category.levels + 1, power) - 1) + 1, 1 / power);
  const std::uint64_t hash = mix(static_cast<std::uint64_t>(rank) * 64 + column) >> 32;
  for (int shift = 28; shift >= 0; shift -= 4) out += "0123456789abcdef"[hash >> shift & 15];
}

// What a bit of 64 bytes means: a tab or a line end.
using Masks = std::uint64_t (*)(const char*);
[[maybe_unused]] std::uint64_t masks_portable(const char* at) {
  std::uint64_t bits = 0;
  for (int i = 0; i < 64; ++i) bits |= std::uint64_t{at[i] == '\t' || at[i] == '\n'} << i;
  return bits;
}

template <class Find>
inline __attribute__((always_inline)) std::uint64_t scan_with(const char* text, std::size_t bytes,
                                                              Find find) {
  std::uint64_t sum = 0;
  std::size_t begin = 0;
  std::size_t column = 0;
  for (std::size_t at = 0; at + 64 <= bytes; at += 64) {
    for (std::uint64_t bits = find(text + at); bits != 0; bits &= bits - 1) {
      const std::size_t end = at + static_cast<std::size_t>(__builtin_ctzll(bits));
      if (column <= kCounts) {
        std::uint64_t value = 0;
        for (std::size_t i = begin; i < end; ++i)
          value = value * 10 + static_cast<std::uint64_t>(text[i] - '0');
        sum += value;
      } else {
        std::uint64_t word = 0;
        std::memcpy(&word, text + begin, 8);
        if (end - begin < 8) word &= (std::uint64_t{1} << 8 * (end - begin)) - 1;
        sum ^= (word ^ column * 0x9e37'79b9'7f4a'7c15) * 0xff51'afd7'ed55'8ccd >> 32;
      }
      column = text[end] == '\n' ? 0 : column + 1;
      begin = end + 1;
    }
  }
  return sum;
}

#if defined(__x86_64__)
__attribute__((target("avx512bw,bmi,bmi2"))) std::uint64_t scan_avx512(const char* text, std::size_t bytes) {
  const __m512i tab = _mm512_set1_epi8('\t');
  const __m512i line = _mm512_set1_epi8('\n');
  return scan_with(
      text, bytes, [&](const char* at) __attribute__((target("avx512bw,bmi,bmi2"))) {
        const __m512i v = _mm512_loadu_si512(at);
        return static_cast<std::uint64_t>(_mm512_cmpeq_epi8_mask(v, tab) | _mm512_cmpeq_epi8_mask(v, line));
      });
}
__attribute__((target("avx2,bmi,bmi2"))) std::uint64_t scan_avx2(const char* text, std::size_t bytes) {
  const __m256i tab = _mm256_set1_epi8('\t');
  const __m256i line = _mm256_set1_epi8('\n');
  return scan_with(
      text, bytes, [&](const char* at) __attribute__((target("avx2,bmi,bmi2"))) {
        std::uint64_t bits = 0;
        for (int i = 0; i < 2; ++i) {
          const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at) + i);
          const __m256i hit = _mm256_or_si256(_mm256_cmpeq_epi8(v, tab), _mm256_cmpeq_epi8(v, line));
          bits |= std::uint64_t{static_cast<std::uint32_t>(_mm256_movemask_epi8(hit))} << 32 * i;
        }
        return bits;
      });
}
#endif

}  // namespace

void append_click_text(std::string& out, std::uint64_t first, std::uint64_t rows, std::uint64_t seed) {
  for (std::uint64_t row = first; row < first + rows; ++row) {
    Luck luck(mix(seed * 0x9e37'79b9'7f4a'7c15 + row));
    out += luck.chance(.256) ? '1' : '0';
    const double common = gauss(luck);
    for (std::size_t i = 0; i < kCounts; ++i) {
      out += '\t';
      append_count(out, kCount[i], luck, common, i == 1);
    }
    for (std::size_t i = 0; i < kCategories; ++i) {
      out += '\t';
      append_category(out, i, luck);
    }
    out += '\n';
  }
}

trainer::Schema click_schema() {
  trainer::Schema schema;
  schema.columns.push_back({"label", trainer::ColumnType::boolean, false});
  for (std::size_t i = 1; i <= kCounts; ++i) {
    schema.columns.push_back({"I" + std::to_string(i), trainer::ColumnType::integer, false});
  }
  for (std::size_t i = 1; i <= kCategories; ++i) {
    schema.columns.push_back({"C" + std::to_string(i), trainer::ColumnType::category, false});
  }
  return schema;
}

ingest::ParseOptions click_options() {
  ingest::ParseOptions options;
  options.delimiter = '\t';
  options.header = false;
  return options;
}

std::uint64_t scan_click_text(const char* text, std::size_t bytes) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("bmi2")) return scan_avx512(text, bytes);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) return scan_avx2(text, bytes);
#endif
  return scan_with(text, bytes, masks_portable);
}

}  // namespace samovar::bench
