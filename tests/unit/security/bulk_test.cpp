// The fast ways for long messages give the bytes of the plain ones.
#include <gtest/gtest.h>
#include <sodium.h>

#include <algorithm>

#include "security/aead.hpp"
#include "security/aead_bulk.hpp"
#include "security/sha256.hpp"
#include "tests/unit/security/vectors.hpp"

namespace samovar::security {
namespace {

AeadNonce some_nonce(std::uint8_t first) {
  AeadNonce nonce;
  for (std::size_t i = 0; i < nonce.size(); ++i) nonce[i] = static_cast<std::uint8_t>(first + 11 * i);
  return nonce;
}

Bytes by_libsodium(const SecretBytes& key, const AeadNonce& nonce, ByteView plain, ByteView aad) {
  Bytes out(plain.size() + kAeadTagBytes);
  crypto_aead_xchacha20poly1305_ietf_encrypt(out.data(), nullptr, plain.data(), plain.size(), aad.data(),
                                             aad.size(), nullptr, nonce.data(), key.view().data());
  return out;
}

TEST(AeadBulk, AgreesWithLibsodiumAtEverySize) {
  const Bytes message = vectors::counting(0, 300'000);
  const Bytes aad = vectors::counting(7, 41);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{65}, std::size_t{1000},
        kBulkBytesMin - 1, kBulkBytesMin, kBulkBytesMin + 1, std::size_t{65'537}, std::size_t{262'144},
        std::size_t{299'999}}) {
    const SecretBytes key = SecretBytes::random(kAeadKeyBytes);
    const AeadNonce nonce = some_nonce(static_cast<std::uint8_t>(size));
    const ByteView plain = ByteView(message).first(size);
    for (const ByteView bound : {ByteView(aad), ByteView()}) {
      const Bytes expected = by_libsodium(key, nonce, plain, bound);
      Bytes sealed(size + kAeadTagBytes);
      seal_bulk(key, nonce, plain, bound, sealed);
      EXPECT_EQ(sealed, expected) << size;
      seal_with_nonce(key, nonce, plain, bound, sealed);
      EXPECT_EQ(sealed, expected) << size;
      Bytes back(size);
      EXPECT_TRUE(open_bulk(key, nonce, expected, bound, back)) << size;
      EXPECT_TRUE(std::equal(back.begin(), back.end(), plain.begin())) << size;
    }
  }
}

TEST(AeadBulk, WhatDoesNotVerifyIsWiped) {
  const SecretBytes key = SecretBytes::random(kAeadKeyBytes);
  const AeadNonce nonce = some_nonce(1);
  const Bytes plain = vectors::counting(0, 10'000);
  const Bytes aad = vectors::counting(7, 41);
  const Bytes good = by_libsodium(key, nonce, plain, aad);
  for (std::size_t at = 0; at < good.size(); at += 13) {
    Bytes bad = good;
    bad[at] ^= 0x20;
    Bytes out(plain.size(), 0xee);
    ASSERT_FALSE(open_with_nonce(key, nonce, bad, aad, out)) << at;
    ASSERT_EQ(out, Bytes(plain.size())) << at;
  }
  Bytes out(plain.size());
  EXPECT_FALSE(open_with_nonce(key, nonce, good, ByteView(aad).first(40), out));
  EXPECT_FALSE(open_with_nonce(key, some_nonce(2), good, aad, out));
  EXPECT_FALSE(open_with_nonce(SecretBytes::random(kAeadKeyBytes), nonce, good, aad, out));
  EXPECT_TRUE(open_with_nonce(key, nonce, good, aad, out));
}

TEST(Sha256, AgreesWithTheOneGoAndGoesOnAfterADigest) {
  const Bytes message = vectors::counting(0, 100'000);
  Sha256 hash;
  std::size_t at = 0;
  for (std::size_t part = 1; at < message.size(); part = part * 3 + 1) {
    const std::size_t size = std::min(part, message.size() - at);
    hash.update(ByteView(message).subspan(at, size));
    at += size;
    ASSERT_EQ(hash.digest(), sha256(ByteView(message).first(at)));
  }
}

TEST(Sha256, CopiesGoTheirOwnWays) {
  Sha256 first;
  first.update(as_bytes("ab"));
  Sha256 second = first;
  first.update(as_bytes("c"));
  EXPECT_EQ(first.digest(), sha256(as_bytes("abc")));
  EXPECT_EQ(second.digest(), sha256(as_bytes("ab")));
  second = first;
  second.update(as_bytes("d"));
  EXPECT_EQ(second.digest(), sha256(as_bytes("abcd")));
  EXPECT_EQ(first.digest(), sha256(as_bytes("abc")));
}

}  // namespace
}  // namespace samovar::security
