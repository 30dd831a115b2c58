#include "base/encoding.hpp"

#include <gtest/gtest.h>

#include "base/sim/sim_rng.hpp"

namespace samovar {
namespace {

TEST(Encoding, HexKnownAnswers) {
  EXPECT_EQ(hex_encode(as_bytes("\x01\xab\xff")), "01abff");
  EXPECT_EQ(*hex_decode("01aBFf"), to_bytes("\x01\xab\xff"));
  EXPECT_EQ(hex_encode({}), "");
  EXPECT_TRUE(hex_decode("")->empty());
}

// RFC 4648 §10, without the padding.
TEST(Encoding, Base64UrlKnownAnswers) {
  EXPECT_EQ(base64url_encode(as_bytes("f")), "Zg");
  EXPECT_EQ(base64url_encode(as_bytes("fo")), "Zm8");
  EXPECT_EQ(base64url_encode(as_bytes("foo")), "Zm9v");
  EXPECT_EQ(base64url_encode(as_bytes("foobar")), "Zm9vYmFy");
  EXPECT_EQ(base64url_encode(Bytes{0xfb, 0xff}), "-_8");
}

TEST(Encoding, Base32KnownAnswers) {
  EXPECT_EQ(base32_encode(Bytes{0x00}), "00");
  EXPECT_EQ(base32_encode(Bytes{0xff}), "zw");
  EXPECT_EQ(base32_encode(Bytes{0xff, 0xff, 0xff, 0xff, 0xff}), "zzzzzzzz");
  EXPECT_EQ(base32_encode(as_bytes("foobar")), "csqpyrk1e8");
}

TEST(Encoding, RoundTripsEveryLength) {
  SimRng rng(1);
  for (std::size_t n = 0; n < 70; ++n) {
    Bytes bytes(n);
    rng.fill(bytes);
    EXPECT_EQ(*hex_decode(hex_encode(bytes)), bytes);
    EXPECT_EQ(*base64url_decode(base64url_encode(bytes)), bytes);
    EXPECT_EQ(*base32_decode(base32_encode(bytes)), bytes);
  }
}

TEST(Encoding, RefusesForeignCharacters) {
  for (const char* bad : {"0g", "0x", " 00", "00\n", "a-"}) EXPECT_FALSE(hex_decode(bad)) << bad;
  for (const char* bad : {"Zg==", "Zm+v", "Zm/v", "Zm 9v", "Zm9\xff"})
    EXPECT_FALSE(base64url_decode(bad)) << bad;
  for (const char* bad : {"0i", "0l", "0o", "0u", "ZZ", "00=", "0-"}) EXPECT_FALSE(base32_decode(bad)) << bad;
  EXPECT_FALSE(hex_decode(std::string_view("0\0", 2)));
}

TEST(Encoding, RefusesCutText) {
  EXPECT_FALSE(hex_decode("abc"));
  EXPECT_FALSE(base64url_decode("Z"));
  EXPECT_FALSE(base64url_decode("Zm9vY"));
  for (const char* bad : {"0", "000", "000000"}) EXPECT_FALSE(base32_decode(bad)) << bad;
}

// One value, one spelling: otherwise two different tokens would be the same one.
TEST(Encoding, RefusesSpareBitsThatAreSet) {
  EXPECT_TRUE(base64url_decode("Zg"));
  EXPECT_FALSE(base64url_decode("Zh"));
  EXPECT_FALSE(base64url_decode("Zm9"));
  EXPECT_TRUE(base32_decode("zw"));
  EXPECT_FALSE(base32_decode("zx"));
}

TEST(Encoding, AcceptedTextIsTheOnlySpelling) {
  // Every two-character text either fails or encodes back to itself.
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const std::string text = {static_cast<char>(a), static_cast<char>(b)};
      if (const auto bytes = base64url_decode(text)) {
        EXPECT_EQ(base64url_encode(*bytes), text);
      }
      if (const auto bytes = base32_decode(text)) {
        EXPECT_EQ(base32_encode(*bytes), text);
      }
    }
  }
}

TEST(Encoding, NormalizesWhatPeopleType) {
  EXPECT_EQ(base32_normalize("AB-cd EO-il"), "abcde011");
  EXPECT_EQ(base32_normalize("u!"), "u!");  // stays wrong, and the decoder says so
}

TEST(Encoding, Crc32KnownAnswers) {
  EXPECT_EQ(crc32(as_bytes("123456789")), 0xcbf43926U);
  EXPECT_EQ(crc32({}), 0U);
  EXPECT_EQ(crc32(as_bytes("6789"), crc32(as_bytes("12345"))), 0xcbf43926U);
}

}  // namespace
}  // namespace samovar
