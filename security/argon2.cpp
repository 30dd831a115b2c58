#include "security/argon2.hpp"

#include <sodium.h>

#include "security/memory_lock.hpp"

namespace samovar::security {

static_assert(kArgon2SaltBytes == crypto_pwhash_argon2id_SALTBYTES);
static_assert(std::uint64_t{kTestCost.memory_kib} * 1024 >= crypto_pwhash_argon2id_MEMLIMIT_MIN);

bool cost_in_bounds(const Argon2Cost& cost) noexcept {
  return cost.memory_kib >= kTestCost.memory_kib && cost.memory_kib <= kArgon2MemoryKibMax &&
         cost.passes >= 1 && cost.passes <= kArgon2PassesMax;
}

Argon2Salt random_salt() {
  ensure_sodium();
  Argon2Salt salt;
  randombytes_buf(salt.data(), salt.size());
  return salt;
}

Result<SecretBytes> argon2id(ByteView password, const Argon2Salt& salt, const Argon2Cost& cost) {
  if (!cost_in_bounds(cost)) return Error{Errc::invalid, "this Argon2id cost is out of bounds"};
  SecretBytes out(32);
  // libsodium wants a pointer even for an empty password.
  const char* text = password.empty() ? "" : reinterpret_cast<const char*>(password.data());
  const int failed = crypto_pwhash_argon2id(out.mutable_view().data(), out.size(), text, password.size(),
                                            salt.data(), cost.passes, std::size_t{cost.memory_kib} * 1024,
                                            crypto_pwhash_argon2id_ALG_ARGON2ID13);
  if (failed != 0)
    return Error{Errc::unavailable, "not enough memory to check a password (" +
                                        std::to_string(cost.memory_kib / 1024) +
                                        " MiB needed): free some memory and try again"};
  return out;
}

}  // namespace samovar::security
