#include "daemon/ingest/values.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace samovar::ingest {
namespace {

constexpr std::size_t kNumberBytesMax = 128;

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// Length of a sign that groups digits, at the front of `text`; 0: none. Blanks come plain, as U+00A0 and as
// U+202F; Switzerland writes an apostrophe, plain or U+2019.
std::size_t group_sign(std::string_view text, char decimal) noexcept {
  if (text.empty()) return 0;
  if (text[0] == (decimal == '.' ? ',' : '.') || text[0] == '\'' || text[0] == ' ') return 1;
  if (text.substr(0, 2) == "\xc2\xa0") return 2;
  if (text.substr(0, 3) == "\xe2\x80\xaf" || text.substr(0, 3) == "\xe2\x80\x99") return 3;
  return 0;
}

// Rewrites a number of this style the plain way. Size 0: it is none.
class Plain {
 public:
  Plain(std::string_view cell, NumberStyle style) noexcept {
    std::size_t at = 0;
    if (!cell.empty() && (cell[0] == '-' || cell[0] == '+')) put(cell[at++]);
    const bool whole = style.thousands ? groups(cell, style.decimal, at) : digits(cell, at) < kNumberBytesMax;
    if (!whole) size_ = 0;
    if (!whole || at == cell.size()) return;
    if (cell[at] == style.decimal) {
      put('.');
      ++at;
      digits(cell, at);
    }
    // An exponent; whatever else follows, the plain parser refuses.
    if (at < cell.size() && cell[at] == style.decimal)
      size_ = 0;
    else if (at < cell.size() && cell[at] == '.')
      size_ = 0;
    else
      while (at < cell.size()) put(cell[at++]);
  }
  std::string_view text() const noexcept { return {text_.data(), size_}; }

 private:
  void put(char c) noexcept {
    if (size_ < text_.size())
      text_[size_++] = c;
    else
      overflow_ = true;
  }
  std::size_t digits(std::string_view cell, std::size_t& at) noexcept {
    const std::size_t begin = at;
    while (at < cell.size() && is_digit(cell[at])) put(cell[at++]);
    return overflow_ ? kNumberBytesMax : at - begin;
  }
  // 1 to 3 digits, then groups of exactly three behind the same sign; or no groups at all.
  bool groups(std::string_view cell, char decimal, std::size_t& at) noexcept {
    const std::size_t first = digits(cell, at);
    std::string_view sign;
    while (true) {
      const std::size_t size = group_sign(cell.substr(at), decimal);
      if (size == 0) return first < kNumberBytesMax;
      if (first == 0 || first > 3) return false;
      const std::string_view here = cell.substr(at, size);
      if (!sign.empty() && sign != here) return false;
      sign = here;
      at += size;
      if (digits(cell, at) != 3) return false;
    }
  }

  std::array<char, kNumberBytesMax> text_{};
  std::size_t size_ = 0;
  bool overflow_ = false;
};

bool same_word(std::string_view cell, std::string_view lower) noexcept {
  return cell.size() == lower.size() &&
         std::equal(cell.begin(), cell.end(), lower.begin(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + ('a' - 'A') : a) == b; });
}

}  // namespace

namespace detail {

bool parse_integer_slow(std::string_view cell, std::int64_t& out) noexcept {
  if (cell.size() > 1 && cell[0] == '+' && is_digit(cell[1])) cell.remove_prefix(1);
  const char* const last = cell.data() + cell.size();
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(cell.data(), last, value);
  if (error != std::errc{}) return false;
  if (end != last) {
    if (*end != 'e' && *end != 'E') return false;
    if (++end != last && *end == '+') ++end;
    unsigned exponent = 0;
    const auto tail = std::from_chars(end, last, exponent);
    if (tail.ec != std::errc{} || tail.ptr != last || exponent > 18) return false;
    for (; exponent > 0; --exponent)
      if (__builtin_mul_overflow(value, std::int64_t{10}, &value)) return false;
  }
  out = value;
  return true;
}

bool parse_real_slow(std::string_view cell, double& out) noexcept {
  if (cell.size() > 1 && cell[0] == '+' && cell[1] != '-') cell.remove_prefix(1);
  if (cell.empty()) return false;
  const char first = cell[cell[0] == '-' && cell.size() > 1 ? 1 : 0];
  if (!is_digit(first) && first != '.') return false;  // not "inf", not "nan"
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (end != cell.data() + cell.size()) return false;
  if (error == std::errc::result_out_of_range) {
    // Too small or too large: the sign of the exponent tells. Without one, only hundreds of digits get here.
    const std::size_t exponent = cell.find_first_of("eE");
    if (exponent == cell.npos || exponent + 1 >= cell.size() || cell[exponent + 1] != '-') return false;
    value = 0;
  } else if (error != std::errc{}) {
    return false;
  }
  out = value;
  return true;
}

}  // namespace detail

bool parse_integer(std::string_view cell, NumberStyle style, std::int64_t& out) noexcept {
  if (style.plain() || parse_integer(cell, out)) return parse_integer(cell, out);
  if (!style.thousands) return false;
  const Plain plain(cell, style);
  return parse_integer(plain.text(), out);
}

bool parse_real(std::string_view cell, NumberStyle style, double& out) noexcept {
  if (style.plain()) return parse_real(cell, out);
  const Plain plain(cell, style);
  return parse_real(plain.text(), out);
}

bool parse_boolean(std::string_view cell, bool& out) noexcept {
  constexpr std::string_view kTrue[] = {"1",  "true", "yes",  "t",    "y", "on",
                                        "ja", "oui",  "vrai", "wahr", "si"};
  constexpr std::string_view kFalse[] = {"0",   "false", "no",  "f",    "n",
                                         "off", "nein",  "non", "faux", "falsch"};
  const auto is = [&](std::string_view word) { return same_word(cell, word); };
  if (std::any_of(std::begin(kTrue), std::end(kTrue), is)) return out = true, true;
  if (std::any_of(std::begin(kFalse), std::end(kFalse), is)) return out = false, true;
  return false;
}

}  // namespace samovar::ingest
