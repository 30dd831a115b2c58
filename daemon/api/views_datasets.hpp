// How data sets look to clients, and to which of them.
//
// Threading: loop only.
#pragma once
#include "daemon/api/views.hpp"
#include "daemon/cluster/dataset_types.hpp"

namespace samovar::api {

// As the list shows it. Who else may use it is for those who manage it, and for auditors; others see
// themselves.
View dataset_view(Services& services, const cluster::Actor& actor, const cluster::Dataset& dataset);
// With schema, options, source and versions.
View dataset_detail_view(Services& services, const cluster::Actor& actor, const cluster::Dataset& dataset);
// [{name, type, sensitive}, …]
View columns_view(const cluster::DatasetVersion& version);
// {items, copies, tolerates}
View shards_view(Services& services, const cluster::DatasetVersion& version);
// {items}: what can be uploaded, and what cannot
View formats_view();

}  // namespace samovar::api
