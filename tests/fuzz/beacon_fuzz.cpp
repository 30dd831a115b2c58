// A datagram of discovery, as it is and once more with a signature that fits.
#include <cstdint>

#include "daemon/discovery/beacon.hpp"
#include "daemon/discovery/neighbour_table.hpp"

using namespace samovar;
using namespace samovar::discovery;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView input(data, size);
  static const security::NodeIdentity identity = *security::make_identity();
  const auto beacon = read_beacon(input);
  const bool good = beacon && beacon_signature_fits(input);
  if (good != decode_beacon(input).has_value()) __builtin_trap();
  if (beacon) {
    // What it says can be said by an honest node, too, and is understood the same.
    const auto again = encode_beacon(*beacon, identity);
    if (!again || again->size() > kBeaconBytesMax) __builtin_trap();
    const auto back = decode_beacon(*again);
    if (!back || back->hostname != beacon->hostname || back->boot != beacon->boot ||
        back->cluster_tag != beacon->cluster_tag)
      __builtin_trap();
  }
  NeighbourTable table("me", 1);
  const Heard heard = table.hear(std::chrono::hours(1), input, {"10.0.0.7", "eth0", true});
  if ((heard == Heard::fresh) != good || table.size() != (good ? 1u : 0u)) __builtin_trap();
  return 0;
}
