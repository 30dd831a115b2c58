// Images of the state's database. A damaged one is refused or harmless, and the machine goes on.
#include <sodium.h>

#include <cstdint>
#include <cstdlib>

#include "daemon/cluster/state_machine.hpp"

using namespace samovar;
using namespace samovar::cluster;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool kReady = sodium_init() >= 0;
  if (!kReady) std::abort();
  auto machine = ClusterMachine::create();
  if (!machine) std::abort();
  const auto restored = (*machine)->restore({data, size});
  static_cast<void>((*machine)->state_hash());
  Command command;
  command.type = "user.unlock";
  command.body.set("id", "usr_admin");
  command.actor = Actor::system();
  const Bytes reply = (*machine)->apply(2, encode_command(command));
  if (!Fields::decode(reply)) std::abort();
  if (restored && !(*machine)->snapshot()) std::abort();
  return 0;
}
