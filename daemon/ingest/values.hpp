// Cells into numbers, times and booleans: what detection judges by and the pipeline parses with, so that they
// never disagree. The plain cases are inline; whole cells only, nothing around them (see trim).
//
// Threading: any thread; pure. Nothing depends on a locale.
#pragma once
#include <cstdint>
#include <string_view>

#include "daemon/ingest/options.hpp"

namespace samovar::ingest {

struct NumberStyle {
  char decimal = '.';
  // "1,234.5", "1.234,5", "1'234.5", "1 234,5": groups of three digits behind the first.
  bool thousands = false;
  bool plain() const noexcept { return decimal == '.' && !thousands; }
};
inline NumberStyle number_style(const ParseOptions& options) noexcept {
  return {options.decimal, options.thousands};
}

inline std::string_view trim(std::string_view cell) noexcept {
  while (!cell.empty() && (cell.front() == ' ' || cell.front() == '\t')) cell.remove_prefix(1);
  while (!cell.empty() && (cell.back() == ' ' || cell.back() == '\t')) cell.remove_suffix(1);
  return cell;
}

namespace detail {
bool parse_integer_slow(std::string_view cell, std::int64_t& out) noexcept;
bool parse_real_slow(std::string_view cell, double& out) noexcept;
inline constexpr double kPowersOfTen[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                          1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
}  // namespace detail

// Sign and digits; R also writes 100000 as 1e+05. Leading zeros are allowed here; whether "007" is a number
// is for detection to say.
inline bool parse_integer(std::string_view cell, std::int64_t& out) noexcept {
  const char* at = cell.data();
  const char* const end = at + cell.size();
  bool negative = false;
  if (at != end && *at == '-') {
    negative = true;
    ++at;
  }
  const auto digits = static_cast<std::size_t>(end - at);
  if (digits - 1 >= 18) return detail::parse_integer_slow(cell, out);  // none, or maybe too many
  std::uint64_t value = 0;
  for (; at != end; ++at) {
    const auto digit = static_cast<unsigned>(*at) - '0';
    if (digit > 9) return detail::parse_integer_slow(cell, out);  // a plus, an exponent, or no number
    value = value * 10 + digit;
  }
  out = negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
  return true;
}

// As C writes them, without hexadecimal, "inf" or "nan": those are words, and may be missing tokens.
// Correctly rounded. A number too large for f64 is none; one too small is 0.
inline bool parse_real(std::string_view cell, double& out) noexcept {
  const char* at = cell.data();
  const char* const end = at + cell.size();
  const bool negative = at != end && *at == '-';
  at += negative ? 1 : 0;
  // Up to 15 digits and a point: the digits and the power of ten are exact in f64, so one division rounds
  // right.
  if (end - at > 16) return detail::parse_real_slow(cell, out);
  std::uint64_t digits = 0;
  int count = 0;
  const char* point = nullptr;
  for (; at != end; ++at) {
    const auto digit = static_cast<unsigned>(*at) - '0';
    if (digit <= 9) {
      digits = digits * 10 + digit;
      ++count;
    } else if (*at == '.' && point == nullptr) {
      point = at;
    } else {
      return detail::parse_real_slow(cell, out);  // an exponent, a plus, or no number
    }
  }
  if (count == 0 || count > 15) return detail::parse_real_slow(cell, out);
  const double value =
      static_cast<double>(digits) / detail::kPowersOfTen[point != nullptr ? end - point - 1 : 0];
  out = negative ? -value : value;
  return true;
}

// In another locale's writing. Both are parse_integer and parse_real when the style is plain.
bool parse_integer(std::string_view cell, NumberStyle style, std::int64_t& out) noexcept;
bool parse_real(std::string_view cell, NumberStyle style, double& out) noexcept;

// true/false, yes/no, y/n, t/f, on/off, 1/0, ja/nein, oui/non, vrai/faux, wahr/falsch, si/no; any case.
bool parse_boolean(std::string_view cell, bool& out) noexcept;

// Microseconds since 1970-01-01T00:00:00Z; a time without a zone is taken as UTC.
//   2024-03-01, 2024/03/01, 2024-03, 20240301; 1.3.2024, 1/3/2024, 1-3-24 by `order`; 1-Mar-2024, 1 March
//   2024, March 1, 2024; each with T or blank and 14:05[:09[.123456]] [AM|PM] [Z|UTC|GMT|+01:00], a weekday
//   in front. Bare digits: 9 or 10 are seconds, 12 or 13 milliseconds, 15 or 16 microseconds since 1970.
//   Detection never takes those for times by itself.
bool parse_time(std::string_view cell, DateOrder order, std::int64_t& out) noexcept;

// Parts of a date that could be read both ways, for detection: 0 when it is not of the kind 3/4/2024.
struct AmbiguousDate {
  unsigned first = 0;
  unsigned second = 0;
};
AmbiguousDate ambiguous_date(std::string_view cell) noexcept;

}  // namespace samovar::ingest
