#include "daemon/cluster/model_rights.hpp"

#include <algorithm>

namespace samovar::cluster {
namespace {

bool is_system(const Actor& actor) { return actor.auth == AuthKind::system; }

bool is_role(const Actor& actor, std::initializer_list<Role> roles) {
  return actor.role && std::find(roles.begin(), roles.end(), *actor.role) != roles.end();
}

bool owns(const Actor& actor, const std::string& owner_id) {
  return !actor.user_id.empty() && actor.user_id == owner_id;
}

bool owns_or_granted(const Actor& actor, const Model& model) {
  return owns(actor, model.owner_id) ||
         std::binary_search(model.granted_ids.begin(), model.granted_ids.end(), actor.user_id);
}

}  // namespace

bool may_see_model(const Actor& actor, const Model& model) {
  if (is_system(actor) || is_role(actor, {Role::admin, Role::auditor})) return true;
  return actor.role && owns_or_granted(actor, model);
}

bool may_use_model(const Actor& actor, const Model& model) {
  if (is_system(actor)) return true;
  return actor.role && *actor.role != Role::auditor && owns_or_granted(actor, model);
}

bool may_export_model(const Actor& actor, const Model& model) {
  if (is_system(actor)) return true;
  return is_role(actor, {Role::admin, Role::analyst}) && owns_or_granted(actor, model);
}

bool may_manage_model(const Actor& actor, const Model& model) {
  if (is_system(actor) || is_role(actor, {Role::admin})) return true;
  return is_role(actor, {Role::analyst}) && owns(actor, model.owner_id);
}

bool may_see_job(const Actor& actor, const JobRecord& job, const std::optional<Model>& model) {
  if (is_system(actor) || is_role(actor, {Role::admin, Role::auditor})) return true;
  if (!actor.role) return false;
  if (owns(actor, job.owner_id)) return true;
  return *actor.role != Role::service && model && job.model_version > 0 && owns_or_granted(actor, *model);
}

bool may_stop_job(const Actor& actor, const JobRecord& job) {
  return is_role(actor, {Role::admin}) || may_control_job(actor, job);
}

bool may_control_job(const Actor& actor, const JobRecord& job) {
  if (is_system(actor)) return true;
  return is_role(actor, {Role::admin, Role::analyst, Role::service}) && owns(actor, job.owner_id);
}

}  // namespace samovar::cluster
