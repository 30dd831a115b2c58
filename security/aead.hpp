// XChaCha20-Poly1305 (IETF): the one cipher of the product.
//
// Threading: any thread.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::security {

inline constexpr std::size_t kAeadKeyBytes = 32;
inline constexpr std::size_t kAeadNonceBytes = 24;
inline constexpr std::size_t kAeadTagBytes = 16;
inline constexpr std::size_t kSealOverheadBytes = kAeadNonceBytes + kAeadTagBytes;

// nonce (random) ‖ ciphertext ‖ tag. The key has kAeadKeyBytes.
Bytes seal(const SecretBytes& key, ByteView plain, ByteView aad);
// Errc::corrupt when the bytes, the aad or the key are not those of seal.
Result<Bytes> open(const SecretBytes& key, ByteView sealed, ByteView aad);
Result<SecretBytes> open_secret(const SecretBytes& key, ByteView sealed, ByteView aad);

// The aad of a wrapped key, each part with its length so that no two meanings share their bytes.
Bytes wrap_aad(std::string_view purpose, std::string_view object_id, std::uint64_t generation);

// For formats that make their own, never repeating nonces. `out` has plain.size() + kAeadTagBytes.
using AeadNonce = std::array<std::uint8_t, kAeadNonceBytes>;
void seal_with_nonce(const SecretBytes& key, const AeadNonce& nonce, ByteView plain, ByteView aad,
                     MutableBytes out);
// False when it does not verify; `out` has sealed.size() - kAeadTagBytes and is then zeros.
[[nodiscard]] bool open_with_nonce(const SecretBytes& key, const AeadNonce& nonce, ByteView sealed,
                                   ByteView aad, MutableBytes out);

}  // namespace samovar::security
