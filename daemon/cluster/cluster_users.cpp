// Commands on the box and its users: typed arguments into a command, the reply into a value.
#include <utility>

#include "daemon/cluster/cluster_impl.hpp"
#include "daemon/cluster/rows.hpp"

namespace samovar::cluster {
namespace {

// The command was done; a later one may have removed its object before we looked.
template <class T>
Result<T> or_gone(std::optional<T> value) {
  if (!value) return Error{Errc::not_found, "it was removed meanwhile"};
  return *std::move(value);
}

}  // namespace

Task<Result<ClusterInfo>> Cluster::initialise(Call call, NewCluster cluster) {
  if (cluster.id != impl_->cluster_id)
    co_return Error{Errc::invalid, "id: is not the one this log was opened with"};
  Fields admin;
  admin.set("id", impl_->new_id("usr")).set("username", cluster.admin_username);
  admin.set("display_name", cluster.admin_display_name).set("password_hash", cluster.admin_password_hash);
  Fields body;
  body.set("id", cluster.id)
      .set("name", cluster.name)
      .set("time_zone", cluster.time_zone)
      .set("admin", admin);
  SAMOVAR_CO_TRY(const Fields done,
                 co_await impl_->execute(std::move(call), "cluster.init", std::move(body)));
  co_return or_gone(info());
}

Task<Result<ClusterInfo>> Cluster::update_cluster(Call call, ClusterChange change,
                                                  std::optional<std::uint64_t> if_revision) {
  Fields body;
  body.set("name", change.name).set("time_zone", change.time_zone).set("if_revision", if_revision);
  SAMOVAR_CO_TRY(const Fields done,
                 co_await impl_->execute(std::move(call), "cluster.update", std::move(body)));
  co_return or_gone(info());
}

Task<Result<User>> Cluster::create_user(Call call, NewUser user) {
  Fields body;
  body.set("id", impl_->new_id("usr")).set("username", user.username).set("display_name", user.display_name);
  body.set("role", to_string(user.role)).set("password_hash", user.password_hash);
  SAMOVAR_CO_TRY(const Fields done, co_await impl_->execute(std::move(call), "user.create", std::move(body)));
  SAMOVAR_CO_TRY(const std::string id, done.text("id", 64));
  co_return or_gone(this->user(id));
}

Task<Result<User>> Cluster::update_user(Call call, std::string user_id, UserChange change,
                                        std::optional<std::uint64_t> if_revision) {
  Fields body;
  body.set("id", user_id).set("display_name", change.display_name).set("disabled", change.disabled);
  if (change.role) body.set("role", to_string(*change.role));
  body.set("if_revision", if_revision);
  SAMOVAR_CO_TRY(const Fields done, co_await impl_->execute(std::move(call), "user.update", std::move(body)));
  co_return or_gone(user(user_id));
}

Task<Result<void>> Cluster::delete_user(Call call, std::string user_id,
                                        std::optional<std::uint64_t> if_revision) {
  Fields body;
  body.set("id", user_id).set("if_revision", if_revision);
  SAMOVAR_CO_TRY(const Fields done, co_await impl_->execute(std::move(call), "user.delete", std::move(body)));
  co_return Result<void>();
}

Task<Result<User>> Cluster::set_password(Call call, std::string user_id, std::string password_hash,
                                         std::string keep_session_id) {
  Fields body;
  body.set("id", user_id).set("password_hash", password_hash).set("keep_session_id", keep_session_id);
  SAMOVAR_CO_TRY(const Fields done,
                 co_await impl_->execute(std::move(call), "user.set_password", std::move(body)));
  co_return or_gone(user(user_id));
}

Task<Result<User>> Cluster::unlock_user(Call call, std::string user_id) {
  SAMOVAR_CO_TRY(const Fields done,
                 co_await impl_->execute(std::move(call), "user.unlock", Fields().set("id", user_id)));
  co_return or_gone(user(user_id));
}

}  // namespace samovar::cluster
