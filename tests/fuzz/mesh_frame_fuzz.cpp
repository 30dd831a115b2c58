// What a member could send before and after its greeting: heads of frames, greetings, last words; and the
// addresses that people and beacons give.
#include <cstdint>
#include <cstdlib>

#include "daemon/net/address.hpp"
#include "daemon/net/frame.hpp"

using namespace samovar;
using namespace samovar::net;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const ByteView body(data + 1, size - 1);
  switch (data[0] % 4) {
    case 0: {
      FrameHeadBytes bytes{};
      if (body.size() < bytes.size()) return 0;
      std::copy_n(body.begin(), bytes.size(), bytes.begin());
      const auto head = decode_head(bytes, 4u << 20);
      if (!head) return 0;
      if (head->bytes > (4u << 20) || encode_head(*head) != bytes) std::abort();
      return 0;
    }
    case 1: {
      const auto hello = decode_hello(body);
      if (!hello) return 0;
      // Bytes of a later version may follow what we know.
      const Bytes again = encode_hello(*hello);
      if (again.size() > body.size() || !std::equal(again.begin(), again.end(), body.begin())) std::abort();
      return 0;
    }
    case 2: {
      const auto bye = decode_bye(body);
      if (!bye) return 0;
      const auto again = decode_bye(encode_bye(*bye));
      if (!again || *again != *bye) std::abort();
      return 0;
    }
    default: {
      const auto parsed = parse_host_port(as_text(body), 7443);
      if (!parsed) return 0;
      const auto again = parse_host_port(format_host_port(*parsed));
      if (!again || again->host != parsed->host || again->port != parsed->port) std::abort();
      return 0;
    }
  }
}
