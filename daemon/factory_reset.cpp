#include "daemon/factory_reset.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "base/disk.hpp"
#include "base/encoding.hpp"
#include "base/log.hpp"
#include "daemon/state_dir.hpp"
#include "security/identity.hpp"

namespace samovar::daemon {
namespace {

constexpr std::size_t kIdBytesMax = 256;

// Without the keys: a damaged identity must not keep anybody from a reset.
Result<std::string> short_id_of(const StateDir& state) {
  auto bytes = real_disk().read_file(state.identity() + "/node.id", kIdBytesMax);
  if (!bytes)
    return Error{Errc::not_found, fmt::format("{} holds no node: there is nothing to reset", state.path())};
  return security::short_node_id(as_text(*bytes));
}

Result<std::string> ask(const std::string& short_id) {
  if (isatty(STDIN_FILENO) == 0)
    return Error{Errc::invalid,
                 "a factory reset is confirmed at the console; a script says --yes-wipe with the node's id"};
  std::fputs(
      fmt::format("\n  A factory reset destroys this node's keys, its copy of the cluster's state and of all "
                  "data.\n  Copies on other nodes stay. If it is a member of a cluster, remove it there "
                  "first.\n\n  Node {}. Type its id to go on: ",
                  short_id)
          .c_str(),
      stdout);
  std::fflush(stdout);
  char line[128] = {};
  if (std::fgets(line, sizeof line, stdin) == nullptr) return Error{Errc::invalid, "nothing was typed"};
  return std::string(line);
}

// The short form, or the whole id.
bool names(const std::string& typed, const std::string& short_id) {
  std::string plain = base32_normalize(typed);
  while (!plain.empty() && (plain.back() == '\n' || plain.back() == '\r')) plain.pop_back();
  return plain.size() >= 8 && plain.substr(0, 8) == base32_normalize(short_id);
}

}  // namespace

Result<std::string> factory_reset(const Config& config, const std::string& typed_id) {
  SAMOVAR_TRY(const auto state, StateDir::open(real_disk(), config.state_dir));
  if (const auto found = state->look(); found && *found == StateDir::Found::wiping) {
    SAMOVAR_CHECK(state->wipe(config.key_path()));
    return std::string("The factory reset that was cut off is done: this is a new node.\n");
  }
  SAMOVAR_TRY(const std::string short_id, short_id_of(*state));
  std::string typed = typed_id;
  if (typed.empty()) {
    SAMOVAR_TRY(typed, ask(short_id));
  }
  if (!names(typed, short_id))
    return Error{Errc::denied,
                 fmt::format("that is not the id of this node ({}): nothing was changed", short_id)};
  SAMOVAR_CHECK(state->wipe(config.key_path()));
  SAMOVAR_LOG(warn, main, "factory reset: this is a new node", kv("was", short_id));
  return fmt::format("Node {} is no more: at its next start it is a new one.\n", short_id);
}

}  // namespace samovar::daemon
