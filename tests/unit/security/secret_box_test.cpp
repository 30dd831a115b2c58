#include "security/secret_box.hpp"

#include <gtest/gtest.h>

#include "tests/unit/security/vectors.hpp"

namespace samovar::security {
namespace {

using vectors::counting;

const Bytes kPlace = to_bytes(std::string_view("cluster-ca/usr_1"));

TEST(SecretBox, OpensWithTheKeyItWasSealedTo) {
  const BoxPair own = make_box_pair();
  const SecretBytes secret = SecretBytes::copy_of(counting(1, 138));
  const Bytes sealed = seal_secret_to(own.open, secret, kPlace).value();
  EXPECT_NE(sealed, seal_secret_to(own.open, secret, kPlace).value());
  EXPECT_TRUE(open_sealed_secret(own, sealed, kPlace).value().equal(secret));
  // The secret half is enough to have both.
  const BoxPair again = box_pair_of(own.secret.clone()).value();
  EXPECT_EQ(again.open, own.open);
  EXPECT_TRUE(open_sealed_secret(again, sealed, kPlace).value().equal(secret));
}

TEST(SecretBox, OpensWithNothingElse) {
  const BoxPair own = make_box_pair();
  const Bytes sealed = seal_secret_to(own.open, SecretBytes::copy_of(counting(1, 40)), kPlace).value();
  EXPECT_EQ(open_sealed_secret(make_box_pair(), sealed, kPlace).error().code(), Errc::denied);
  EXPECT_EQ(open_sealed_secret(own, sealed, as_bytes(std::string_view("elsewhere"))).error().code(),
            Errc::denied);
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    Bytes bad = sealed;
    bad[i] ^= 1;
    EXPECT_FALSE(open_sealed_secret(own, bad, kPlace)) << i;
    EXPECT_FALSE(open_sealed_secret(own, ByteView(sealed).first(i), kPlace)) << i;
  }
}

TEST(SecretBox, KeysThatAreNoneAreRefused) {
  EXPECT_EQ(seal_secret_to(BoxPublic{}, SecretBytes::copy_of(counting(1, 8)), kPlace).error().code(),
            Errc::denied);
  EXPECT_EQ(box_pair_of(SecretBytes::copy_of(counting(1, 31))).error().code(), Errc::corrupt);
}

}  // namespace
}  // namespace samovar::security
