// Dates and times of day, as files have them. Field by field, over a cursor; the calendar is the proleptic
// Gregorian one.
#include <array>
#include <optional>

#include "daemon/ingest/values.hpp"

namespace samovar::ingest {
namespace {

constexpr std::int64_t kMicros = 1'000'000;
constexpr std::int64_t kDaySeconds = 86'400;

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }
bool is_letter(char c) noexcept { return lower(c) >= 'a' && lower(c) <= 'z'; }

// Days since 1970-01-01. Howard Hinnant, "chrono-compatible low-level date algorithms".
std::int64_t days_from_civil(std::int64_t year, unsigned month, unsigned day) noexcept {
  year -= month <= 2 ? 1 : 0;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const auto year_of_era = static_cast<unsigned>(year - era * 400);
  const unsigned day_of_year = (153 * (month + (month > 2 ? -3u : 9u)) + 2) / 5 + day - 1;
  const unsigned day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + static_cast<std::int64_t>(day_of_era) - 719468;
}

unsigned days_in_month(unsigned year, unsigned month) noexcept {
  constexpr std::array<unsigned, 12> kDays{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return month == 2 && leap ? 29 : kDays[month - 1];
}

struct Date {
  unsigned year = 0;
  unsigned month = 0;
  unsigned day = 1;
  bool valid() const noexcept {
    return year >= 1 && year <= 9999 && month >= 1 && month <= 12 && day >= 1 &&
           day <= days_in_month(year, month);
  }
};

class Cursor {
 public:
  explicit Cursor(std::string_view text) noexcept : text_(text) {}
  bool done() const noexcept { return at_ == text_.size(); }
  char peek() const noexcept { return done() ? '\0' : text_[at_]; }
  bool take(char c) noexcept {
    if (peek() != c || done()) return false;
    ++at_;
    return true;
  }
  char take_any(std::string_view set) noexcept {
    if (done() || set.find(text_[at_]) == set.npos) return '\0';
    return text_[at_++];
  }
  void skip_blanks() noexcept {
    while (take(' ')) {
    }
  }
  // Up to nine digits.
  struct Digits {
    unsigned value = 0;
    unsigned count = 0;
  };
  Digits digits(unsigned count_max = 9) noexcept {
    Digits out;
    while (out.count < count_max && is_digit(peek())) {
      out.value = out.value * 10 + static_cast<unsigned>(text_[at_++] - '0');
      ++out.count;
    }
    return out;
  }
  std::string_view word() noexcept {
    const std::size_t begin = at_;
    while (is_letter(peek())) ++at_;
    return text_.substr(begin, at_ - begin);
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

bool word_is(std::string_view word, std::string_view lower_word) noexcept {
  if (word.size() != lower_word.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i)
    if (lower(word[i]) != lower_word[i]) return false;
  return true;
}

// Three letters or the whole English name; 0: no month.
unsigned month_of(std::string_view word) noexcept {
  constexpr std::array<std::string_view, 12> kMonths{"january",   "february", "march",    "april",
                                                     "may",       "june",     "july",     "august",
                                                     "september", "october",  "november", "december"};
  for (unsigned i = 0; i < kMonths.size(); ++i)
    if (word_is(word, kMonths[i]) || word_is(word, kMonths[i].substr(0, 3)) ||
        (i == 8 && word_is(word, "sept")))
      return i + 1;
  return 0;
}

bool is_weekday(std::string_view word) noexcept {
  constexpr std::array<std::string_view, 7> kDays{"monday", "tuesday",  "wednesday", "thursday",
                                                  "friday", "saturday", "sunday"};
  for (const auto day : kDays)
    if (word_is(word, day) || word_is(word, day.substr(0, 3))) return true;
  return false;
}

// "24" is 2024, "71" is 1971.
bool set_year(Cursor::Digits year, Date& date) noexcept {
  if (year.count == 4)
    date.year = year.value;
  else if (year.count == 2)
    date.year = year.value + (year.value < 70 ? 2000 : 1900);
  else
    return false;
  return true;
}

// 2024-03-01, 2024-03, 20240301: `first` was read.
bool year_first(Cursor& in, Cursor::Digits first, Date& date) noexcept {
  if (first.count == 8) {
    date = {first.value / 10000, first.value / 100 % 100, first.value % 100};
    return true;
  }
  date.year = first.value;
  const char separator = in.take_any("-/.");
  if (separator == '\0') return false;
  const auto month = in.digits(2);
  if (month.count == 0) return false;
  date.month = month.value;
  if (!in.take(separator)) return separator == '-' && in.done() && month.count == 2;
  const auto day = in.digits(2);
  date.day = day.value;
  return day.count > 0;
}

// 1.3.2024, 3/1/24, 1-Mar-2024, 1 March 2024: `first` was read.
bool day_or_month_first(Cursor& in, Cursor::Digits first, DateOrder order, Date& date) noexcept {
  const char separator = in.take_any("-/. ");
  if (separator == '\0') return false;
  in.skip_blanks();
  if (is_letter(in.peek())) {
    date.day = first.value;
    date.month = month_of(in.word());
    in.take(',');
    if (in.take_any("-/. ") == '\0') return false;
    in.skip_blanks();
    return set_year(in.digits(4), date);
  }
  if (separator == ' ') return false;
  const auto second = in.digits(2);
  if (second.count == 0 || !in.take(separator)) return false;
  const bool day_first = order == DateOrder::day_first;
  date.day = day_first ? first.value : second.value;
  date.month = day_first ? second.value : first.value;
  return set_year(in.digits(4), date);
}

bool read_date(Cursor& in, DateOrder order, Date& date) noexcept {
  if (is_letter(in.peek())) {
    std::string_view word = in.word();
    if (is_weekday(word)) {
      in.take(',');
      in.skip_blanks();
      if (!is_letter(in.peek())) return read_date(in, order, date);
      word = in.word();
    }
    date.month = month_of(word);
    in.take('.');
    in.skip_blanks();
    const auto day = in.digits(2);
    in.take(',');
    in.skip_blanks();
    date.day = day.value;
    return day.count > 0 && set_year(in.digits(4), date);
  }
  const auto first = in.digits();
  if (first.count == 4 || first.count == 8) return year_first(in, first, date);
  if (first.count == 1 || first.count == 2) return day_or_month_first(in, first, order, date);
  return false;
}

// Z, UTC, GMT, +01, +0100, +01:00. Seconds east of Greenwich.
bool read_zone(Cursor& in, std::int64_t& offset) noexcept {
  offset = 0;
  if (in.done()) return true;
  if (is_letter(in.peek())) {
    const auto word = in.word();
    return word_is(word, "z") || word_is(word, "utc") || word_is(word, "gmt");
  }
  const char sign = in.take_any("+-");
  if (sign == '\0') return false;
  const auto hours = in.digits(2);
  in.take(':');
  const auto minutes = in.digits(2);
  if (hours.count != 2 || hours.value > 18 || minutes.value > 59 || minutes.count == 1) return false;
  offset = static_cast<std::int64_t>(hours.value) * 3600 + static_cast<std::int64_t>(minutes.value) * 60;
  if (sign == '-') offset = -offset;
  return true;
}

// 14:05, 14:05:09.25, 2:05 PM. Microseconds of the day.
bool read_time_of_day(Cursor& in, std::int64_t& micros) noexcept {
  auto hours = in.digits(2);
  if (hours.count == 0 || !in.take(':')) return false;
  const auto minutes = in.digits(2);
  Cursor::Digits seconds;
  std::int64_t fraction = 0;
  if (in.take(':')) {
    seconds = in.digits(2);
    if (seconds.count == 0) return false;
    if (in.take_any(".,") != '\0') {
      std::int64_t unit = kMicros / 10;
      if (!is_digit(in.peek())) return false;
      for (; is_digit(in.peek()); unit /= 10) fraction += in.digits(1).value * unit;
    }
  }
  in.skip_blanks();
  const char half = lower(in.peek());
  if (half == 'a' || half == 'p') {
    const auto word = in.word();
    if ((!word_is(word, "am") && !word_is(word, "pm")) || hours.value == 0 || hours.value > 12) return false;
    hours.value = hours.value % 12 + (half == 'p' ? 12 : 0);
    in.skip_blanks();
  }
  if (minutes.count != 2 || minutes.value > 59 || hours.value > 23 || seconds.value > 60) return false;
  const auto total = static_cast<std::int64_t>(hours.value) * 3600 +
                     static_cast<std::int64_t>(minutes.value) * 60 + static_cast<std::int64_t>(seconds.value);
  micros = total * kMicros + fraction;
  return true;
}

// Since 1970, in the unit its length suggests.
std::optional<std::int64_t> read_epoch(std::string_view cell) noexcept {
  std::int64_t value = 0;
  const std::size_t digits = cell.size() - (cell.front() == '-' ? 1 : 0);
  if (!parse_integer(cell, value)) return std::nullopt;
  if (digits == 9 || digits == 10) return value * kMicros;
  if (digits == 12 || digits == 13) return value * 1000;
  if (digits == 15 || digits == 16) return value;
  return std::nullopt;
}

}  // namespace

bool parse_time(std::string_view cell, DateOrder order, std::int64_t& out) noexcept {
  constexpr std::size_t kTimeBytesMax = 64;
  if (cell.size() < 6 || cell.size() > kTimeBytesMax) return false;
  if (const auto epoch = read_epoch(cell)) {
    out = *epoch;
    return true;
  }
  Cursor in(cell);
  Date date;
  if (!read_date(in, order, date) || !date.valid()) return false;
  std::int64_t micros = 0;
  std::int64_t offset = 0;
  if (!in.done()) {
    if (in.take_any("Tt") == '\0') {
      in.take(',');
      if (!in.take(' ')) return false;
      in.skip_blanks();
    }
    if (!read_time_of_day(in, micros) || !read_zone(in, offset) || !in.done()) return false;
  }
  out = (days_from_civil(date.year, date.month, date.day) * kDaySeconds - offset) * kMicros + micros;
  return true;
}

AmbiguousDate ambiguous_date(std::string_view cell) noexcept {
  Cursor in(cell);
  const auto first = in.digits();
  const char separator = in.take_any("-/.");
  const auto second = in.digits();
  if (first.count == 0 || first.count > 2 || second.count == 0 || second.count > 2 || separator == '\0' ||
      !in.take(separator))
    return {};
  const auto year = in.digits();
  if (year.count != 2 && year.count != 4) return {};
  return {first.value, second.value};
}

}  // namespace samovar::ingest
