// A datagram of multicast DNS: read, and answered as a node would, from either kind of port.
#include <cstdint>

#include "daemon/discovery/mdns_names.hpp"

using namespace samovar;
using namespace samovar::discovery;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView input(data, size);
  const auto message = read_mdns(input);
  for (const std::uint16_t port : {kMdnsPort, std::uint16_t{40000}}) {
    MdnsNames names;
    names.set({{"samovar.local", true}, {"samovar-k7q2.local", false}});
    const auto reply = names.hear(std::chrono::hours(1), input, {"10.0.0.8", port, 2},
                                  {"10.0.0.7", "fd00::7"}, {"10.0.0.7"});
    if (!reply) continue;
    // Only a question is answered, and what we say we understand ourselves.
    if (!message || message->response) __builtin_trap();
    const auto said = read_mdns(reply->bytes);
    if (!said || !said->response || said->answers.empty() || reply->bytes.size() > 512) __builtin_trap();
  }
  return 0;
}
