// keyring, key_file, password_wrap.
#include <gtest/gtest.h>

#include "security/hash.hpp"
#include "security/keyring.hpp"
#include "security/password_wrap.hpp"
#include "tests/unit/security/vectors.hpp"

namespace samovar::security {
namespace {

using vectors::counting;

constexpr std::string_view kPhrase = "open sesame please";

Bytes flipped(ByteView bytes, std::size_t bit) {
  Bytes out = to_bytes(bytes);
  out[bit / 8] = static_cast<std::uint8_t>(out[bit / 8] ^ (1U << (bit % 8)));
  return out;
}

NewKeyring with_phrase(std::string_view cluster = "clu_a") {
  return *Keyring::create_with_passphrase(cluster, as_bytes(kPhrase), kTestCost);
}

TEST(Keyring, OpensTheKnownFile) {
  auto keyring = Keyring::decode(vectors::bytes(vectors::kKeyring));
  ASSERT_TRUE(keyring);
  EXPECT_EQ(keyring->cluster_id(), "clu_test");
  EXPECT_EQ(keyring->generation(), 1U);
  EXPECT_TRUE(keyring->unlock(as_bytes(kPhrase))->equal(counting(0x60, 32)));
  EXPECT_TRUE(keyring->unlock_with_key_file(vectors::bytes(vectors::kKeyFile))->equal(counting(0x60, 32)));
  EXPECT_EQ(hex_encode(keyring->encode()), vectors::kKeyring);
}

TEST(Keyring, PassphraseOpensAfterEncodeAndDecode) {
  const NewKeyring made = with_phrase();
  EXPECT_TRUE(made.key_file.empty());
  auto again = Keyring::decode(made.keyring.encode());
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->unlock(as_bytes(kPhrase))->equal(made.cmk));
}

TEST(Keyring, WrongPassphraseIsDenied) {
  const NewKeyring made = with_phrase();
  for (const std::string_view wrong :
       {"", "open sesame pleasf", "Open sesame please", "open sesame please "}) {
    auto cmk = made.keyring.unlock(as_bytes(wrong));
    ASSERT_FALSE(cmk) << wrong;
    EXPECT_EQ(cmk.error().code(), Errc::denied) << wrong;
  }
  EXPECT_EQ(made.keyring.unlock(as_bytes(std::string(5000, 'x'))).error().code(), Errc::denied);
}

TEST(Keyring, EveryFlippedBitIsDamageNotAWrongPassphrase) {
  const Bytes good = vectors::bytes(vectors::kKeyring);
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    auto keyring = Keyring::decode(flipped(good, bit));
    ASSERT_FALSE(keyring) << bit;
    ASSERT_EQ(keyring.error().code(), Errc::corrupt) << bit;
  }
}

TEST(Keyring, EveryTruncationAndExtensionIsDamage) {
  Bytes good = vectors::bytes(vectors::kKeyring);
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_EQ(Keyring::decode(ByteView(good).first(size)).error().code(), Errc::corrupt) << size;
  good.push_back(0);
  EXPECT_EQ(Keyring::decode(good).error().code(), Errc::corrupt);
  EXPECT_EQ(Keyring::decode(Bytes(kKeyringBytesMax + 1)).error().code(), Errc::corrupt);
}

TEST(Keyring, KeyFileOpens) {
  auto made = Keyring::create_with_key_file("clu_a");
  ASSERT_TRUE(made);
  auto again = Keyring::decode(made->keyring.encode());
  EXPECT_TRUE(again->unlock_with_key_file(made->key_file.view())->equal(made->cmk));
  EXPECT_EQ(again->unlock(as_bytes(kPhrase)).error().code(), Errc::conflict);
  auto info = read_key_file_info(made->key_file.view());
  ASSERT_TRUE(info);
  EXPECT_EQ(info->cluster_id, "clu_a");
  EXPECT_EQ(info->short_id, made->keyring.short_id());
}

TEST(Keyring, KeyFileOfAnotherBoxIsNamed) {
  auto a = Keyring::create_with_key_file("clu_a");
  auto b = Keyring::create_with_key_file("clu_b");
  auto cmk = a->keyring.unlock_with_key_file(b->key_file.view());
  ASSERT_FALSE(cmk);
  EXPECT_EQ(cmk.error().code(), Errc::invalid);
  const std::string& message = cmk.error().message();
  EXPECT_NE(message.find(a->keyring.short_id()), std::string::npos) << message;
  EXPECT_NE(message.find(b->keyring.short_id()), std::string::npos) << message;
  EXPECT_NE(message.find("use the key file labelled " + a->keyring.short_id()), std::string::npos) << message;
}

TEST(Keyring, DamagedKeyFileIsDamage) {
  const Keyring keyring = *Keyring::decode(vectors::bytes(vectors::kKeyring));
  const Bytes good = vectors::bytes(vectors::kKeyFile);
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit)
    ASSERT_EQ(keyring.unlock_with_key_file(flipped(good, bit)).error().code(), Errc::corrupt) << bit;
  for (std::size_t size = 0; size < good.size(); ++size)
    ASSERT_EQ(keyring.unlock_with_key_file(ByteView(good).first(size)).error().code(), Errc::corrupt) << size;
}

TEST(Keyring, ReplacedKeyFileIsDenied) {
  auto made = Keyring::create_with_key_file("clu_a");
  auto newer = made->keyring.set_key_file(made->cmk);
  ASSERT_TRUE(newer);
  EXPECT_EQ(made->keyring.unlock_with_key_file(made->key_file.view()).error().code(), Errc::denied);
  EXPECT_TRUE(made->keyring.unlock_with_key_file(newer->view())->equal(made->cmk));
}

TEST(Keyring, ChangingThePassphraseClosesTheOldOne) {
  NewKeyring made = with_phrase();
  ASSERT_TRUE(made.keyring.set_passphrase(made.cmk, as_bytes("quite another phrase"), kTestCost));
  EXPECT_EQ(made.keyring.unlock(as_bytes(kPhrase)).error().code(), Errc::denied);
  EXPECT_TRUE(made.keyring.unlock(as_bytes("quite another phrase"))->equal(made.cmk));
}

TEST(Keyring, RefusesAForeignMasterKey) {
  NewKeyring made = with_phrase();
  EXPECT_EQ(made.keyring.set_passphrase(SecretBytes::random(32), as_bytes("x"), kTestCost).error().code(),
            Errc::denied);
  EXPECT_EQ(made.keyring.set_key_file(SecretBytes::random(32)).error().code(), Errc::denied);
  EXPECT_TRUE(made.keyring.unlock(as_bytes(kPhrase)));
}

TEST(Keyring, KeepsTheLastWayIn) {
  NewKeyring made = with_phrase();
  EXPECT_EQ(made.keyring.remove_passphrase().error().code(), Errc::conflict);
  auto file = made.keyring.set_key_file(made.cmk);
  ASSERT_TRUE(file);
  EXPECT_TRUE(made.keyring.remove_passphrase());
  EXPECT_EQ(made.keyring.remove_key_file().error().code(), Errc::conflict);
  EXPECT_TRUE(made.keyring.unlock_with_key_file(file->view()));
}

TEST(Keyring, RefusesBadInput) {
  for (const std::string& id : {std::string(), std::string(65, 'x'), std::string("a b"), std::string("a\nb")})
    EXPECT_EQ(Keyring::create_with_key_file(id).error().code(), Errc::invalid) << id;
  EXPECT_EQ(Keyring::create_with_passphrase("clu_a", {}, kTestCost).error().code(), Errc::invalid);
}

TEST(PasswordWrap, OpensTheKnownRecord) {
  const Bytes record = vectors::bytes(vectors::kPasswordWrap);
  EXPECT_TRUE(unwrap_secret_with_password(record, as_bytes("a password"), as_bytes("place"))
                  ->equal(as_bytes("secret!")));
}

TEST(PasswordWrap, TellsWrongPasswordFromDamage) {
  const Bytes record = vectors::bytes(vectors::kPasswordWrap);
  EXPECT_EQ(unwrap_secret_with_password(record, as_bytes("A password"), as_bytes("place")).error().code(),
            Errc::denied);
  EXPECT_EQ(unwrap_secret_with_password(record, as_bytes("a password"), as_bytes("elsewhere")).error().code(),
            Errc::denied);
  for (std::size_t bit = 0; bit < record.size() * 8; ++bit)
    ASSERT_EQ(unwrap_secret_with_password(flipped(record, bit), as_bytes("a password"), as_bytes("place"))
                  .error()
                  .code(),
              Errc::corrupt)
        << bit;
}

// A well formed record, checksum and all, that asks for 4 TiB.
TEST(PasswordWrap, HostileCostIsRefusedBeforeItIsSpent) {
  Bytes record = vectors::bytes(vectors::kPasswordWrap);
  record.resize(record.size() - 16);
  for (std::size_t i = 6; i < 14; ++i) record[i] = 0xff;
  const Bytes checksum = blake2b(16, record);
  record.insert(record.end(), checksum.begin(), checksum.end());
  EXPECT_EQ(unwrap_secret_with_password(record, as_bytes("a password"), as_bytes("place")).error().code(),
            Errc::corrupt);
}

TEST(PasswordWrap, WrapsAnyLengthUpToItsLimit) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{138}, kWrappedSecretBytesMax}) {
    const SecretBytes secret = SecretBytes::random(size);
    auto wrapped = wrap_secret_with_password(secret, as_bytes("pw"), as_bytes("aad"), kTestCost);
    ASSERT_TRUE(wrapped);
    EXPECT_TRUE(unwrap_secret_with_password(*wrapped, as_bytes("pw"), as_bytes("aad"))->equal(secret));
  }
}

}  // namespace
}  // namespace samovar::security
