#include "base/ids.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace samovar {
namespace {

constexpr std::string_view kAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

// Takes exactly `digits` digits off the front of text, or gives -1.
int take_number(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return -1;
  int value = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    if (text[i] < '0' || text[i] > '9') return -1;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool take_char(std::string_view& text, std::string_view any_of) {
  if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

// ".123" → 123000 µs; nothing there → 0; a dot without digits → -1.
int take_fraction(std::string_view& text) {
  if (!take_char(text, ".")) return 0;
  int micros = 0;
  int digits = 0;
  for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; text.remove_prefix(1), ++digits) {
    if (digits < 6) micros = micros * 10 + (text.front() - '0');
  }
  if (digits == 0) return -1;
  for (; digits < 6; ++digits) micros *= 10;
  return micros;
}

Error bad_time(std::string_view text) {
  return {Errc::invalid,
          "\"" + std::string(text.substr(0, 40)) +
              "\" is not a time: write it as 2026-01-31T23:59:59Z or with an offset like +02:00"};
}

}  // namespace

std::string new_ulid(Clock& clock, Rng& rng) {
  using std::chrono::milliseconds;
  const auto since = std::chrono::duration_cast<milliseconds>(clock.wall().time_since_epoch()).count();
  auto millis = static_cast<std::uint64_t>(std::max<std::int64_t>(since, 0));
  std::array<char, kUlidChars> text;
  for (std::size_t i = 10; i-- > 0; millis >>= 5) text[i] = kAlphabet[millis & 31];
  std::array<std::uint8_t, kUlidChars - 10> luck;
  rng.fill(luck);
  // 256 is a multiple of 32, so five bits of each byte are uniform.
  for (std::size_t i = 0; i < luck.size(); ++i) text[10 + i] = kAlphabet[luck[i] & 31];
  return {text.data(), text.size()};
}

std::string new_id(std::string_view prefix, Clock& clock, Rng& rng) {
  return std::string(prefix) + '_' + new_ulid(clock, rng);
}

bool is_id(std::string_view prefix, std::string_view text) noexcept {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  if (text.size() != kUlidChars + 1 || text[0] != '_') return false;
  text.remove_prefix(1);
  // Ten characters hold 50 bits; the time has 48.
  return text[0] <= '7' && text.find_first_not_of(kAlphabet) == std::string_view::npos;
}

std::string format_time(WallTime time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  auto rest = time - day;
  const auto h = std::chrono::duration_cast<std::chrono::hours>(rest);
  rest -= h;
  const auto m = std::chrono::duration_cast<std::chrono::minutes>(rest);
  rest -= m;
  const auto s = std::chrono::duration_cast<std::chrono::seconds>(rest);
  rest -= s;
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), h.count(),
                     m.count(), s.count(), rest.count());
}

Result<WallTime> parse_time(std::string_view text) {
  using namespace std::chrono;
  std::string_view rest = text;
  const int year_number = take_number(rest, 4);
  const bool dash1 = take_char(rest, "-");
  const int month_number = take_number(rest, 2);
  const bool dash2 = take_char(rest, "-");
  const int day_number = take_number(rest, 2);
  const bool t = take_char(rest, "Tt");
  const int hour_number = take_number(rest, 2);
  const bool colon1 = take_char(rest, ":");
  const int minute_number = take_number(rest, 2);
  const bool colon2 = take_char(rest, ":");
  const int second_number = take_number(rest, 2);
  const int micros = take_fraction(rest);
  if (!dash1 || !dash2 || !t || !colon1 || !colon2 || micros < 0) return bad_time(text);
  if (year_number < 1 || month_number < 1 || day_number < 1 || hour_number < 0 || hour_number > 23)
    return bad_time(text);
  // Second 60 is a leap second: it counts as the first of the next minute.
  if (minute_number < 0 || minute_number > 59 || second_number < 0 || second_number > 60)
    return bad_time(text);
  const year_month_day date(year(year_number), month(static_cast<unsigned>(month_number)),
                            day(static_cast<unsigned>(day_number)));
  if (!date.ok()) return bad_time(text);

  minutes offset{0};
  if (!take_char(rest, "Zz")) {
    const bool west = rest.starts_with('-');
    if (!take_char(rest, "+-")) return bad_time(text);
    const int offset_hours = take_number(rest, 2);
    const bool colon = take_char(rest, ":");
    const int offset_minutes = take_number(rest, 2);
    if (!colon || offset_hours < 0 || offset_hours > 23 || offset_minutes < 0 || offset_minutes > 59)
      return bad_time(text);
    offset = hours(offset_hours) + minutes(offset_minutes);
    if (west) offset = -offset;
  }
  if (!rest.empty()) return bad_time(text);
  const WallTime time = WallTime(sys_days(date)) + hours(hour_number) + minutes(minute_number) +
                        seconds(second_number) + microseconds(micros) - offset;
  // The offset, or a leap second, may carry it out of the four-digit years.
  if (time < sys_days(year(1) / 1 / 1) || time >= sys_days(year(10000) / 1 / 1)) return bad_time(text);
  return time;
}

}  // namespace samovar
