// A secret wrapped by a password: Argon2id, then XChaCha20-Poly1305. The cluster CA's key is kept so,
// under each admin's password; the keyring uses the same record for the passphrase.
//
// Threading: any thread; blocks for the cost (see hash_gate.hpp).
// Format:    docs/formats/keyring.md, "Password wrap"
#pragma once
#include <string_view>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "security/argon2.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::security {

inline constexpr std::size_t kWrappedSecretBytesMax = 4096;

// `aad` binds the wrap to its place (wrap_aad of aead.hpp): moved elsewhere it does not open.
Result<Bytes> wrap_secret_with_password(const SecretBytes& secret, ByteView password, ByteView aad,
                                        const Argon2Cost& cost = kPassphraseCost);
// Errc::denied for a wrong password, Errc::corrupt for damaged bytes: the record carries a checksum.
Result<SecretBytes> unwrap_secret_with_password(ByteView wrapped, ByteView password, ByteView aad);

}  // namespace samovar::security
