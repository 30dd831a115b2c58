#include "security/setup_code.hpp"

#include "base/encoding.hpp"
#include "security/secret_bytes.hpp"
#include "security/short_id.hpp"

namespace samovar::security {

std::string make_setup_code(Rng& rng) {
  Bytes bytes(5);  // 40 bit, 8 characters
  rng.fill(bytes);
  return short_form(base32_encode(bytes));
}

bool setup_code_matches(std::string_view typed, std::string_view actual) {
  // Far longer than any slip: do not even copy it.
  if (typed.size() > 64) return false;
  const std::string a = base32_normalize(typed);
  const std::string b = base32_normalize(actual);
  return !b.empty() && equal_constant_time(as_bytes(a), as_bytes(b));
}

}  // namespace samovar::security
