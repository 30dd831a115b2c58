// token, setup_code.
#include "security/token.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/sim/sim_rng.hpp"
#include "security/setup_code.hpp"
#include "tests/unit/security/vectors.hpp"

namespace samovar::security {
namespace {

using vectors::counting;

constexpr std::string_view kToken = "smv_04106105_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8_mtzms8";
const SecretBytes& pepper() {
  static const SecretBytes kPepper = SecretBytes::copy_of(Bytes(32, 7));
  return kPepper;
}

TEST(Token, KnownAnswer) {
  auto token = parse_token(kToken);
  ASSERT_TRUE(token);
  EXPECT_EQ(token->id, "04106105");
  EXPECT_TRUE(token->secret.equal(counting(0, 32)));
  EXPECT_EQ(hex_encode(token_hash(pepper(), *token)),
            "ecdce300cdae24a700098699da040fcafd682f01e13db4ceecb0860ac3a908b6");
}

TEST(Token, MadeOnesParse) {
  SimRng rng(1);
  for (int i = 0; i < 1000; ++i) {
    const NewToken made = make_token(rng);
    ASSERT_EQ(made.text.size(), kTokenChars);
    auto parsed = parse_token(made.text);
    ASSERT_TRUE(parsed) << made.text;
    EXPECT_EQ(parsed->id, made.id);
    EXPECT_TRUE(looks_like_token(made.text));
  }
}

TEST(Token, EveryChangedCharacterIsRefused) {
  for (std::size_t at = 0; at < kToken.size(); ++at) {
    for (int c = 0; c < 256; ++c) {
      std::string text(kToken);
      if (text[at] == static_cast<char>(c)) continue;
      text[at] = static_cast<char>(c);
      auto parsed = parse_token(text);
      ASSERT_FALSE(parsed) << text;
      EXPECT_EQ(parsed.error().message().find(text), std::string::npos);
    }
  }
}

TEST(Token, OtherLengthsAreRefused) {
  for (std::size_t size = 0; size < kToken.size(); ++size)
    EXPECT_FALSE(parse_token(kToken.substr(0, size))) << size;
  EXPECT_FALSE(parse_token(std::string(kToken) + "0"));
  EXPECT_FALSE(parse_token(" " + std::string(kToken)));
}

TEST(Token, HashDependsOnPepperIdAndSecret) {
  auto token = parse_token(kToken);
  const Hash256 hash = token_hash(pepper(), *token);
  EXPECT_FALSE(hashes_equal(hash, token_hash(SecretBytes::copy_of(Bytes(32, 8)), *token)));
  ParsedToken other{"04106106", token->secret.clone()};
  EXPECT_FALSE(hashes_equal(hash, token_hash(pepper(), other)));
  EXPECT_TRUE(hashes_equal(hash, token_hash(pepper(), *parse_token(kToken))));
}

TEST(Session, KnownAnswerAndForm) {
  const std::string secret = base64url_encode(counting(0, 32));
  EXPECT_EQ(hex_encode(*session_hash(pepper(), secret)),
            "b6a3ef40195c67ea245090cbec72cc466afecd7626f76b887654bb925fe21d2a");
  EXPECT_FALSE(session_hash(pepper(), ""));
  EXPECT_FALSE(session_hash(pepper(), secret + "A"));
  EXPECT_FALSE(session_hash(pepper(), std::string(43, '!')));
  SimRng rng(2);
  EXPECT_EQ(make_session_secret(rng).size(), 43U);
  EXPECT_NE(make_session_secret(rng), make_session_secret(rng));
}

TEST(Session, CsrfValueIsTheSessionsOwn) {
  const Hash256 a = blake2b_256(as_bytes("a"));
  const Hash256 b = blake2b_256(as_bytes("b"));
  const std::string value = csrf_value(pepper(), a);
  EXPECT_TRUE(csrf_matches(pepper(), a, value));
  EXPECT_FALSE(csrf_matches(pepper(), b, value));
  EXPECT_FALSE(csrf_matches(pepper(), a, ""));
  EXPECT_FALSE(csrf_matches(pepper(), a, value.substr(1)));
}

TEST(SetupCode, HasItsForm) {
  SimRng rng(3);
  std::set<std::string> seen;
  for (int i = 0; i < 500; ++i) {
    const std::string code = make_setup_code(rng);
    ASSERT_EQ(code.size(), 9U);
    EXPECT_EQ(code[4], '-');
    EXPECT_EQ(code.find_first_of("OILUoilu"), std::string::npos) << code;
    EXPECT_TRUE(setup_code_matches(code, code));
    seen.insert(code);
  }
  EXPECT_EQ(seen.size(), 500U);
}

TEST(SetupCode, ForgivesHowPeopleType) {
  for (const char* typed :
       {"K0Q1-M4X1", "k0q1-m4x1", "k0q1m4x1", " KOQI M4XL ", "k o q l-m4x1", "K0Q1--M4X1"})
    EXPECT_TRUE(setup_code_matches(typed, "K0Q1-M4X1")) << typed;
}

TEST(SetupCode, RefusesAllElse) {
  for (const char* typed : {"", "K0Q1", "K0Q1-M4X2", "K0Q1-M4X11", "J0Q1-M4X1", "--------"})
    EXPECT_FALSE(setup_code_matches(typed, "K0Q1-M4X1")) << typed;
  EXPECT_FALSE(setup_code_matches("", ""));  // no code was ever made: nothing matches
  EXPECT_FALSE(setup_code_matches(std::string(100, ' ') + "K0Q1-M4X1", "K0Q1-M4X1"));
}

}  // namespace
}  // namespace samovar::security
