// Jobs, models and scorings as live events, each to those who may see what it is about.
//
// Threading: loop only.
#pragma once
#include <string>

#include "daemon/api/services.hpp"

namespace samovar::api {

// Forwards what the service tells, as job.changed, job.metric, job.log and scoring.changed. `services`
// outlives the service.
void forward_model_events(Services& services, jobs::ModelService& models);
// model.changed, when the state says so; an empty name: several.
void publish_model_change(Services& services, const std::string& name);

}  // namespace samovar::api
