// Keyring files, key files and password wraps. The checksum stops most mutations at the door, so each
// input is tried as it is and with a checksum that fits.
#include <cstdint>

#include "security/hash.hpp"
#include "security/keyring.hpp"
#include "security/password_wrap.hpp"

using namespace samovar;
using namespace samovar::security;

namespace {

Bytes with_checksum(ByteView body, std::size_t size) {
  Bytes out = to_bytes(body);
  const Bytes checksum = blake2b(size, body);
  out.insert(out.end(), checksum.begin(), checksum.end());
  return out;
}

void try_keyring(ByteView bytes) {
  auto keyring = Keyring::decode(bytes);
  if (!keyring) return;
  if (keyring->encode() != to_bytes(bytes)) __builtin_trap();  // one spelling only
  // Not unlocked: its cost may be high within bounds, and that is what a fuzzer would find.
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView input(data, size);
  try_keyring(input);
  try_keyring(with_checksum(input, 32));
  ignore(read_key_file_info(input), "fuzz");
  ignore(read_key_file_info(with_checksum(input, 32)), "fuzz");
  ignore(unwrap_secret_with_password(input, as_bytes("x"), {}), "fuzz");
  // Force the cheapest cost so that the path behind Argon2id is reached quickly.
  Bytes wrap = to_bytes(input);
  constexpr std::uint8_t kCheap[8] = {8, 0, 0, 0, 1, 0, 0, 0};
  for (std::size_t i = 0; i < sizeof kCheap && 6 + i < wrap.size(); ++i) wrap[6 + i] = kCheap[i];
  ignore(unwrap_secret_with_password(with_checksum(wrap, 16), as_bytes("x"), {}), "fuzz");
  return 0;
}
