#include "daemon/power/settings.hpp"
#include "base/json.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace samovar::power {
namespace {

using nlohmann::json;

constexpr unsigned kMinutesPerDay = 24 * 60;
constexpr std::array<std::string_view, 7> kDays = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
constexpr std::array<std::string_view, 3> kUpsModes = {"off", "auto", "on"};

std::optional<double> number_in(const json& object, const char* name, double least, double most) {
  const auto at = object.find(name);
  if (at == object.end() || !at->is_number()) return std::nullopt;
  const double value = at->get<double>();
  return std::isfinite(value) && value >= least && value <= most ? std::optional(value) : std::nullopt;
}

json or_null(const std::optional<double>& value) { return value ? json(*value) : json(nullptr); }

std::optional<Period> period_of(const json& value) {
  if (!value.is_object()) return std::nullopt;
  const auto minute = [&value](const char* name) -> std::optional<std::uint16_t> {
    const auto at = value.find(name);
    if (at == value.end() || !at->is_string()) return std::nullopt;
    const auto parsed = parse_minute(at->get_ref<const std::string&>());
    return parsed ? std::optional(*parsed) : std::nullopt;
  };
  const auto from = minute("from");
  const auto to = minute("to");
  if (!from || !to) return std::nullopt;
  Period period;
  period.from = *from;
  period.to = *to;
  period.watts = number_in(value, "watts", kBudgetWattsMin, kBudgetWattsMax);
  if (const auto days = value.find("days"); days != value.end() && days->is_array()) {
    period.days = 0;
    for (const json& day : *days)
      for (unsigned d = 0; d < kDays.size(); ++d)
        if (day == kDays[d]) period.days = static_cast<std::uint8_t>(period.days | (1u << d));
  }
  return period;
}

}  // namespace

LocalTime local_time_at(WallTime time, std::chrono::seconds offset) noexcept {
  const auto minutes = std::chrono::floor<std::chrono::minutes>(time.time_since_epoch() + offset).count();
  const auto day = (minutes >= 0 ? minutes : minutes - (kMinutesPerDay - 1)) / kMinutesPerDay;
  const auto minute = minutes - day * kMinutesPerDay;
  // The first day of 1970 was a Thursday.
  return {static_cast<unsigned>(((day + 3) % 7 + 7) % 7), static_cast<unsigned>(minute)};
}

bool covers(const Period& period, LocalTime now) noexcept {
  const auto on = [&](unsigned day) { return (period.days >> (day % 7) & 1u) != 0; };
  if (period.from == period.to) return on(now.weekday);
  if (period.from < period.to) return on(now.weekday) && now.minute >= period.from && now.minute < period.to;
  return (on(now.weekday) && now.minute >= period.from) || (on(now.weekday + 6) && now.minute < period.to);
}

Budget budget_at(const Settings& settings, LocalTime now, bool on_battery) {
  Budget budget{settings.budget_watts, settings.budget_watts ? "budget" : "none"};
  for (const Period& period : settings.schedule) {
    if (!covers(period, now)) continue;
    budget = {period.watts, "schedule"};
    break;
  }
  const bool ups = settings.ups == UpsMode::on || (settings.ups == UpsMode::automatic && on_battery);
  if (ups && settings.ups_watts && (!budget.watts || *settings.ups_watts < *budget.watts))
    budget = {settings.ups_watts, "ups"};
  return budget;
}

Result<std::uint16_t> parse_minute(std::string_view text) {
  const auto digit = [&](std::size_t i) { return text[i] >= '0' && text[i] <= '9'; };
  if (text.size() != 5 || text[2] != ':' || !digit(0) || !digit(1) || !digit(3) || !digit(4))
    return Error{Errc::invalid, "a time of day is written like 22:00"};
  const int hour = (text[0] - '0') * 10 + (text[1] - '0');
  const int minute = (text[3] - '0') * 10 + (text[4] - '0');
  if (hour > 23 || minute > 59) return Error{Errc::invalid, "there is no such time of day"};
  return static_cast<std::uint16_t>(hour * 60 + minute);
}

std::string format_minute(std::uint16_t minute) {
  return fmt::format("{:02}:{:02}", minute % kMinutesPerDay / 60, minute % 60);
}

std::string_view day_name(unsigned day) noexcept { return kDays[day % kDays.size()]; }

std::string_view to_string(UpsMode mode) noexcept { return kUpsModes[static_cast<std::size_t>(mode)]; }

std::optional<UpsMode> ups_mode_of(std::string_view text) noexcept {
  for (std::size_t i = 0; i < kUpsModes.size(); ++i)
    if (text == kUpsModes[i]) return static_cast<UpsMode>(i);
  return std::nullopt;
}

std::string encode_settings(const Settings& settings) {
  json schedule = json::array();
  for (const Period& period : settings.schedule) {
    json days = json::array();
    for (unsigned d = 0; d < kDays.size(); ++d)
      if ((period.days >> d & 1u) != 0) days.push_back(kDays[d]);
    schedule.push_back({{"days", std::move(days)},
                        {"from", format_minute(period.from)},
                        {"to", format_minute(period.to)},
                        {"watts", or_null(period.watts)}});
  }
  return json{{"budget_watts", or_null(settings.budget_watts)},
              {"schedule", std::move(schedule)},
              {"limit_celsius", or_null(settings.limit_celsius)},
              {"ups", to_string(settings.ups)},
              {"ups_watts", or_null(settings.ups_watts)}}
      .dump();
}

Settings decode_settings(std::string_view text) {
  Settings settings;
  const json value = json::parse(text, nullptr, false);
  if (!value.is_object()) return settings;
  settings.budget_watts = number_in(value, "budget_watts", kBudgetWattsMin, kBudgetWattsMax);
  settings.limit_celsius = number_in(value, "limit_celsius", kLimitCelsiusMin, kLimitCelsiusMax);
  settings.ups_watts = number_in(value, "ups_watts", kBudgetWattsMin, kBudgetWattsMax);
  if (const auto ups = value.find("ups"); ups != value.end() && ups->is_string())
    settings.ups = ups_mode_of(ups->get_ref<const std::string&>()).value_or(UpsMode::automatic);
  if (const auto list = value.find("schedule"); list != value.end() && list->is_array())
    for (std::size_t i = 0; i < list->size() && i < kScheduleMax; ++i)
      if (auto period = period_of((*list)[i])) settings.schedule.push_back(*period);
  return settings;
}

}  // namespace samovar::power
