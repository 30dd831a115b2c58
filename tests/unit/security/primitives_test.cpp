// secret_bytes, init, hash, aead, kdf, argon2.
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <cstdlib>
#include <type_traits>

#include "security/aead.hpp"
#include "security/argon2.hpp"
#include "security/hash.hpp"
#include "security/init.hpp"
#include "security/kdf.hpp"
#include "security/secret_bytes.hpp"
#include "tests/unit/security/vectors.hpp"

namespace samovar::security {
namespace {

using vectors::counting;

static_assert(!std::is_copy_constructible_v<SecretBytes> && !std::is_copy_assignable_v<SecretBytes>);
static_assert(!std::is_convertible_v<SecretBytes, std::string> &&
              !std::is_convertible_v<SecretBytes, std::string_view>);
template <class T>
concept Printable = requires(std::ostream& out, const T& value) {
  out << value;
};
static_assert(!Printable<SecretBytes>);

std::string hex(ByteView bytes) { return hex_encode(bytes); }

TEST(SecretBytes, MovesLeaveTheSourceEmpty) {
  SecretBytes a = SecretBytes::copy_of(counting(1, 32));
  SecretBytes b = std::move(a);
  EXPECT_TRUE(a.empty());  // NOLINT(bugprone-use-after-move): the state after a move is what is tested
  EXPECT_TRUE(b.equal(counting(1, 32)));
  a = std::move(b);
  EXPECT_TRUE(a.equal(counting(1, 32)));
  EXPECT_TRUE(b.empty());  // NOLINT(bugprone-use-after-move)
}

TEST(SecretBytes, TakeWipesTheString) {
  std::string text = "a long password, longer than the small buffer of a string";
  const char* where = text.data();
  const std::size_t capacity = text.capacity();
  const SecretBytes secret = SecretBytes::take(text);
  EXPECT_TRUE(secret.equal(as_bytes("a long password, longer than the small buffer of a string")));
  EXPECT_TRUE(text.empty());
  ASSERT_EQ(text.data(), where);  // still the same buffer, so looking behind its end is legal up to capacity
  text.resize(capacity, '.');
  EXPECT_EQ(text.find("password"), std::string::npos);
}

TEST(SecretBytes, EqualLooksAtEveryByteAndTheLength) {
  const SecretBytes a = SecretBytes::copy_of(counting(0, 33));
  for (std::size_t i = 0; i < a.size(); ++i) {
    Bytes other = counting(0, 33);
    other[i] ^= 0x80;
    EXPECT_FALSE(a.equal(other)) << i;
  }
  EXPECT_FALSE(a.equal(ByteView(counting(0, 33)).first(32)));
  EXPECT_TRUE(SecretBytes{}.equal(SecretBytes{}));
}

TEST(SecretBytes, RandomOnesDiffer) { EXPECT_FALSE(SecretBytes::random(32).equal(SecretBytes::random(32))); }

TEST(SecretBytesDeathTest, WritingPastTheEndIsCaughtAtRelease) {
  EXPECT_DEATH(
      {
        SecretBytes secret(16);
        const_cast<volatile std::uint8_t*>(secret.mutable_view().data())[-1] = 1;  // the canary in front
      },
      "");
}

TEST(Init, ClosesTheProcess) {
  ASSERT_TRUE(init());
  EXPECT_EQ(prctl(PR_GET_DUMPABLE), 0);
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_CORE, &limit), 0);
  EXPECT_EQ(limit.rlim_cur, 0U);
}

// In a process of its own: the limit cannot be raised again.
[[noreturn]] void init_with_little_lockable_memory() {
  const rlimit small{16 * 1024, 16 * 1024};
  setrlimit(RLIMIT_MEMLOCK, &small);
  auto done = init({.require_locked_memory = true, .harden_process = false});
  const bool refused = !done && done.error().code() == Errc::unavailable &&
                       done.error().message().find("LimitMEMLOCK") != std::string::npos;
  const bool optional = init({.require_locked_memory = false, .harden_process = false}).has_value();
  std::exit(refused && optional ? 7 : 1);
}

TEST(InitDeathTest, SaysWhatToRaiseWhenMemoryCannotBeLocked) {
  EXPECT_EXIT(init_with_little_lockable_memory(), testing::ExitedWithCode(7), "");
}

TEST(Hash, KnownAnswers) {
  EXPECT_EQ(hex(blake2b_256(as_bytes("abc"))),
            "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
  EXPECT_EQ(hex(keyed_blake2b_256(SecretBytes::copy_of(counting(0, 32)), as_bytes("message"))),
            "2615bcafac3ebcd31940a8f15d876916435d805823d2db78c201a8e94624a0ae");
  EXPECT_EQ(hex(sha256(as_bytes("abc"))), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Hasher().update(as_bytes("a")).update({}).update(as_bytes("bc")).finish(),
            blake2b_256(as_bytes("abc")));
}

TEST(Kdf, KnownAnswersPerPurpose) {
  const SecretBytes cmk = SecretBytes::copy_of(counting(0, 32));
  EXPECT_EQ(hex(derive(cmk, purpose::kWrap).view()),
            "f075fd942a0705f748c5f845e6f4acc3a5de1abcb139b9a769b36c7af3cdb7b1");
  EXPECT_EQ(hex(derive(cmk, purpose::kRaft).view()),
            "4e20a4575faed38cb1c7e8acf5b8b7b47a1e56fb011449765ff3eb2a694434a3");
  EXPECT_EQ(hex(derive(cmk, purpose::kPepper).view()),
            "57c09bad3ecfe8cb4e8d2182c36893dc8ee23fcda1dcd76d49e754102aacaab5");
}

TEST(Aead, KnownAnswerOfTheDraft) {
  const SecretBytes key = SecretBytes::copy_of(counting(0x80, 32));
  AeadNonce nonce;
  const Bytes nonce_bytes = counting(0x40, 24);
  std::copy(nonce_bytes.begin(), nonce_bytes.end(), nonce.begin());
  const std::string_view plain =
      "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen "
      "would "
      "be it.";
  const Bytes aad = vectors::bytes("50515253c0c1c2c3c4c5c6c7");
  Bytes sealed(plain.size() + kAeadTagBytes);
  seal_with_nonce(key, nonce, as_bytes(plain), aad, sealed);
  EXPECT_EQ(hex(sealed), vectors::kXchachaSealed);
  Bytes opened(plain.size());
  EXPECT_TRUE(open_with_nonce(key, nonce, sealed, aad, opened));
  EXPECT_EQ(as_text(opened), plain);
}

TEST(Aead, EveryFlippedBitIsDetected) {
  const SecretBytes key = SecretBytes::random(kAeadKeyBytes);
  const Bytes sealed = seal(key, as_bytes("attack at dawn"), as_bytes("aad"));
  for (std::size_t bit = 0; bit < sealed.size() * 8; ++bit) {
    Bytes bad = sealed;
    bad[bit / 8] = static_cast<std::uint8_t>(bad[bit / 8] ^ (1U << (bit % 8)));
    auto opened = open(key, bad, as_bytes("aad"));
    ASSERT_FALSE(opened) << bit;
    EXPECT_EQ(opened.error().code(), Errc::corrupt);
  }
  for (std::size_t size = 0; size < sealed.size(); ++size)
    EXPECT_FALSE(open(key, ByteView(sealed).first(size), as_bytes("aad"))) << size;
  EXPECT_FALSE(open(key, sealed, as_bytes("aae")));
  EXPECT_FALSE(open(SecretBytes::random(kAeadKeyBytes), sealed, as_bytes("aad")));
  EXPECT_EQ(as_text(*open(key, sealed, as_bytes("aad"))), "attack at dawn");
  EXPECT_TRUE(open_secret(key, sealed, as_bytes("aad"))->equal(as_bytes("attack at dawn")));
}

TEST(Aead, SealingTwiceDiffers) {
  const SecretBytes key = SecretBytes::random(kAeadKeyBytes);
  EXPECT_NE(seal(key, {}, {}), seal(key, {}, {}));
  EXPECT_TRUE(open(key, seal(key, {}, {}), {})->empty());
}

TEST(Aead, WrapAadKeepsPartsApart) {
  EXPECT_NE(wrap_aad("ab", "c", 1), wrap_aad("a", "bc", 1));
  EXPECT_NE(wrap_aad("a", "b", 1), wrap_aad("a", "b", 2));
}

Argon2Salt salt_of(const Bytes& bytes) {
  Argon2Salt salt{};
  std::copy(bytes.begin(), bytes.end(), salt.begin());
  return salt;
}

TEST(Argon2, KnownAnswers) {
  EXPECT_EQ(hex(argon2id(as_bytes("password"), salt_of(counting(0, 16)), kTestCost)->view()),
            "3a008963c65f7ffa7331a90babd1fd17ea9f03bd05356b857ceb43f7b7080adc");
  EXPECT_EQ(hex(argon2id(as_bytes("pässword with spaces"), salt_of(Bytes(16, 0x11)), kPasswordCost)->view()),
            "9469b60505378e72f55c7fd80b246d066fe716e6b0c87c6dfcd6edb186a455fd");
}

TEST(Argon2, KnownAnswerAtThePassphraseCost) {
  EXPECT_EQ(hex(argon2id(as_bytes("correct horse battery staple"), salt_of(Bytes(16, 0x22)), kPassphraseCost)
                    ->view()),
            "9d6e3b5d01b0c03314e1bfef888efe850a10f3706eac36fbf6f72fa5bcee9c75");
}

TEST(Argon2, RefusesCostOutOfBounds) {
  for (const Argon2Cost cost : {Argon2Cost{7, 1}, Argon2Cost{8, 0}, Argon2Cost{kArgon2MemoryKibMax + 1, 1},
                                Argon2Cost{8, kArgon2PassesMax + 1}, Argon2Cost{0xffffffff, 0xffffffff}}) {
    EXPECT_FALSE(cost_in_bounds(cost));
    auto out = argon2id(as_bytes("x"), {}, cost);
    ASSERT_FALSE(out);
    EXPECT_EQ(out.error().code(), Errc::invalid);
  }
}

}  // namespace
}  // namespace samovar::security
