// Users: the rules that must hold whatever happens at the same time are checked here.
#include <algorithm>

#include "daemon/cluster/context.hpp"
#include "daemon/cluster/rows.hpp"

namespace samovar::cluster {
namespace {

constexpr std::size_t kUsernameBytesMax = 64;
constexpr std::size_t kDisplayNameBytesMax = 128;
constexpr std::size_t kPasswordHashBytesMax = 512;
constexpr std::int64_t kUsersMax = 10'000;

bool is_username(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= kUsernameBytesMax && std::all_of(name.begin(), name.end(), fits);
}

std::int64_t count(Db& db, std::string_view sql, std::string_view argument) {
  Query query(db, sql, argument);
  return query.next() ? query.number(0) : 0;
}

bool is_last_admin(Context& context, const User& user) {
  if (user.role != Role::admin || user.disabled) return false;
  return count(context.db, "SELECT count(*) FROM users WHERE role = 'admin' AND disabled = 0 AND id <> ?",
               user.id) == 0;
}

// Each is told by its id: somebody may be at work on it.
void cancel_jobs_of(Context& context, const std::string& user_id) {
  for (Query row(context.db,
                 "SELECT id FROM jobs WHERE owner_id = ? AND state IN ('queued', 'paused') ORDER BY id",
                 user_id);
       row.next();)
    context.changed(Change::Kind::jobs, row.text(0));
  run(context.db,
      "UPDATE jobs SET state = 'cancelled', ended_us = ?, revision = revision + 1 WHERE owner_id = ? AND "
      "state IN ('queued', 'paused')",
      context.now, user_id);
}

Result<Role> read_role(const Fields& from) {
  SAMOVAR_TRY(const std::string text, from.text("role", 16));
  const auto role = parse_role(text);
  if (!role) return Error{Errc::invalid, "role: must be admin, analyst, viewer, auditor or service"};
  return *role;
}

}  // namespace

Result<User> need_user(Context& context, std::string_view field) {
  SAMOVAR_TRY(const std::string id, context.body.text(field, 64, 1));
  auto user = find_user(context.db, id);
  if (!user) return Error{Errc::not_found, "there is no such user"};
  return *std::move(user);
}

Result<void> check_revision(Context& context, std::uint64_t current) {
  SAMOVAR_TRY(const auto wanted, context.body.optional_number("if_revision"));
  if (wanted && static_cast<std::uint64_t>(*wanted) != current) return refuse(Refusal::stale_revision);
  return {};
}

Result<std::string> insert_user(Context& context, const Fields& from, Role role) {
  SAMOVAR_TRY(const std::string id, from.text("id", 64, 1));
  SAMOVAR_TRY(const std::string typed, from.text("username", kUsernameBytesMax));
  SAMOVAR_TRY(const std::string display_name, from.text("display_name", kDisplayNameBytesMax));
  SAMOVAR_TRY(const std::string password_hash, from.text("password_hash", kPasswordHashBytesMax, 1));
  const std::string username = lower_ascii(typed);
  if (!is_username(username))
    return Error{Errc::invalid, "username: 1 to 64 of the letters a-z, digits, '.', '_' and '-'"};
  if (find_user_by_name(context.db, username)) return refuse(Refusal::name_taken);
  if (find_user(context.db, id)) return Error{Errc::conflict, "id: is in use"};
  if (count(context.db, "SELECT count(*) FROM users WHERE id <> ?", "") >= kUsersMax)
    return Error{Errc::busy, "there are as many users as a box can have: delete some first"};
  run(context.db, "INSERT INTO users VALUES (?, ?, ?, ?, ?, 0, 0, 0, NULL, ?, NULL, '', 1)", id, username,
      display_name, to_string(role), password_hash, context.now);
  context.audit("user.create", id, Fields().set("username", username).set("role", to_string(role)));
  context.changed(Change::Kind::users, id);
  return id;
}

Result<Fields> apply_user_create(Context& context) {
  SAMOVAR_TRY(const Role role, read_role(context.body));
  SAMOVAR_TRY(const std::string id, insert_user(context, context.body, role));
  return Fields().set("id", id);
}

Result<Fields> apply_user_update(Context& context) {
  SAMOVAR_TRY(const User before, need_user(context, "id"));
  SAMOVAR_CHECK(check_revision(context, before.revision));
  SAMOVAR_TRY(const auto display_name, context.body.optional_text("display_name", kDisplayNameBytesMax));
  SAMOVAR_TRY(const auto disabled, context.body.optional_flag("disabled"));
  Role role = before.role;
  if (context.body.has("role")) {
    SAMOVAR_TRY(role, read_role(context.body));
  }
  const bool disables = disabled.value_or(before.disabled) && !before.disabled;
  const bool other_role = role != before.role;
  if (context.actor.user_id == before.id && (other_role || disables)) return refuse(Refusal::own_account);
  if ((other_role || disables) && is_last_admin(context, before)) return refuse(Refusal::last_admin);

  run(context.db,
      "UPDATE users SET display_name = ?, role = ?, disabled = ?, revision = revision + 1 WHERE id = ?",
      display_name.value_or(before.display_name), to_string(role), disabled.value_or(before.disabled),
      before.id);
  // Rights are looked up with each request; ending the sessions makes people see their new ones.
  if (other_role || disables) end_sessions_of(context, before.id, {});
  Fields details;
  details.set("username", before.username);
  if (other_role) details.set("role", to_string(role)).set("role_before", to_string(before.role));
  if (disabled && *disabled != before.disabled) details.set("disabled", *disabled);
  if (display_name) details.set("display_name_changed", *display_name != before.display_name);
  context.audit("user.update", before.id, details);
  context.changed(Change::Kind::users, before.id);
  return Fields().set("id", before.id);
}

Result<Fields> apply_user_delete(Context& context) {
  SAMOVAR_TRY(const User user, need_user(context, "id"));
  SAMOVAR_CHECK(check_revision(context, user.revision));
  if (context.actor.user_id == user.id) return refuse(Refusal::own_account);
  if (is_last_admin(context, user)) return refuse(Refusal::last_admin);
  // To nobody in silence: whoever is given them may read their rows from then on.
  if (count(context.db, "SELECT count(*) FROM datasets WHERE owner_id = ?", user.id) > 0)
    return refuse(Refusal::owns_datasets);
  if (count(context.db, "SELECT count(*) FROM models WHERE owner_id = ?", user.id) > 0)
    return refuse(Refusal::owns_models);
  end_sessions_of(context, user.id, {});
  run(context.db,
      "UPDATE operations SET state = 'cancelled', ended_us = ? WHERE owner_id = ? AND state = 'queued'",
      context.now, user.id);
  if (context.db.changes() > 0) context.changed(Change::Kind::operations);
  cancel_jobs_of(context, user.id);
  run(context.db,
      "UPDATE datasets SET revision = revision + 1 WHERE id IN (SELECT dataset_id FROM dataset_grants WHERE "
      "user_id = ?)",
      user.id);
  if (context.db.changes() > 0) context.changed(Change::Kind::datasets);
  run(context.db,
      "UPDATE models SET revision = revision + 1 WHERE key IN (SELECT model_key FROM model_grants WHERE "
      "user_id = ?)",
      user.id);
  if (context.db.changes() > 0) context.changed(Change::Kind::models);
  for (const char* sql :
       {"DELETE FROM tokens WHERE user_id = ?", "DELETE FROM devices WHERE user_id = ?",
        "DELETE FROM responses WHERE user_id = ?", "DELETE FROM dataset_grants WHERE user_id = ?",
        "DELETE FROM model_grants WHERE user_id = ?", "DELETE FROM users WHERE id = ?"})
    run(context.db, sql, user.id);
  context.audit("user.delete", user.id, Fields().set("username", user.username));
  context.changed(Change::Kind::users, user.id);
  context.changed(Change::Kind::tokens);
  return Fields().set("id", user.id);
}

Result<Fields> apply_user_set_password(Context& context) {
  SAMOVAR_TRY(const User user, need_user(context, "id"));
  SAMOVAR_TRY(const std::string hash, context.body.text("password_hash", kPasswordHashBytesMax, 1));
  SAMOVAR_TRY(const std::string keep, context.body.text("keep_session_id", 64));
  run(context.db,
      "UPDATE users SET password_hash = ?, failed = 0, locked_until_us = NULL, revision = revision + 1 WHERE "
      "id = ?",
      hash, user.id);
  // Whoever knew the old password may have a browser that is trusted since.
  run(context.db, "DELETE FROM devices WHERE user_id = ?", user.id);
  end_sessions_of(context, user.id, keep);
  context.audit("user.set_password", user.id, Fields().set("username", user.username));
  context.changed(Change::Kind::users, user.id);
  return Fields().set("id", user.id);
}

Result<Fields> apply_user_unlock(Context& context) {
  SAMOVAR_TRY(const User user, need_user(context, "id"));
  run(context.db, "UPDATE users SET failed = 0, locked_until_us = NULL, revision = revision + 1 WHERE id = ?",
      user.id);
  run(context.db, "UPDATE devices SET failed = 0, locked_until_us = NULL WHERE user_id = ?", user.id);
  context.audit("user.unlock", user.id, Fields().set("username", user.username));
  context.changed(Change::Kind::users, user.id);
  return Fields().set("id", user.id);
}

}  // namespace samovar::cluster
