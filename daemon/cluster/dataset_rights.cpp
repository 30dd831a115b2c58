#include "daemon/cluster/dataset_rights.hpp"

#include <algorithm>

namespace samovar::cluster {
namespace {

bool is_system(const Actor& actor) { return actor.auth == AuthKind::system; }

bool owns(const Actor& actor, const Dataset& dataset) {
  return !actor.user_id.empty() && actor.user_id == dataset.owner_id;
}

bool owns_or_granted(const Actor& actor, const Dataset& dataset) {
  return owns(actor, dataset) ||
         std::binary_search(dataset.granted_ids.begin(), dataset.granted_ids.end(), actor.user_id);
}

}  // namespace

bool may_see(const Actor& actor, const Dataset& dataset) {
  if (is_system(actor)) return true;
  if (!actor.role) return false;
  if (*actor.role == Role::admin || *actor.role == Role::auditor) return true;
  return owns_or_granted(actor, dataset);
}

bool may_read_rows(const Actor& actor, const Dataset& dataset) {
  if (is_system(actor)) return true;
  if (!actor.role || *actor.role == Role::viewer || *actor.role == Role::auditor) return false;
  return owns_or_granted(actor, dataset);
}

bool may_manage(const Actor& actor, const Dataset& dataset) {
  if (is_system(actor)) return true;
  if (!actor.role) return false;
  return *actor.role == Role::admin || (*actor.role == Role::analyst && owns(actor, dataset));
}

std::optional<std::string> seen_only_by(const Actor& actor) {
  if (is_system(actor) || (actor.role && (*actor.role == Role::admin || *actor.role == Role::auditor)))
    return std::nullopt;
  return actor.user_id;
}

}  // namespace samovar::cluster
