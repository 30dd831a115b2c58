#include "trainer/features/values.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace samovar::trainer {

namespace {

std::string_view trimmed(std::string_view text) {
  const auto space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

bool same_word(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() &&
         std::equal(text.begin(), text.end(), lower.begin(), [](char a, char b) {
           return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + 32) : a) == b;
         });
}
template <std::size_t N>
bool one_of(std::string_view text, const std::array<std::string_view, N>& words) {
  for (const std::string_view word : words) {
    if (same_word(text, word)) return true;
  }
  return false;
}

constexpr std::array<std::string_view, 9> kMissing = {"",     "na",   "n/a", "#n/a", "nan",
                                                      "null", "none", "?",   "-"};
constexpr std::array<std::string_view, 5> kYes = {"true", "yes", "y", "t", "on"};
constexpr std::array<std::string_view, 5> kNo = {"false", "no", "n", "f", "off"};

std::optional<double> read_number(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

// Takes digits off the front.
bool take(std::string_view& text, std::size_t digits, int& out) {
  if (text.size() < digits) return false;
  out = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
    out = out * 10 + (text[i] - '0');
  }
  text.remove_prefix(digits);
  return true;
}
bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

// Days since 1970-01-01 (H. Hinnant, chrono-compatible low-level date algorithms).
std::int64_t days_of(std::int64_t year, int month, int day) {
  year -= month <= 2 ? 1 : 0;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const std::int64_t of_era = year - era * 400;
  const std::int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146'097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719'468;
}

// RFC 3339, and what is short of it: the date alone, no seconds, no zone (UTC then).
std::optional<double> read_time(std::string_view text) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  if (!take(text, 4, year) || !take(text, '-') || !take(text, 2, month) || !take(text, '-') ||
      !take(text, 2, day))
    return std::nullopt;
  constexpr std::array<int, 12> kDays = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (month < 1 || month > 12 || day < 1 || day > kDays[static_cast<std::size_t>(month - 1)])
    return std::nullopt;
  std::int64_t microseconds = 0;
  if (!text.empty()) {
    if (!take(text, 'T') && !take(text, 't') && !take(text, ' ')) return std::nullopt;
    if (!take(text, 2, hour) || !take(text, ':') || !take(text, 2, minute)) return std::nullopt;
    if (take(text, ':') && !take(text, 2, second)) return std::nullopt;
    if (hour > 23 || minute > 59 || second > 60) return std::nullopt;
    if (take(text, '.')) {
      std::int64_t unit = 100'000;
      if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
      for (int digit = 0; take(text, 1, digit); unit /= 10) microseconds += unit * digit;
    }
    int sign = 0;
    if (take(text, 'Z') || take(text, 'z') || text.empty()) {
      sign = 0;
    } else if (take(text, '+')) {
      sign = 1;
    } else if (take(text, '-')) {
      sign = -1;
    } else {
      return std::nullopt;
    }
    if (sign != 0) {
      int zone_hour = 0, zone_minute = 0;
      if (!take(text, 2, zone_hour)) return std::nullopt;
      static_cast<void>(take(text, ':'));
      if (!take(text, 2, zone_minute) || zone_hour > 23 || zone_minute > 59) return std::nullopt;
      minute -= sign * (zone_hour * 60 + zone_minute);
    }
    if (!text.empty()) return std::nullopt;
  }
  const std::int64_t seconds = days_of(year, month, day) * 86'400 + hour * 3600 + minute * 60 + second;
  return static_cast<double>(seconds * 1'000'000 + microseconds);
}

}  // namespace

bool says_missing(std::string_view text) noexcept { return one_of(trimmed(text), kMissing); }

std::optional<double> read_value(ColumnType type, std::string_view text) noexcept {
  text = trimmed(text);
  if (type == ColumnType::boolean) {
    if (one_of(text, kYes)) return 1.0;
    if (one_of(text, kNo)) return 0.0;
  }
  if (type == ColumnType::time) {
    if (const auto time = read_time(text)) return time;
  }
  return read_number(text);
}

std::string level_of(double value) {
  std::array<char, 32> text{};
  const bool whole = std::abs(value) < 1e15 && value == std::floor(value);
  const auto end =
      whole ? std::to_chars(text.data(), text.data() + text.size(), static_cast<std::int64_t>(value))
            : std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end.ptr};
}

std::string level_of(bool value) { return value ? "true" : "false"; }

}  // namespace samovar::trainer
