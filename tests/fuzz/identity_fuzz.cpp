// The node's identity file, as it is and with a checksum that fits.
#include <cstdint>

#include "security/hash.hpp"
#include "security/identity.hpp"

using namespace samovar;
using namespace samovar::security;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView input(data, size);
  ignore(decode_identity(input), "fuzz");
  Bytes checked = to_bytes(input);
  const Hash256 checksum = blake2b_256(input);
  checked.insert(checked.end(), checksum.begin(), checksum.end());
  if (auto identity = decode_identity(checked)) {
    if (!decode_identity(encode_identity(*identity).view())) __builtin_trap();
  }
  return 0;
}
