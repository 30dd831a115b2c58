#include "daemon/ingest/text_marks.hpp"

#include <initializer_list>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace samovar::ingest {
namespace {

using FindMarks = std::size_t (*)(const char*, std::size_t, std::size_t, const TextMarks&, std::uint32_t*,
                                  TextTraits&) noexcept;

// Of 64 bytes: one bit a byte.
struct Masks {
  std::uint64_t marks = 0;
  std::uint64_t quote = 0;
  std::uint64_t nul = 0;
  std::uint64_t high = 0;
  std::uint64_t blank = 0;
};

// The blank besides the space; in tables of tabs there is none.
inline char other_blank(const TextMarks& marks) noexcept { return marks.first == '\t' ? ' ' : '\t'; }

// Bits to positions. Eight are written at a time, also when there are fewer: a loop over single bits would be
// mispredicted at the end of nearly every word.
inline std::size_t write_positions(std::uint64_t bits, std::uint32_t base, std::uint32_t* out) noexcept {
  const auto count = static_cast<std::size_t>(__builtin_popcountll(bits));
  for (std::size_t done = 0; done < count; done += 8) {
    for (std::size_t i = 0; i < 8; ++i) {
      out[done + i] = base + static_cast<std::uint32_t>(bits == 0 ? 0 : __builtin_ctzll(bits));
      bits &= bits - 1;
    }
  }
  return count;
}

inline std::uint64_t below(std::size_t bytes) noexcept {
  return bytes >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bytes) - 1;
}

template <class Classify>
inline __attribute__((always_inline)) std::size_t find_with(const char* text, std::size_t begin,
                                                            std::size_t end, std::uint32_t* out,
                                                            TextTraits& traits, Classify classify) noexcept {
  std::uint32_t* const first = out;
  Masks seen;
  for (std::size_t at = begin; at < end; at += 64) {
    const Masks masks = classify(text + at);
    const std::uint64_t inside = below(end - at);
    seen.quote |= masks.quote & inside;
    seen.nul |= masks.nul & inside;
    seen.high |= masks.high & inside;
    seen.blank |= masks.blank & inside;
    out += write_positions(masks.marks & inside, static_cast<std::uint32_t>(at), out);
  }
  traits.quote |= seen.quote != 0;
  traits.nul |= seen.nul != 0;
  traits.high |= seen.high != 0;
  traits.blank |= seen.blank != 0;
  return static_cast<std::size_t>(out - first);
}

std::size_t find_portable(const char* text, std::size_t begin, std::size_t end, const TextMarks& marks,
                          std::uint32_t* out, TextTraits& traits) noexcept {
  std::uint32_t* const first = out;
  const char tab = other_blank(marks);
  for (std::size_t at = begin; at < end; ++at) {
    const char c = text[at];
    traits.quote |= c == marks.quote;
    traits.nul |= c == '\0';
    traits.high |= (static_cast<unsigned char>(c) & 0x80) != 0;
    traits.blank |= c == ' ' || c == tab;
    *out = static_cast<std::uint32_t>(at);
    out += c == marks.first || c == marks.second ? 1 : 0;
  }
  return static_cast<std::size_t>(out - first);
}

#if defined(__x86_64__)

std::size_t find_narrow(const char* text, std::size_t begin, std::size_t end, const TextMarks& marks,
                        std::uint32_t* out, TextTraits& traits) noexcept {
  const __m128i a = _mm_set1_epi8(marks.first);
  const __m128i b = _mm_set1_epi8(marks.second);
  const __m128i q = _mm_set1_epi8(marks.quote);
  const __m128i s = _mm_set1_epi8(' ');
  const __m128i t = _mm_set1_epi8(other_blank(marks));
  return find_with(text, begin, end, out, traits, [&](const char* at) {
    Masks masks;
    for (int i = 0; i < 4; ++i) {
      const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at) + i);
      const auto bits = [&](__m128i m) {
        return static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(m))) << (16 * i);
      };
      masks.marks |= bits(_mm_or_si128(_mm_cmpeq_epi8(v, a), _mm_cmpeq_epi8(v, b)));
      masks.quote |= bits(_mm_cmpeq_epi8(v, q));
      masks.nul |= bits(_mm_cmpeq_epi8(v, _mm_setzero_si128()));
      masks.high |= bits(v);
      masks.blank |= bits(_mm_or_si128(_mm_cmpeq_epi8(v, s), _mm_cmpeq_epi8(v, t)));
    }
    return masks;
  });
}

__attribute__((target("avx2,bmi,popcnt"))) std::size_t find_avx2(const char* text, std::size_t begin,
                                                                 std::size_t end, const TextMarks& marks,
                                                                 std::uint32_t* out,
                                                                 TextTraits& traits) noexcept {
  const __m256i a = _mm256_set1_epi8(marks.first);
  const __m256i b = _mm256_set1_epi8(marks.second);
  const __m256i q = _mm256_set1_epi8(marks.quote);
  const __m256i s = _mm256_set1_epi8(' ');
  const __m256i t = _mm256_set1_epi8(other_blank(marks));
  __m256i quotes = _mm256_setzero_si256();
  __m256i nuls = quotes;
  __m256i highs = quotes;
  __m256i blanks = quotes;
  std::uint32_t* const first = out;
  std::size_t at = begin;
  for (; at + 64 <= end; at += 64) {
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + at));
    const __m256i w = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + at + 32));
    const __m256i mv = _mm256_or_si256(_mm256_cmpeq_epi8(v, a), _mm256_cmpeq_epi8(v, b));
    const __m256i mw = _mm256_or_si256(_mm256_cmpeq_epi8(w, a), _mm256_cmpeq_epi8(w, b));
    quotes = _mm256_or_si256(quotes, _mm256_or_si256(_mm256_cmpeq_epi8(v, q), _mm256_cmpeq_epi8(w, q)));
    nuls = _mm256_or_si256(nuls, _mm256_or_si256(_mm256_cmpeq_epi8(v, _mm256_setzero_si256()),
                                                 _mm256_cmpeq_epi8(w, _mm256_setzero_si256())));
    highs = _mm256_or_si256(highs, _mm256_or_si256(v, w));
    const __m256i bv = _mm256_or_si256(_mm256_cmpeq_epi8(v, s), _mm256_cmpeq_epi8(v, t));
    const __m256i bw = _mm256_or_si256(_mm256_cmpeq_epi8(w, s), _mm256_cmpeq_epi8(w, t));
    blanks = _mm256_or_si256(blanks, _mm256_or_si256(bv, bw));
    const std::uint64_t low = static_cast<std::uint32_t>(_mm256_movemask_epi8(mv));
    const std::uint64_t high = static_cast<std::uint32_t>(_mm256_movemask_epi8(mw));
    out += write_positions(low | high << 32, static_cast<std::uint32_t>(at), out);
  }
  traits.quote |= _mm256_movemask_epi8(quotes) != 0;
  traits.nul |= _mm256_movemask_epi8(nuls) != 0;
  traits.high |= _mm256_movemask_epi8(highs) != 0;
  traits.blank |= _mm256_movemask_epi8(blanks) != 0;
  return static_cast<std::size_t>(out - first) + find_portable(text, at, end, marks, out, traits);
}

__attribute__((target("avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi,popcnt"))) std::size_t find_avx512(
    const char* text, std::size_t begin, std::size_t end, const TextMarks& marks, std::uint32_t* out,
    TextTraits& traits) noexcept {
  alignas(64) static constexpr struct Ramp {
    std::uint8_t at[64] = {};
    constexpr Ramp() {
      for (std::size_t i = 0; i < 64; ++i) at[i] = static_cast<std::uint8_t>(i);
    }
  } kRamp;
  if (((marks.first | marks.second | marks.quote) & 0x80) != 0)  // not in the table
    return find_avx2(text, begin, end, marks, out, traits);
  // What a byte is, by a look into a table of the 128 there are; comparing with each in turn takes longer.
  constexpr std::uint8_t kMark = 1;
  constexpr std::uint8_t kQuote = 2;
  constexpr std::uint8_t kNul = 4;
  constexpr std::uint8_t kBlank = 8;
  alignas(64) std::uint8_t kinds[128] = {};
  const auto set = [&](char c, std::uint8_t kind) { kinds[static_cast<unsigned char>(c) & 0x7f] |= kind; };
  set(marks.first, kMark);
  set(marks.second, kMark);
  set(marks.quote, kQuote);
  set('\0', kNul);
  set(' ', kBlank);
  set(other_blank(marks), kBlank);
  const __m512i ramp = _mm512_load_si512(kRamp.at);
  const __m512i low = _mm512_load_si512(kinds);
  const __m512i high = _mm512_load_si512(kinds + 64);
  const __m512i mark = _mm512_set1_epi8(kMark);
  const __m512i sign = _mm512_set1_epi8(static_cast<char>(0x80));
  __m512i seen = _mm512_setzero_si512();
  __m512i bytes = _mm512_setzero_si512();
  std::uint32_t* const first = out;
  for (std::size_t at = begin; at < end; at += 64) {
    const __mmask64 inside = below(end - at);
    const __m512i v = _mm512_maskz_loadu_epi8(inside, text + at);
    const __mmask64 plain = _mm512_mask_testn_epi8_mask(inside, v, sign);
    const __m512i kind = _mm512_maskz_permutex2var_epi8(plain, low, v, high);
    const __mmask64 hits = _mm512_test_epi8_mask(kind, mark);
    seen = _mm512_or_si512(seen, kind);
    bytes = _mm512_or_si512(bytes, v);
    const __m512i indices = _mm512_maskz_compress_epi8(hits, ramp);
    const __m512i base = _mm512_set1_epi32(static_cast<int>(at));
    const auto count = static_cast<std::size_t>(__builtin_popcountll(hits));
    _mm512_storeu_si512(out, _mm512_add_epi32(base, _mm512_cvtepu8_epi32(_mm512_castsi512_si128(indices))));
    if (count > 16) [[unlikely]] {
      _mm512_storeu_si512(
          out + 16, _mm512_add_epi32(base, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(indices, 1))));
      _mm512_storeu_si512(
          out + 32, _mm512_add_epi32(base, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(indices, 2))));
      _mm512_storeu_si512(
          out + 48, _mm512_add_epi32(base, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(indices, 3))));
    }
    out += count;
  }
  traits.quote |= _mm512_test_epi8_mask(seen, _mm512_set1_epi8(kQuote)) != 0;
  traits.nul |= _mm512_test_epi8_mask(seen, _mm512_set1_epi8(kNul)) != 0;
  traits.blank |= _mm512_test_epi8_mask(seen, _mm512_set1_epi8(kBlank)) != 0;
  traits.high |= _mm512_movepi8_mask(bytes) != 0;
  return static_cast<std::size_t>(out - first);
}

// A line is longer than 64 bytes more often than not: at most one end is written without a branch.
inline std::uint32_t* write_ends(std::uint64_t hits, std::size_t at, std::uint32_t* out) noexcept {
  const auto count = static_cast<std::size_t>(__builtin_popcountll(hits));
  *out = static_cast<std::uint32_t>(at + static_cast<std::size_t>(__builtin_ctzll(hits | 1ull << 63)));
  if (count > 1) [[unlikely]]
    write_positions(hits, static_cast<std::uint32_t>(at), out);
  return out + count;
}

__attribute__((target("avx2,bmi,popcnt"))) std::size_t find_ends_avx2(const char* text, std::size_t begin,
                                                                      std::size_t end, char newline,
                                                                      char quote, std::uint32_t* out,
                                                                      bool& quote_seen) noexcept {
  const __m256i n = _mm256_set1_epi8(newline);
  const __m256i q = _mm256_set1_epi8(quote);
  const std::uint32_t* const first = out;
  std::uint64_t quotes = 0;
  for (std::size_t at = begin; at < end; at += 64) {
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + at));
    const __m256i w = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + at + 32));
    const std::uint64_t inside = below(end - at);
    const std::uint64_t low = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, n)));
    const std::uint64_t high = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(w, n)));
    const std::uint64_t low_q = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, q)));
    const std::uint64_t high_q = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(w, q)));
    quotes |= (low_q | high_q << 32) & inside;
    out = write_ends((low | high << 32) & inside, at, out);
  }
  quote_seen |= quotes != 0;
  return static_cast<std::size_t>(out - first);
}

__attribute__((target("avx512bw,bmi,popcnt"))) std::size_t find_ends_avx512(const char* text,
                                                                            std::size_t begin,
                                                                            std::size_t end, char newline,
                                                                            char quote, std::uint32_t* out,
                                                                            bool& quote_seen) noexcept {
  const __m512i n = _mm512_set1_epi8(newline);
  const __m512i q = _mm512_set1_epi8(quote);
  const std::uint32_t* const first = out;
  std::uint64_t quotes = 0;
  for (std::size_t at = begin; at < end; at += 64) {
    const __m512i v = _mm512_loadu_si512(text + at);
    const std::uint64_t inside = below(end - at);
    quotes |= _mm512_cmpeq_epi8_mask(v, q) & inside;
    out = write_ends(_mm512_cmpeq_epi8_mask(v, n) & inside, at, out);
  }
  quote_seen |= quotes != 0;
  return static_cast<std::size_t>(out - first);
}

#elif defined(__aarch64__)

// NEON has no movemask: each byte keeps the one bit that is its place, and pairwise sums bring them together.
inline std::uint64_t bits_of(uint8x16_t m0, uint8x16_t m1, uint8x16_t m2, uint8x16_t m3) noexcept {
  const uint8x16_t place = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  const uint8x16_t low = vpaddq_u8(vandq_u8(m0, place), vandq_u8(m1, place));
  const uint8x16_t high = vpaddq_u8(vandq_u8(m2, place), vandq_u8(m3, place));
  const uint8x16_t all = vpaddq_u8(low, high);
  return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
}

std::size_t find_narrow(const char* text, std::size_t begin, std::size_t end, const TextMarks& marks,
                        std::uint32_t* out, TextTraits& traits) noexcept {
  const uint8x16_t a = vdupq_n_u8(static_cast<std::uint8_t>(marks.first));
  const uint8x16_t b = vdupq_n_u8(static_cast<std::uint8_t>(marks.second));
  const uint8x16_t q = vdupq_n_u8(static_cast<std::uint8_t>(marks.quote));
  const uint8x16_t high = vdupq_n_u8(0x80);
  const uint8x16_t s = vdupq_n_u8(' ');
  const uint8x16_t t = vdupq_n_u8(static_cast<std::uint8_t>(other_blank(marks)));
  return find_with(text, begin, end, out, traits, [&](const char* at) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(at);
    uint8x16_t v[4];
    for (int i = 0; i < 4; ++i) v[i] = vld1q_u8(bytes + 16 * i);
    const auto marked = [&](uint8x16_t x) { return vorrq_u8(vceqq_u8(x, a), vceqq_u8(x, b)); };
    Masks masks;
    masks.marks = bits_of(marked(v[0]), marked(v[1]), marked(v[2]), marked(v[3]));
    masks.quote = bits_of(vceqq_u8(v[0], q), vceqq_u8(v[1], q), vceqq_u8(v[2], q), vceqq_u8(v[3], q));
    masks.nul = bits_of(vceqzq_u8(v[0]), vceqzq_u8(v[1]), vceqzq_u8(v[2]), vceqzq_u8(v[3]));
    masks.high =
        bits_of(vtstq_u8(v[0], high), vtstq_u8(v[1], high), vtstq_u8(v[2], high), vtstq_u8(v[3], high));
    const auto blank = [&](uint8x16_t x) { return vorrq_u8(vceqq_u8(x, s), vceqq_u8(x, t)); };
    masks.blank = bits_of(blank(v[0]), blank(v[1]), blank(v[2]), blank(v[3]));
    return masks;
  });
}

#endif

FindMarks variant_of(MarksVariant variant) noexcept {
  switch (variant) {
    case MarksVariant::portable:
      return find_portable;
#if defined(__x86_64__) || defined(__aarch64__)
    case MarksVariant::narrow:
      return find_narrow;
#endif
#if defined(__x86_64__)
    case MarksVariant::avx2:
      return find_avx2;
    case MarksVariant::avx512:
      return find_avx512;
#endif
    default:
      return nullptr;
  }
}

FindMarks best_variant() noexcept {
  for (const MarksVariant variant : {MarksVariant::avx512, MarksVariant::avx2, MarksVariant::narrow}) {
    if (marks_variant_runs(variant)) return variant_of(variant);
  }
  return find_portable;
}

}  // namespace

bool marks_variant_runs(MarksVariant variant) noexcept {
  if (variant_of(variant) == nullptr) return false;
#if defined(__x86_64__)
  if (variant == MarksVariant::avx2) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("popcnt");
  }
  if (variant == MarksVariant::avx512) {
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt");
  }
#endif
  return true;
}

std::size_t find_marks_with(MarksVariant variant, const char* text, std::size_t begin, std::size_t end,
                            const TextMarks& marks, std::uint32_t* out, TextTraits& traits) noexcept {
  const FindMarks find = variant_of(variant);
  return find == nullptr ? 0 : find(text, begin, end, marks, out, traits);
}

std::size_t find_line_ends(const char* text, std::size_t begin, std::size_t end, char newline, char quote,
                           std::uint32_t* out, bool& quote_seen) noexcept {
#if defined(__x86_64__)
  static const bool quickest = marks_variant_runs(MarksVariant::avx512);
  static const bool quick = marks_variant_runs(MarksVariant::avx2);
  if (quickest) return find_ends_avx512(text, begin, end, newline, quote, out, quote_seen);
  if (quick) return find_ends_avx2(text, begin, end, newline, quote, out, quote_seen);
#endif
  TextTraits traits;
  const std::size_t found = find_marks(text, begin, end, {newline, newline, quote}, out, traits);
  quote_seen |= traits.quote;
  return found;
}

std::size_t find_marks(const char* text, std::size_t begin, std::size_t end, const TextMarks& marks,
                       std::uint32_t* out, TextTraits& traits) noexcept {
  static const FindMarks find = best_variant();
  return find(text, begin, end, marks, out, traits);
}

}  // namespace samovar::ingest
