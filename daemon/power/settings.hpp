// What an administrator decided about power: a document of the replicated state, the same on every node.
//
// Threading: values.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace samovar::power {

inline constexpr double kBudgetWattsMin = 1;
inline constexpr double kBudgetWattsMax = 100'000;
inline constexpr double kLimitCelsiusMin = 40;
inline constexpr double kLimitCelsiusMax = 105;
inline constexpr std::size_t kScheduleMax = 32;

// Of the week, in the box's time zone. From 22:00 to 06:00 goes past midnight and belongs to the day it
// begins on.
struct Period {
  std::uint8_t days = 0x7f;     // bit 0 is Monday
  std::uint16_t from = 0;       // minutes after midnight
  std::uint16_t to = 0;         // exclusive; the same as `from`: the whole day
  std::optional<double> watts;  // nothing: no limit in this time
};

enum class UpsMode : std::uint8_t { off, automatic, on };

struct Settings {
  std::optional<double> budget_watts;   // of all nodes together; nothing: no limit
  std::vector<Period> schedule;         // the first that fits holds in place of the budget
  std::optional<double> limit_celsius;  // of each node's hottest sensor
  UpsMode ups = UpsMode::automatic;     // automatic: when a node sees that it runs from a battery
  std::optional<double> ups_watts;      // while on UPS; nothing: as otherwise
};

struct LocalTime {
  unsigned weekday = 0;  // 0 is Monday
  unsigned minute = 0;   // after midnight
};

// `offset`: of the time zone, east of UTC.
LocalTime local_time_at(WallTime time, std::chrono::seconds offset) noexcept;

struct Budget {
  std::optional<double> watts;  // nothing: no limit
  std::string reason;           // "none", "budget", "schedule", "ups"
};
// What holds at a time. A job's own limit comes on top of it.
Budget budget_at(const Settings& settings, LocalTime now, bool on_battery);
bool covers(const Period& period, LocalTime now) noexcept;

// "22:00"; Errc::invalid.
Result<std::uint16_t> parse_minute(std::string_view text);
std::string format_minute(std::uint16_t minute);
// "mon".
std::string_view day_name(unsigned day) noexcept;
std::string_view to_string(UpsMode mode) noexcept;
std::optional<UpsMode> ups_mode_of(std::string_view text) noexcept;

// The document as kept. What does not read is left out: a node must not stop over a newer one's words.
std::string encode_settings(const Settings& settings);
Settings decode_settings(std::string_view json);

}  // namespace samovar::power
