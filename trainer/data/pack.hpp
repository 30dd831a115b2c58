// The loops behind blocks: narrowing, widening, bitmaps, checks. One table per instruction set, chosen once.
//
// `valid` is one byte a row, 1: present, or null: all are. Widths are bytes: 1, 2, 4, 8. Packed bytes need no
// alignment.
//
// Threading: any thread; pure.
#pragma once
#include <cstddef>
#include <cstdint>

namespace samovar::trainer::pack {

struct Range {
  std::int64_t min = 0;
  std::int64_t max = 0;
};

struct Table {
  // Writing. Missing values count as `fill` for the range, and are written as 0 beyond `base`.
  Range (*range64)(const std::int64_t* in, const std::uint8_t* valid, std::int64_t fill, std::size_t n);
  void (*narrow64)(const std::int64_t* in, const std::uint8_t* valid, std::int64_t base, std::size_t n,
                   unsigned width, std::uint8_t* out);
  Range (*range32)(const std::int32_t* in, std::size_t n);
  void (*narrow32)(const std::int32_t* in, std::int32_t base, std::size_t n, unsigned width,
                   std::uint8_t* out);
  // The largest of the present ones, 0 when there is none.
  std::uint32_t (*max_code)(const std::uint32_t* in, const std::uint8_t* valid, std::size_t n);
  void (*narrow_codes)(const std::uint32_t* in, const std::uint8_t* valid, std::uint32_t missing,
                       std::size_t n, unsigned width, std::uint8_t* out);
  bool (*all_present)(const std::uint8_t* valid, std::size_t n);
  void (*to_bits)(const std::uint8_t* bytes, std::size_t n, std::uint8_t* out);
  void (*booleans_to_bits)(const std::int64_t* in, const std::uint8_t* valid, std::size_t n,
                           std::uint8_t* out);
  // Whether float holds every present value to the last bit.
  bool (*fits_f32)(const double* in, const std::uint8_t* valid, std::size_t n);
  void (*to_f32)(const double* in, const std::uint8_t* valid, std::size_t n, std::uint8_t* out);
  void (*copy_f64)(const double* in, const std::uint8_t* valid, std::size_t n, std::uint8_t* out);
  // out = in · scale, whole, for present values, `fill` for others; false when out / scale is not exactly
  // `in`.
  bool (*decimals)(const double* in, const std::uint8_t* valid, double scale, std::int32_t fill,
                   std::size_t n, std::int32_t* out);
  bool (*is_hex)(const char* in, std::size_t n);  // 0-9 and a-f alone
  void (*pack_hex)(const char* in, std::size_t n, std::uint8_t* out);

  // Reading.
  void (*unpack_hex)(const std::uint8_t* in, std::size_t n, char* out);                // n: characters
  std::uint32_t (*max_packed)(const std::uint8_t* in, unsigned width, std::size_t n);  // width ≤ 4
  bool (*never_falls)(const std::uint8_t* in, unsigned width, std::size_t n);          // width ≤ 4
  void (*widen64)(const std::uint8_t* in, unsigned width, std::int64_t base, std::size_t n,
                  std::int64_t* out);
  void (*widen_codes)(const std::uint8_t* in, unsigned width, std::uint32_t levels, std::uint32_t missing,
                      std::size_t n, std::uint32_t* out);
  // (base + u) / divisor
  void (*reals64)(const std::uint8_t* in, unsigned width, std::int64_t base, double divisor, std::size_t n,
                  double* out);
  void (*reals32)(const std::uint8_t* in, unsigned width, std::int64_t base, double divisor, std::size_t n,
                  float* out);
  // The topmost 14 bits of (base + u) / divisor as a double, sign, exponent and two more; `none` where a bit
  // of `valid` is 0 (null: all are present). n is a multiple of 8.
  void (*number_tokens)(const std::uint8_t* in, unsigned width, double base, double divisor,
                        const std::uint8_t* valid, std::uint32_t none, std::size_t n, std::uint32_t* out);
  // The upper bits of level_hash for texts of eight bytes each, `shift` of the lower ones gone, plus `add`.
  // `start` is what the hash begins with.
  void (*hash_eights)(const char* in, std::uint64_t start, unsigned shift, std::uint32_t add, std::size_t n,
                      std::uint32_t* out);
  // 1 and 0 from whole bytes of bits: n is a multiple of 8.
  void (*bits_to_f64)(const std::uint8_t* bits, std::size_t n, double* out);
  void (*bits_to_f32)(const std::uint8_t* bits, std::size_t n, float* out);
  void (*bits_to_i64)(const std::uint8_t* bits, std::size_t n, std::int64_t* out);
  // NaN where a bit is 0, from whole bytes of bits.
  void (*blank_f64)(const std::uint8_t* bits, std::size_t n, double* out);
  void (*blank_f32)(const std::uint8_t* bits, std::size_t n, float* out);
  void (*f32_to_f64)(const std::uint8_t* in, std::size_t n, double* out);
  void (*f64_to_f32)(const std::uint8_t* in, std::size_t n, float* out);
};

// For this processor.
const Table& table() noexcept;
// For every processor of the architecture; tests hold it against table().
const Table& baseline_table() noexcept;
// Only in builds for x86-64, and only called where there is AVX2, AVX-512.
const Table& avx2_table() noexcept;
const Table& avx512_table() noexcept;

}  // namespace samovar::trainer::pack
