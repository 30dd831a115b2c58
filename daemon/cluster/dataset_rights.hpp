// Who may do what with a data set, beyond what their role lets them do at all. One place for the API and the
// jobs.
//
//             | see it, schema | rows, download      | rename, bin, grant, new version
//   admin     | all            | own and granted     | all
//   analyst   | own, granted   | own and granted     | own
//   viewer    | own, granted   | –                   | –
//   auditor   | all            | –                   | –
//   service   | own, granted   | own and granted     | –
//
// The node itself (Actor::system) may everything; nobody (no role) nothing. Destroying is for admins, by its
// route.
#pragma once
#include <optional>
#include <string>

#include "daemon/cluster/dataset_types.hpp"
#include "daemon/cluster/types.hpp"

namespace samovar::cluster {

bool may_see(const Actor& actor, const Dataset& dataset);
bool may_read_rows(const Actor& actor, const Dataset& dataset);
bool may_manage(const Actor& actor, const Dataset& dataset);
// DatasetFilter::user_id for what this actor may see: empty when that is all.
std::optional<std::string> seen_only_by(const Actor& actor);

}  // namespace samovar::cluster
