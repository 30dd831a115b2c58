#include "daemon/recover_alone.hpp"

#include <fmt/format.h>

#include "base/log.hpp"
#include "daemon/console.hpp"
#include "daemon/raft/consensus_log.hpp"
#include "security/identity.hpp"
#include "security/kdf.hpp"
#include "security/keyring.hpp"

namespace samovar::daemon {
namespace {

constexpr const char* kWarning =
    "  This node becomes the only member of its cluster's state. Do this only when most of the other nodes\n"
    "  are lost for good: what only they had is lost, and they must never come back with their old disks.\n"
    "  Copy the state directory away first.";

Result<security::SecretBytes> master_key(const Config& config, const security::Keyring& keyring) {
  if (keyring.has_key_file()) {
    auto bytes = real_disk().read_file(config.key_path(), security::kKeyFileBytesMax);
    if (bytes) {
      auto cmk = keyring.unlock_with_key_file(*bytes);
      security::wipe(*bytes);
      return cmk;
    }
    if (!keyring.has_passphrase())
      return std::move(bytes).error().within("the key file " + config.key_path());
  }
  SAMOVAR_TRY(const auto passphrase, ask_passphrase());
  return keyring.unlock(passphrase.view());
}

}  // namespace

Result<std::string> recover_alone(const Config& config, const std::string& typed_id) {
  Disk& disk = real_disk();
  SAMOVAR_TRY(const auto state, StateDir::open(disk, config.state_dir));
  SAMOVAR_TRY(const auto found, state->look());
  if (found != StateDir::Found::set_up)
    return Error{Errc::conflict, fmt::format("{} holds no node that is set up", state->path())};
  SAMOVAR_TRY(const std::string short_id, short_id_of(*state));
  SAMOVAR_CHECK(confirm_node(short_id, typed_id, kWarning, "--yes-alone"));
  SAMOVAR_TRY(const auto identity, security::load_identity(disk, state->identity()));
  SAMOVAR_TRY(const Bytes encoded, disk.read_file(state->keyring(), security::kKeyringBytesMax));
  SAMOVAR_TRY(const auto keyring, security::Keyring::decode(encoded));
  SAMOVAR_TRY(const auto cmk, master_key(config, keyring));
  raft::ConsensusOptions options;
  options.dir = state->raft();
  options.cluster_id = keyring.cluster_id();
  options.node_id = identity.node_id;
  options.key_generation = keyring.generation();
  // First the note for the audit log: a cut between the two must not leave a recovery that nobody recorded.
  SAMOVAR_CHECK(disk.write_file(state->recovered(), as_bytes(short_id)));
  auto done =
      raft::ConsensusLog::recover_alone(disk, options, security::derive(cmk, security::purpose::kRaft));
  if (!done) {
    static_cast<void>(disk.remove(state->recovered()));
    return std::move(done).error();
  }
  SAMOVAR_LOG(warn, main, "this node goes on alone", kv("node", short_id));
  return fmt::format(
      "Node {} is now the only member of its cluster's state. Start it, remove the lost nodes under Nodes, "
      "and let new\n"
      "ones join. This act is written into the audit log at the start.\n",
      short_id);
}

}  // namespace samovar::daemon
