// What to think about before a training is started, from the profile of its data alone. What needs the rows
// (a column that gives the target away, rows on both sides of the split) the training itself looks for.
//
// Threading: pure.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "trainer/spec.hpp"

namespace samovar::jobs {

// A sentence each. `profile` is the JSON of daemon/ingest/profile.hpp with correlations to the target.
std::vector<std::string> advise_job(const trainer::JobSpec& spec, const nlohmann::json& profile);

}  // namespace samovar::jobs
