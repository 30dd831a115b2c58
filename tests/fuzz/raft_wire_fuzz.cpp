// Messages of the consensus log from other members: decoded strictly, and one spelling per message.
#include <cstdint>
#include <cstdlib>

#include "daemon/raft/wire.hpp"

using namespace samovar;
using namespace samovar::raft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView bytes(data, size);
  ignore(decode_servers(bytes), "fuzz");
  const auto message = decode(bytes);
  if (!message) return 0;
  const Bytes again = encode(*message);
  // The padding of a list of members is libraft's garbage: a snapshot may come back with zeros there.
  if (std::holds_alternative<SnapshotMessage>(*message)) {
    const auto second = decode(again);
    if (!second || encode(*second) != again) std::abort();
    return 0;
  }
  if (again != to_bytes(bytes)) std::abort();
  return 0;
}
