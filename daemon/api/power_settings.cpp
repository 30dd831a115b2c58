#include "daemon/api/power_settings.hpp"

#include <fmt/format.h>

#include "base/json.hpp"
#include "daemon/api/json_body.hpp"

namespace samovar::api {
namespace {

using nlohmann::json;
using power::kBudgetWattsMax;
using power::kBudgetWattsMin;

constexpr unsigned kMinutesPerWeek = 7 * 24 * 60;

// Null and absent: no such limit.
std::optional<double> limit(const json& object, Fields& fields, std::string_view name, double least,
                            double most) {
  // The look marks it as read.
  if (!fields.has(name) || fields.is_null(name)) return std::nullopt;
  const json& value = object.at(std::string(name));
  if (!value.is_number()) {
    fields.fail(name, "type", fmt::format("{} must be a number, or null.", name));
  } else if (const double number = value.get<double>(); number >= least && number <= most) {
    return number;
  } else {
    fields.fail(name, "range", fmt::format("{} must be {:g} to {:g}.", name, least, most));
  }
  return std::nullopt;
}

std::uint8_t days_of(Fields& fields) {
  const auto names = fields.texts("days", Need::optional, 7);
  if (!names) return 0x7f;
  std::uint8_t days = 0;
  for (const std::string& name : *names) {
    unsigned day = 0;
    while (day < 7 && power::day_name(day) != name) ++day;
    if (day == 7)
      fields.fail("days", "choice", "days are of mon, tue, wed, thu, fri, sat and sun.");
    else
      days = static_cast<std::uint8_t>(days | 1u << day);
  }
  if (days == 0) fields.fail("days", "required", "Name at least one day.");
  return days;
}

std::uint16_t minute_of(Fields& fields, std::string_view name) {
  const auto text = fields.text(name, Need::required);
  if (!text) return 0;
  const auto minute = power::parse_minute(*text);
  if (!minute) fields.fail(name, "format", fmt::format("{} is a time of day like 22:00.", name));
  return minute.value_or(0);
}

}  // namespace

power::Settings read_power_settings(json& body, std::vector<FieldError>& errors) {
  power::Settings settings;
  Fields fields(body, "", errors);
  settings.budget_watts = limit(body, fields, "budget_watts", kBudgetWattsMin, kBudgetWattsMax);
  settings.limit_celsius =
      limit(body, fields, "limit_celsius", power::kLimitCelsiusMin, power::kLimitCelsiusMax);
  settings.ups_watts = limit(body, fields, "ups_watts", kBudgetWattsMin, kBudgetWattsMax);
  if (const auto text = fields.text("ups", Need::optional)) {
    const auto mode = power::ups_mode_of(*text);
    if (!mode) fields.fail("ups", "choice", "ups is off, auto or on.");
    settings.ups = mode.value_or(power::UpsMode::automatic);
  }
  json* list = body.contains("schedule") && !fields.is_null("schedule") ? &body["schedule"] : nullptr;
  if (list != nullptr && (!list->is_array() || list->size() > power::kScheduleMax)) {
    fields.fail("schedule", "type",
                fmt::format("schedule must be a list of at most {}.", power::kScheduleMax));
  } else if (list != nullptr) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      const std::string pointer = fmt::format("/schedule/{}", i);
      if (!(*list)[i].is_object()) {
        errors.push_back({pointer, "type", "A time of the schedule is an object with from, to and watts."});
        continue;
      }
      Fields one((*list)[i], pointer, errors);
      power::Period period;
      period.days = days_of(one);
      period.from = minute_of(one, "from");
      period.to = minute_of(one, "to");
      period.watts = limit((*list)[i], one, "watts", kBudgetWattsMin, kBudgetWattsMax);
      one.finish();
      settings.schedule.push_back(period);
    }
  }
  fields.finish();
  return settings;
}

View power_settings_view(const power::Settings& settings) {
  return View::parse(power::encode_settings(settings));
}

std::optional<WallTime> next_change(const power::Settings& settings, WallTime now,
                                    std::chrono::seconds zone_offset) {
  if (settings.schedule.empty()) return std::nullopt;
  const auto holds = [&](WallTime time) {
    return power::budget_at(settings, power::local_time_at(time, zone_offset), false).watts;
  };
  const auto minute = std::chrono::floor<std::chrono::minutes>(now);
  const auto first = holds(now);
  for (unsigned i = 1; i <= kMinutesPerWeek; ++i)
    if (holds(WallTime(minute + std::chrono::minutes(i))) != first)
      return WallTime(minute + std::chrono::minutes(i));
  return std::nullopt;
}

}  // namespace samovar::api
