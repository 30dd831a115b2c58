// API tokens "smv_<8 id>_<43 secret>_<6 check>" and session secrets.
//
// At rest there is only a keyed hash. The check characters let a truncated or mistyped token be
// refused before any look-up, and let scanners find leaked ones.
//
// Threading: any thread.
// Format:    docs/formats/token.md
#pragma once
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/rng.hpp"
#include "security/hash.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::security {

inline constexpr std::size_t kTokenChars = 63;
inline constexpr std::string_view kTokenPrefix = "smv_";

struct NewToken {
  std::string id;    // 8 characters, public
  std::string text;  // the whole token, shown once; wipe() it afterwards
};
struct ParsedToken {
  std::string id;
  SecretBytes secret;  // 32 bytes
};

NewToken make_token(Rng& rng);
// Errc::invalid for anything that is not exactly a token; the message never repeats the input.
Result<ParsedToken> parse_token(std::string_view text);
bool looks_like_token(std::string_view text) noexcept;  // by its prefix

// What is stored. The pepper is derive(cmk, purpose::kPepper).
Hash256 token_hash(const SecretBytes& pepper, const ParsedToken& token);
// Constant time.
bool hashes_equal(const Hash256& a, const Hash256& b) noexcept;

// 43 characters, 256 bit: the cookie's or bearer's value.
std::string make_session_secret(Rng& rng);
// Errc::invalid unless it has the form of one.
Result<Hash256> session_hash(const SecretBytes& pepper, std::string_view session_secret);
// The X-CSRF value of a session, 43 characters. The key is derive(cmk, purpose::kCsrf).
std::string csrf_value(const SecretBytes& csrf_key, const Hash256& session);
bool csrf_matches(const SecretBytes& csrf_key, const Hash256& session, std::string_view presented);

}  // namespace samovar::security
