#include "daemon/factory_reset.hpp"

#include <fmt/format.h>

#include "base/log.hpp"
#include "daemon/console.hpp"

namespace samovar::daemon {
namespace {

constexpr const char* kWarning =
    "  A factory reset destroys this node's keys, its copy of the cluster's state and of all data.\n"
    "  Copies on other nodes stay. If it is a member of a cluster, remove it there first.";

}  // namespace

Result<std::string> factory_reset(const Config& config, const std::string& typed_id) {
  SAMOVAR_TRY(const auto state, StateDir::open(real_disk(), config.state_dir));
  if (const auto found = state->look(); found && *found == StateDir::Found::wiping) {
    SAMOVAR_CHECK(state->wipe(config.key_path()));
    return std::string("The factory reset that was cut off is done: this is a new node.\n");
  }
  SAMOVAR_TRY(const std::string short_id, short_id_of(*state));
  SAMOVAR_CHECK(confirm_node(short_id, typed_id, kWarning, "--yes-wipe"));
  SAMOVAR_CHECK(state->wipe(config.key_path()));
  SAMOVAR_LOG(warn, main, "factory reset: this is a new node", kv("was", short_id));
  return fmt::format("Node {} is no more: at its next start it is a new one.\n", short_id);
}

}  // namespace samovar::daemon
