// Who may do what with a model or a job, beyond what their role lets them do at all. One place for the API
// and the jobs.
//
//   models    | see it, metrics | predict, reasons | export           | promote, grant, change, delete
//   admin     | all             | own and granted  | own and granted  | all
//   analyst   | own, granted    | own and granted  | own and granted  | own
//   viewer    | own, granted    | own and granted  | –                | –
//   auditor   | all             | –                | –                | –
//   service   | own, granted    | own and granted  | –                | –
//
// What of a model a service sees (its inputs and outputs, not its metrics) is settled by the routes.
//
//   jobs      | see it                       | pause, cancel, delete | resume, retry, protect
//   admin     | all                          | all                   | own
//   analyst   | own, those of granted models | own                   | own
//   viewer    | those of granted models      | –                     | –
//   auditor   | all                          | –                     | –
//   service   | own                          | own                   | own
//
// The node itself (Actor::system) may everything; nobody (no role) nothing.
#pragma once
#include <optional>

#include "daemon/cluster/model_types.hpp"
#include "daemon/cluster/types.hpp"

namespace samovar::cluster {

bool may_see_model(const Actor& actor, const Model& model);
bool may_use_model(const Actor& actor, const Model& model);
bool may_export_model(const Actor& actor, const Model& model);
bool may_manage_model(const Actor& actor, const Model& model);

// `model`: the one it made, when it is there.
bool may_see_job(const Actor& actor, const JobRecord& job, const std::optional<Model>& model);
bool may_stop_job(const Actor& actor, const JobRecord& job);
bool may_control_job(const Actor& actor, const JobRecord& job);

}  // namespace samovar::cluster
