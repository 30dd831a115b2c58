// password, password_policy.
#include "security/password.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "security/secret_bytes.hpp"
#include "tests/unit/security/vectors.hpp"

namespace samovar::security {
namespace {

constexpr std::string_view kStored =
    "smvpw1$m=8,t=1$AAECAwQFBgcICQoLDA0ODw$hayEglZtJm7O0yOHTh2fR3HAQWLyT5vB92TIb2oBb-c";
constexpr std::string_view kPassword = "a password of some length";
const SecretBytes& pepper() {
  static const SecretBytes kPepper = SecretBytes::copy_of(Bytes(32, 7));
  return kPepper;
}

TEST(Password, VerifiesTheKnownHash) {
  EXPECT_TRUE(*verify_password(kStored, as_bytes(kPassword), pepper()));
  EXPECT_FALSE(*verify_password(kStored, as_bytes("A password of some length"), pepper()));
  EXPECT_FALSE(*verify_password(kStored, {}, pepper()));
}

TEST(Password, NeedsThePepper) {
  EXPECT_FALSE(*verify_password(kStored, as_bytes(kPassword), SecretBytes::copy_of(Bytes(32, 8))));
}

TEST(Password, HashesAreSaltedAndVerify) {
  auto a = hash_password(as_bytes(kPassword), pepper(), kTestCost);
  auto b = hash_password(as_bytes(kPassword), pepper(), kTestCost);
  ASSERT_TRUE(a && b);
  EXPECT_NE(*a, *b);
  EXPECT_TRUE(*verify_password(*a, as_bytes(kPassword), pepper()));
  EXPECT_TRUE(*verify_password(*b, as_bytes(kPassword), pepper()));
}

TEST(Password, DefaultCostIsTheOneWePromise) {
  auto stored = hash_password(as_bytes(kPassword), pepper());
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->substr(0, 20), "smvpw1$m=65536,t=3$" + stored->substr(19, 1));
  EXPECT_TRUE(*verify_password(*stored, as_bytes(kPassword), pepper()));
  EXPECT_FALSE(needs_rehash(*stored));
  EXPECT_TRUE(needs_rehash(kStored));
}

TEST(Password, UnknownUserAndOverlongPasswordAreFalse) {
  EXPECT_FALSE(*verify_nobody(as_bytes(kPassword), pepper(), kTestCost));
  EXPECT_FALSE(*verify_nobody(as_bytes(std::string(1 << 20, 'x')), pepper(), kTestCost));
  EXPECT_FALSE(*verify_password(kStored, as_bytes(std::string(1 << 20, 'x')), pepper()));
  EXPECT_EQ(hash_password(as_bytes(std::string(1025, 'x')), pepper(), kTestCost).error().code(),
            Errc::invalid);
}

TEST(Password, DecodeTakesOneSpellingOnly) {
  auto parsed = decode_password_hash(kStored);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(encode_password_hash(*parsed), kStored);
  for (std::size_t size = 0; size < kStored.size(); ++size)
    EXPECT_EQ(decode_password_hash(kStored.substr(0, size)).error().code(), Errc::corrupt) << size;
  const std::string rest(kStored.substr(kStored.find("$AAEC")));
  for (const char* start :
       {"smvpw1$m=08,t=1", "smvpw1$m=8,t=01", "smvpw1$m=+8,t=1", "smvpw1$m=8,t=0", "smvpw1$m=7,t=1",
        "smvpw1$m=4294967295,t=1", "smvpw1$m=99999999999999,t=1", "smvpw1$m=1048577,t=1", "smvpw1$m=8,t=17",
        "smvpw2$m=8,t=1", "smvpw1$m=,t=1", "smvpw1$t=1,m=8"})
    EXPECT_FALSE(decode_password_hash(start + rest)) << start;
  EXPECT_FALSE(decode_password_hash(std::string(kStored) + "$"));
  EXPECT_EQ(verify_password("nonsense", as_bytes(kPassword), pepper()).error().code(), Errc::corrupt);
}

TEST(PasswordPolicy, AcceptsGoodOnes) {
  for (const char* good : {"correct-battery-goat-7", "Tr0ub4dor&3-zebra", "vier Hunde fahren Rad",
                           "xK9#mQ2$vL5n", "die Katze schläft gern", "собака ест кашу днём",
                           "my dog ate 14 red pens", "dragon monkey football summer lamp", "ĂşĐéÏöÜñçÆøÅ"}) {
    auto checked = check_password_policy(good, "anna", "Anna Schmidt");
    EXPECT_TRUE(checked) << good << ": " << checked.error().message();
  }
}

TEST(PasswordPolicy, RefusesGuessableOnes) {
  for (const char* bad : {"password1234",   "Password1234!",
                          "P@ssw0rd2024!",  "passwordpassword",
                          "welcome2025!!",  "Willkommen123!",
                          "letmeinletmein", "administrator1",
                          "qwertyuiop12",   "1qaz2wsx3edc",
                          "123456789012",   "098765432109",
                          "abcdefghijkl",   "zyxwvutsrqpo",
                          "aaaaaaaaaaaa",   "abababababab",
                          "abcabcabcabc",   "iloveyou12345",
                          "asdfghjkl123",   "samovaradmin12",
                          "Summer2024!!!",  "correcthorsebatterystaple",
                          "changeme12345",  "qwertzuiop123",
                          "Motdepasse123",  "йцукенйцукен",
                          "            ",   "superman1999!"}) {
    auto checked = check_password_policy(bad, "zoe");
    EXPECT_FALSE(checked) << bad;
    if (!checked) {
      EXPECT_EQ(checked.error().code(), Errc::invalid);
    }
  }
}

TEST(PasswordPolicy, CountsCharactersNotBytes) {
  EXPECT_FALSE(check_password_policy("ĂşĐéÏöÜñçÆø", "zoe"));  // 11 characters, 22 bytes
  EXPECT_FALSE(check_password_policy("xK9#mQ2$vL5", "zoe"));
  EXPECT_FALSE(check_password_policy("", "zoe"));
}

TEST(PasswordPolicy, RefusesTheUserName) {
  EXPECT_FALSE(check_password_policy("xK9#mQ2-schmidt-vL5n", "schmidt"));
  EXPECT_FALSE(check_password_policy("xK9#mQ2-SCHMIDT-vL5n", "Schmidt"));
  EXPECT_TRUE(check_password_policy("they cannot guess it", "ann"));  // by chance inside a word
  EXPECT_FALSE(check_password_policy("ann4ann4ann!ann", "ann"));
  EXPECT_FALSE(check_password_policy("kitchen-box-1", "zoe", "kitchen-box"));
  EXPECT_TRUE(check_password_policy("xK9#mQ2-kitchen-vL5n", "zoe", "kitchen"));
}

TEST(PasswordPolicy, RefusesWhatCannotBeTyped) {
  EXPECT_FALSE(check_password_policy(std::string("xK9#mQ2$\0vL5nabc", 16), "zoe"));
  EXPECT_FALSE(check_password_policy("xK9#mQ2$\nvL5nabc", "zoe"));
  EXPECT_FALSE(check_password_policy("xK9#mQ2$\xff\xfevL5nabc", "zoe"));
  EXPECT_FALSE(check_password_policy("xK9#mQ2$vL5nabc\xc3", "zoe"));
  EXPECT_FALSE(check_password_policy("xK9#mQ2$\xed\xa0\x80vL5nabc", "zoe"));  // a lone surrogate
  EXPECT_FALSE(check_password_policy("xK9#mQ2$\xc0\xaevL5nabc", "zoe"));      // an overlong dot
  std::string huge;
  while (huge.size() < 1100) huge += "xK9#mQ2$vL5n";
  EXPECT_FALSE(check_password_policy(huge, "zoe"));
}

TEST(PasswordPolicy, PassphraseRulesSpeakOfThePassphrase) {
  auto checked = check_passphrase_policy("short");
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().message().find("passphrase"), std::string::npos);
  EXPECT_TRUE(check_passphrase_policy("open the old green door"));
}

}  // namespace
}  // namespace samovar::security
