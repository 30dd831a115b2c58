// XChaCha20-Poly1305 for long messages: the same bytes as libsodium's, made by OpenSSL's vector code, which
// is two to three times as fast on x86 and ARM.
//
// Threading: any thread.
#pragma once
#include "base/bytes.hpp"
#include "security/aead.hpp"

namespace samovar::security {

// From here on it pays.
inline constexpr std::size_t kBulkBytesMin = 4096;
inline constexpr std::size_t kBulkBytesMax = std::size_t{1} << 30;

// The sizes are those of seal_with_nonce and open_with_nonce. `out` of a message that does not verify holds
// bytes that the caller wipes.
void seal_bulk(const SecretBytes& key, const AeadNonce& nonce, ByteView plain, ByteView aad,
               MutableBytes out);
[[nodiscard]] bool open_bulk(const SecretBytes& key, const AeadNonce& nonce, ByteView sealed, ByteView aad,
                             MutableBytes out);

}  // namespace samovar::security
