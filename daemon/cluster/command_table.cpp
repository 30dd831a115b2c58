// Every command there is. A new one: its apply function, and a line here.
#include <algorithm>
#include <array>

#include "daemon/cluster/context.hpp"

namespace samovar::cluster {
namespace {

constexpr std::array kCommands = {
    CommandEntry{"audit.record", apply_audit_record},
    CommandEntry{"cluster.init", apply_cluster_init},
    CommandEntry{"cluster.update", apply_cluster_update},
    CommandEntry{"copies.change", apply_copies_change, 2},
    CommandEntry{"dataset.bin", apply_dataset_bin},
    CommandEntry{"dataset.commit", apply_dataset_commit},
    CommandEntry{"dataset.destroy", apply_dataset_destroy, 1, true},
    CommandEntry{"dataset.grant", apply_dataset_grant},
    CommandEntry{"dataset.mark", apply_dataset_mark},
    CommandEntry{"dataset.restore", apply_dataset_restore},
    CommandEntry{"dataset.ungrant", apply_dataset_ungrant},
    CommandEntry{"dataset.update", apply_dataset_update},
    CommandEntry{"job.begin", apply_job_begin},
    CommandEntry{"job.checkpoint", apply_job_checkpoint},
    CommandEntry{"job.end", apply_job_end},
    CommandEntry{"job.plan", apply_job_plan, 3},
    CommandEntry{"job.priority", apply_job_priority, 4},
    CommandEntry{"job.protect", apply_job_protect},
    CommandEntry{"job.remove", apply_job_remove, 1, true},
    CommandEntry{"job.take", apply_job_take, 3},
    CommandEntry{"model.commit", apply_model_commit},
    CommandEntry{"model.grant", apply_model_grant},
    CommandEntry{"model.promote", apply_model_promote},
    CommandEntry{"model.protect", apply_model_protect},
    CommandEntry{"model.remove", apply_model_remove, 1, true},
    CommandEntry{"model.rollback", apply_model_rollback},
    CommandEntry{"model.ungrant", apply_model_ungrant},
    CommandEntry{"model.update", apply_model_update},
    CommandEntry{"node.admit", apply_node_admit, 2},
    CommandEntry{"node.drain", apply_node_drain, 2},
    CommandEntry{"node.put", apply_node_put},
    CommandEntry{"node.remove", apply_node_remove, 2},
    CommandEntry{"operation.begin", apply_operation_begin},
    CommandEntry{"operation.end", apply_operation_end},
    CommandEntry{"response.save", apply_response_save},
    CommandEntry{"session.end", apply_session_end},
    CommandEntry{"session.login", apply_login},
    CommandEntry{"session.login_failed", apply_login_failed},
    CommandEntry{"session.reauth", apply_session_reauth},
    CommandEntry{"session.touch", apply_session_touch},
    CommandEntry{"setting.put", apply_setting_put},
    CommandEntry{"token.create", apply_token_create},
    CommandEntry{"token.delete", apply_token_delete},
    CommandEntry{"token.touch", apply_token_touch},
    CommandEntry{"user.create", apply_user_create},
    CommandEntry{"user.delete", apply_user_delete},
    CommandEntry{"user.set_password", apply_user_set_password},
    CommandEntry{"user.unlock", apply_user_unlock},
    CommandEntry{"user.update", apply_user_update},
};

// Fields that came later than their command. Those of node.put are not here: a node says with it what it
// understands, and whoever does not know the field passes it over.
struct LaterField {
  std::string_view type;
  std::string_view field;
  std::int64_t level;
};
constexpr std::array kLaterFields = {
    LaterField{"dataset.commit", "source", 2},
    LaterField{"dataset.update", "copies", 2},
    LaterField{"job.begin", "node_id", 2},
    LaterField{"job.end", "node_id", 2},
    LaterField{"model.commit", "files", 2},
    LaterField{"operation.begin", "node_id", 2},
    LaterField{"dataset.commit", "holders", 2},
    LaterField{"dataset.commit", "must_be_held", 5},
    LaterField{"job.checkpoint", "name", 3},
    LaterField{"model.commit", "run", 4},
    LaterField{"job.begin", "priority", 4},
    LaterField{"node.remove", "losses_max", 7},
    LaterField{"model.commit", "must_be_held", 7},
    LaterField{"job.checkpoint", "must_be_held", 7},
    LaterField{"operation.begin", "must_be_member", 7},
};

}  // namespace

std::int64_t command_level(std::string_view type, const Fields& body) {
  const CommandEntry* entry = find_command(type);
  std::int64_t level = entry == nullptr ? 1 : entry->level;
  for (const LaterField& later : kLaterFields)
    if (later.type == type && body.has(later.field)) level = std::max(level, later.level);
  return level;
}

const CommandEntry* find_command(std::string_view type) {
  const auto found = std::find_if(kCommands.begin(), kCommands.end(),
                                  [&](const CommandEntry& entry) { return entry.type == type; });
  return found == kCommands.end() ? nullptr : &*found;
}

}  // namespace samovar::cluster
