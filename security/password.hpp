// Passwords of users: what we accept, how they are stored, how they are checked.
//
// Stored: "smvpw1$m=65536,t=3$<salt>$<hash>", hash = BLAKE2b-256 keyed with the pepper over the
// Argon2id output, so that a stolen state without the CMK cannot even be guessed at.
//
// Threading: any thread; hash, verify and dummy block for the cost: use HashGate (hash_gate.hpp).
#pragma once
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "security/argon2.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::security {

inline constexpr std::size_t kPasswordCharsMin = 12;
inline constexpr std::size_t kPasswordBytesMax = 1024;

// What the stored text holds. A hostile one cannot make us spend more than the bounds of argon2.hpp.
struct StoredPassword {
  Argon2Cost cost;
  Argon2Salt salt{};
  std::array<std::uint8_t, 32> hash{};
};
Result<StoredPassword> decode_password_hash(std::string_view stored);
std::string encode_password_hash(const StoredPassword& stored);

Result<std::string> hash_password(ByteView password, const SecretBytes& pepper,
                                  const Argon2Cost& cost = kPasswordCost);
// False for a wrong password; Errc::corrupt when `stored` is not ours.
Result<bool> verify_password(std::string_view stored, ByteView password, const SecretBytes& pepper);
// The work of verify_password for a user who does not exist, so that time tells nothing. Always false.
Result<bool> verify_nobody(ByteView password, const SecretBytes& pepper,
                           const Argon2Cost& cost = kPasswordCost);
// True when it was made with another cost: hash again at the next good log-in.
bool needs_rehash(std::string_view stored, const Argon2Cost& cost = kPasswordCost);

// Errc::invalid with a message for the person choosing: too short, common, a row of keys, or built on
// the user name or another known name (display name, box name; may be empty). Quick: any thread.
Result<void> check_password_policy(std::string_view password, std::string_view username,
                                   std::string_view other_name = {});
// The same rules for the passphrase of a box.
Result<void> check_passphrase_policy(std::string_view passphrase, std::string_view box_name = {});

}  // namespace samovar::security
