// The node id's spelling: identity.hpp, docs/formats/identity.md.
#include "base/assert.hpp"
#include "base/encoding.hpp"
#include "security/hash.hpp"
#include "security/identity.hpp"
#include "security/short_id.hpp"

namespace samovar::security {
namespace {

constexpr std::string_view kAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr std::size_t kHashChars = 32;  // 160 bit
constexpr std::size_t kIdChars = kHashChars + 2;

// The id as a number in base 32, modulo the prime 1021: every wrong character, and every two
// characters swapped, change it, for 32 has order 68 modulo 1021, more than the id is long.
std::string check_characters(std::string_view base32) {
  std::size_t rest = 0;
  for (const char c : base32) {
    const std::size_t digit = kAlphabet.find(c);
    SAMOVAR_ASSERT(digit != std::string_view::npos);
    rest = (rest * 32 + digit) % 1021;
  }
  return {kAlphabet[rest / 32], kAlphabet[rest % 32]};
}

}  // namespace

std::string node_id_of(ByteView tls_public_key) {
  std::string id = base32_encode(blake2b(20, tls_public_key));
  id += check_characters(id);
  return id;
}

Result<std::string> parse_node_id(std::string_view typed) {
  const Error wrong{Errc::invalid,
                    "this is not a node id: it has 34 letters and digits, and one of these is wrong"};
  if (typed.size() > 3 * kIdChars) return wrong;
  std::string id = base32_normalize(typed);
  if (id.size() != kIdChars || id.find_first_not_of(kAlphabet) != std::string::npos) return wrong;
  if (check_characters(std::string_view(id).substr(0, kHashChars)) != id.substr(kHashChars)) return wrong;
  return id;
}

std::string short_node_id(std::string_view node_id) { return short_form(node_id); }

}  // namespace samovar::security
