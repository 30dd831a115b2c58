// The decoder of stored password hashes, and the policy that reads what people choose.
#include <cstdint>

#include "security/password.hpp"

using namespace samovar;
using namespace samovar::security;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = as_text({data, size});
  if (auto stored = decode_password_hash(text)) {
    if (encode_password_hash(*stored) != text || !cost_in_bounds(stored->cost)) __builtin_trap();
  }
  const std::size_t half = size / 2;
  auto fine = check_password_policy(text, text.substr(0, std::min<std::size_t>(half, 12)), text.substr(half));
  if (fine && (size < kPasswordCharsMin || size > kPasswordBytesMax)) __builtin_trap();
  return 0;
}
