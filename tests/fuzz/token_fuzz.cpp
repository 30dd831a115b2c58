// API tokens, session secrets, set-up codes and node ids: everything people paste or type.
#include <cstdint>
#include <string>

#include "base/encoding.hpp"
#include "security/identity.hpp"
#include "security/setup_code.hpp"
#include "security/token.hpp"

using namespace samovar;
using namespace samovar::security;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = as_text({data, size});
  static const SecretBytes kPepper = SecretBytes::copy_of(Bytes(32, 7));
  if (auto token = parse_token(text)) {
    // What parses is spelled in one way only.
    const std::string again = "smv_" + token->id + "_" + base64url_encode(token->secret.view());
    if (text.substr(0, again.size()) != again) __builtin_trap();
    static_cast<void>(token_hash(kPepper, *token));
  }
  ignore(session_hash(kPepper, text), "fuzz");
  static_cast<void>(csrf_matches(kPepper, Hash256{}, text));
  if (setup_code_matches(text, "K7Q2-M4XP") && text.size() < 8) __builtin_trap();
  if (auto id = parse_node_id(text)) {
    if (*parse_node_id(*id) != *id) __builtin_trap();
  }
  return 0;
}
