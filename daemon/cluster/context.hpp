// What a command sees while it is applied: the database inside a transaction, who acts, and when.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "daemon/cluster/command.hpp"
#include "daemon/cluster/sqlite.hpp"
#include "daemon/cluster/types.hpp"

namespace samovar::cluster {

class Context {
 public:
  Context(Db& database, const Command& what, std::uint64_t log_index, WallTime cluster_now)
      : db(database), command(what), body(what.body), actor(what.actor), index(log_index), now(cluster_now) {}

  Db& db;
  const Command& command;
  const Fields& body;
  const Actor& actor;
  const std::uint64_t index;
  const WallTime now;  // cluster time: never before that of the command before

  // Records the act in the same transaction. Returns its seq.
  std::uint64_t audit(std::string_view action, std::string_view object, const Fields& details = {},
                      std::string_view result = "ok");
  void changed(Change::Kind kind, std::string_view id = {});

  std::vector<Change> changes;
};

// A command's reply holds what the caller cannot know: ids, numbers.
using ApplyFunction = Result<Fields> (*)(Context& context);

struct CommandEntry {
  std::string_view type;
  ApplyFunction apply;
  std::int64_t level = 1;  // the command version that brought it
  // The entries that brought the keys are still in the log: every node gets rid of them soon.
  bool destroys_keys = false;
};
// Null for an unknown type.
const CommandEntry* find_command(std::string_view type);

// commands_cluster.cpp
Result<Fields> apply_cluster_init(Context& context);
Result<Fields> apply_cluster_update(Context& context);
// commands_nodes.cpp
Result<Fields> apply_node_put(Context& context);
Result<Fields> apply_node_admit(Context& context);
Result<Fields> apply_node_drain(Context& context);
Result<Fields> apply_node_remove(Context& context);
// commands_copies.cpp
Result<Fields> apply_copies_change(Context& context);
// commands_users.cpp
Result<Fields> apply_user_create(Context& context);
Result<Fields> apply_user_update(Context& context);
Result<Fields> apply_user_delete(Context& context);
Result<Fields> apply_user_set_password(Context& context);
Result<Fields> apply_user_unlock(Context& context);
// commands_login.cpp
Result<Fields> apply_login(Context& context);
Result<Fields> apply_login_failed(Context& context);
// commands_sessions.cpp
Result<Fields> apply_session_reauth(Context& context);
Result<Fields> apply_session_end(Context& context);
Result<Fields> apply_session_touch(Context& context);
// commands_tokens.cpp
Result<Fields> apply_token_create(Context& context);
Result<Fields> apply_token_delete(Context& context);
Result<Fields> apply_token_touch(Context& context);
// commands_settings.cpp
Result<Fields> apply_setting_put(Context& context);
Result<Fields> apply_audit_record(Context& context);
Result<Fields> apply_response_save(Context& context);
// commands_datasets.cpp
Result<Fields> apply_dataset_update(Context& context);
Result<Fields> apply_dataset_bin(Context& context);
Result<Fields> apply_dataset_restore(Context& context);
Result<Fields> apply_dataset_destroy(Context& context);
Result<Fields> apply_dataset_grant(Context& context);
Result<Fields> apply_dataset_ungrant(Context& context);
Result<Fields> apply_dataset_mark(Context& context);
// commands_manifest.cpp
Result<Fields> apply_dataset_commit(Context& context);
// commands_operations.cpp
Result<Fields> apply_operation_begin(Context& context);
Result<Fields> apply_operation_end(Context& context);
// commands_jobs.cpp
Result<Fields> apply_job_begin(Context& context);
Result<Fields> apply_job_checkpoint(Context& context);
Result<Fields> apply_job_end(Context& context);
Result<Fields> apply_job_plan(Context& context);
Result<Fields> apply_job_priority(Context& context);
Result<Fields> apply_job_protect(Context& context);
Result<Fields> apply_job_remove(Context& context);
Result<Fields> apply_job_take(Context& context);
// commands_model_commit.cpp
Result<Fields> apply_model_commit(Context& context);
// commands_models.cpp
Result<Fields> apply_model_update(Context& context);
Result<Fields> apply_model_promote(Context& context);
Result<Fields> apply_model_rollback(Context& context);
Result<Fields> apply_model_grant(Context& context);
Result<Fields> apply_model_ungrant(Context& context);
Result<Fields> apply_model_protect(Context& context);
Result<Fields> apply_model_remove(Context& context);

// Used by several of them.
Result<User> need_user(Context& context, std::string_view field);
Result<void> check_revision(Context& context, std::uint64_t current);
// Creates the row and its audit entry; shared by set-up and user.create.
Result<std::string> insert_user(Context& context, const Fields& from, Role role);
void end_sessions_of(Context& context, const std::string& user_id, const std::string& keep_session_id);

}  // namespace samovar::cluster
