// A secret sealed to somebody's X25519 key, by whoever has the public half: no meeting is needed.
//
// Threading: any thread.
// Format:    docs/formats/keyring.md, "Secret box"
#pragma once
#include <array>
#include <cstdint>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::security {

using BoxPublic = std::array<std::uint8_t, 32>;

struct BoxPair {
  SecretBytes secret;  // X25519
  BoxPublic open{};    // its public half
};

BoxPair make_box_pair();
// Errc::corrupt unless it has the right size.
Result<BoxPair> box_pair_of(SecretBytes secret);

// `aad` binds it to its place, as with every wrap. Errc::denied for a public key that is none.
Result<Bytes> seal_secret_to(const BoxPublic& to, const SecretBytes& secret, ByteView aad);
// Errc::denied when it was sealed to another key, or for another place.
Result<SecretBytes> open_sealed_secret(const BoxPair& own, ByteView sealed, ByteView aad);

}  // namespace samovar::security
