// The box itself.
#include "daemon/cluster/context.hpp"
#include "daemon/cluster/rows.hpp"

namespace samovar::cluster {
namespace {

constexpr std::size_t kNameBytesMax = 64;
constexpr std::size_t kTimeZoneBytesMax = 64;

}  // namespace

Result<Fields> apply_cluster_init(Context& context) {
  if (read_cluster(context.db)) return refuse(Refusal::already_done);
  SAMOVAR_TRY(const std::string id, context.body.text("id", 64, 1));
  SAMOVAR_TRY(const std::string name, context.body.text("name", kNameBytesMax, 1));
  SAMOVAR_TRY(const std::string time_zone, context.body.text("time_zone", kTimeZoneBytesMax, 1));
  SAMOVAR_TRY(const Fields admin, context.body.object("admin"));
  run(context.db, "INSERT INTO cluster VALUES (1, ?, ?, ?, ?, 1)", id, name, time_zone, context.now);
  context.audit("cluster.init", id, Fields().set("name", name).set("time_zone", time_zone));
  context.changed(Change::Kind::cluster, id);
  SAMOVAR_TRY(const std::string user_id, insert_user(context, admin, Role::admin));
  return Fields().set("id", id).set("user_id", user_id);
}

Result<Fields> apply_cluster_update(Context& context) {
  const auto before = read_cluster(context.db);
  SAMOVAR_CHECK(check_revision(context, before->revision));
  SAMOVAR_TRY(const auto name, context.body.optional_text("name", kNameBytesMax));
  SAMOVAR_TRY(const auto time_zone, context.body.optional_text("time_zone", kTimeZoneBytesMax));
  if ((name && name->empty()) || (time_zone && time_zone->empty()))
    return Error{Errc::invalid, "name: must not be empty"};
  run(context.db, "UPDATE cluster SET name = ?, time_zone = ?, revision = revision + 1",
      name.value_or(before->name), time_zone.value_or(before->time_zone));
  Fields details;
  if (name) details.set("name", *name).set("name_before", before->name);
  if (time_zone) details.set("time_zone", *time_zone);
  context.audit("cluster.update", before->id, details);
  context.changed(Change::Kind::cluster, before->id);
  return Fields();
}

}  // namespace samovar::cluster
