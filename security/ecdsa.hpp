// Signatures with a node's TLS key: ECDSA P-256 with SHA-256, outside of TLS.
//
// Threading: any thread.
#pragma once
#include "base/bytes.hpp"
#include "base/result.hpp"
#include "security/certificates.hpp"

namespace samovar::security {

inline constexpr std::size_t kEcdsaBytesMax = 72;  // DER

Result<Bytes> sign_p256(const PrivateKey& key, ByteView message);
// `public_key` is a SubjectPublicKeyInfo, DER. False for anything else, too.
bool verify_p256(ByteView public_key, ByteView message, ByteView signature);

}  // namespace samovar::security
