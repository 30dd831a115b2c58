// Known answers, computed by an implementation that shares no code with ours: Python's hashlib for
// BLAKE2b, the argon2id and ChaCha20-Poly1305 of Python's cryptography package, HChaCha20 written out.
#pragma once
#include <string_view>

#include "base/bytes.hpp"
#include "base/encoding.hpp"

namespace samovar::security::vectors {

// draft-irtf-cfrg-xchacha-03, A.3.1.
inline constexpr std::string_view kXchachaSealed =
    "bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb731c7f1b0b4aa6440bf3a82f4eda7e39"
    "ae64c6708c54c216cb96b72e1213b4522f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff9"
    "21f9664c97637da9768812f615c68b13b52ec0875924c1c7987947deafd8780acf49";

// A sealed file: key 00..1f, salt a0..af, dataset "dst_01J", shard 9, generation 3, "hello sealed world".
inline constexpr std::string_view kSealedFile =
    "534d565345414c0a01000700030000006473745f30314a00000000000000000000000000000000000000000000000000"
    "000000000000000000000000000000000000000000000000000000000000000009000000000000000000040000000000"
    "0100000000000000a0a1a2a3a4a5a6a7a8a9aaabacadaeaf452626374a08f63a5dfc716ab62ef9427ca92a26906948af"
    "5d93370f7aaf22c3488e4111af8da905530b177dca9bb08bec95";

// "secret!" under "a password" at "place"; Argon2id 8 KiB, 1 pass, salt 00..0f, nonce 00..17.
inline constexpr std::string_view kPasswordWrap =
    "534d565701000800000001000000000102030405060708090a0b0c0d0e0f2f000000000102030405060708090a0b0c0d"
    "0e0f1011121314151617f25208c29665923e74a7c4b4e8b2231c65012eae8ebba627290e56b5a47d684fead40ddc13a5"
    "33";

// CMK 60..7f of cluster "clu_test", keyring id 30..3f; passphrase "open sesame please".
inline constexpr std::string_view kKeyring =
    "534d564b52494e470100303132333435363738393a3b3c3d3e3f0100000008000000636c755f746573748dda0f13b8e2"
    "790c3b4c1944d24c7d0f7a000000534d565701000800000001000000000102030405060708090a0b0c0d0e0f48000000"
    "000102030405060708090a0b0c0d0e0f10111213141516173dc2dec9dbe9205fb8ac74ebc1d5cae48329aa261e3a893d"
    "b8e90f81fb7471565318d2abea2887379b96fbcc42e33fcdb3cb3e4ed3ed02c755aac140d9f3d6b14800000000010203"
    "0405060708090a0b0c0d0e0f10111213141516177d0f1a68cfb32d0b65b34fac3bd64c9395a9edeb85058cc23da7900a"
    "1d410387808c9f8f4cd67810782c0ca69a4c4d7e0babdf0efbbb0395e68de61ab0414809f32fc2e9e2c58ff110881534"
    "364f58b0";
inline constexpr std::string_view kKeyFile =
    "534d564b4559460a0100303132333435363738393a3b3c3d3e3f08000000636c755f7465737480818283848586878889"
    "8a8b8c8d8e8f909192939495969798999a9b9c9d9e9f2969990edb3b7974fac2dfc4abdf53fb317859cb4fa576e566ea"
    "77e78878d748";

inline Bytes bytes(std::string_view hex) { return *hex_decode(hex); }
// first, first + 1, …
inline Bytes counting(std::uint8_t first, std::size_t size) {
  Bytes out(size);
  for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<std::uint8_t>(first + i);
  return out;
}

}  // namespace samovar::security::vectors
