// How jobs, models, predictions and scorings look to clients.
//
// Threading: loop only.
#pragma once
#include <string_view>

#include "daemon/api/views.hpp"
#include "daemon/cluster/model_types.hpp"
#include "daemon/jobs/model_service.hpp"

namespace samovar::api {

// views_jobs.cpp
std::string_view state_name(jobs::JobState state) noexcept;
// `actor` sees the data set's name only if it may see the data set.
View job_view(Services& services, const cluster::Actor& actor, const jobs::Job& job);
View metrics_view(const jobs::JobMetrics& metrics);  // {names, cols}; what is not known is null
View log_line_view(const jobs::JobLogLine& line);
View estimate_view(const jobs::Estimate& estimate);
View scoring_view(const jobs::Scoring& scoring);

// views_models.cpp
View model_view(Services& services, const cluster::Actor& actor, const cluster::Model& model);
View model_detail_view(Services& services, const cluster::Actor& actor, const cluster::Model& model);
View model_version_view(Services& services, const cluster::Actor& actor,
                        const cluster::ModelVersion& version);
View warnings_view(const std::vector<trainer::InputWarning>& warnings);
View prediction_view(const jobs::PredictAnswer& answer, bool reasons);
// Where two documents differ: [{path, a, b}], path as a JSON pointer.
View differences(const nlohmann::json& a, const nlohmann::json& b);

// A document of the state: written by us, so what does not parse is shown as nothing.
View document_view(const std::string& json);

}  // namespace samovar::api
