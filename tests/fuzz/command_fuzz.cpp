// Commands from the log: whatever the bytes, an answer and a state that keeps its rules.
#include <sodium.h>

#include <cstdint>
#include <cstdlib>
#include <memory>

#include "daemon/cluster/command.hpp"
#include "daemon/cluster/state_machine.hpp"

using namespace samovar;
using namespace samovar::cluster;

namespace {

std::unique_ptr<ClusterMachine> set_up() {
  if (sodium_init() < 0) std::abort();
  auto machine = ClusterMachine::create();
  if (!machine) std::abort();
  Fields admin;
  admin.set("id", "usr_admin").set("username", "anna").set("display_name", "").set("password_hash", "$h");
  Command init;
  init.type = "cluster.init";
  init.actor = Actor::system();
  init.body.set("id", "clu_1").set("name", "box").set("time_zone", "UTC").set("admin", admin);
  if (!decode_reply((*machine)->apply(1, encode_command(init)))) std::abort();
  return *std::move(machine);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::unique_ptr<ClusterMachine> kMachine = set_up();
  static std::uint64_t index = 1;
  const ByteView bytes(data, size);
  if (const auto command = decode_command(bytes)) {
    // What decodes comes back the same.
    const auto again = decode_command(encode_command(*command));
    if (!again || again->type != command->type || again->body.to_json() != command->body.to_json())
      std::abort();
  }
  const Bytes reply = kMachine->apply(++index, bytes);
  if (!Fields::decode(reply)) std::abort();
  ignore(decode_reply(reply), "either answer is fine");
  Query admins(kMachine->db(), "SELECT count(*) FROM users WHERE role = 'admin' AND disabled = 0");
  if (!admins.next() || admins.number(0) < 1) std::abort();
  Query orphans(kMachine->db(),
                "SELECT count(*) FROM dataset_keys WHERE dataset_id NOT IN (SELECT id FROM datasets)");
  if (!orphans.next() || orphans.number(0) != 0) std::abort();
  Query holders(kMachine->db(),
                "SELECT (SELECT count(*) FROM members WHERE node_id NOT IN (SELECT id FROM nodes)) + (SELECT "
                "count(*) FROM copies c JOIN members m ON m.node_id = c.node_id WHERE m.state = 'removed')");
  if (!holders.next() || holders.number(0) != 0) std::abort();
  Query strays(
      kMachine->db(),
      "SELECT (SELECT count(*) FROM model_versions WHERE model_key NOT IN (SELECT key FROM models)) + "
      "(SELECT count(*) FROM models WHERE key NOT IN (SELECT model_key FROM model_versions)) + "
      "(SELECT count(*) FROM models m WHERE serving > 0 AND NOT EXISTS (SELECT 1 FROM model_versions v "
      "WHERE v.model_key = m.key AND v.version = m.serving AND v.stage = 'production'))");
  if (!strays.next() || strays.number(0) != 0) std::abort();
  ignore(decode_reply(bytes), "replies are read from the log's state too");
  return 0;
}
