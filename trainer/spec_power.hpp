// What a spec says about power: "finish by 06:00 under 60 W".
//
// Threading: pure.
#pragma once
#include <vector>

#include "trainer/spec_members.hpp"

namespace samovar::trainer {

void parse_power(SpecMembers& members, JobSpec& spec, std::vector<SpecFault>& faults);
// Only what was asked for: null when nothing was.
nlohmann::json to_json(const PowerSpec& power);
// JSON Schema (2020-12) with title, description and default.
nlohmann::json power_schema();

}  // namespace samovar::trainer
