// The settings document "power": what an administrator sends, checked whole, and what is shown of it.
//
// Threading: loop only.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "daemon/api/problem.hpp"
#include "daemon/api/views.hpp"
#include "daemon/power/settings.hpp"

namespace samovar::api {

// All faults at once; the result counts only without any.
power::Settings read_power_settings(nlohmann::json& body, std::vector<FieldError>& errors);
View power_settings_view(const power::Settings& settings);
// When a time of the schedule begins or ends next, within a week; nothing without a schedule.
std::optional<WallTime> next_change(const power::Settings& settings, WallTime now,
                                    std::chrono::seconds zone_offset);

}  // namespace samovar::api
