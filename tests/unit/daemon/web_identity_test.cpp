#include "daemon/web_identity.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "security/certificates.hpp"
#include "security/init.hpp"
#include "tests/support/temp_dir.hpp"

namespace samovar::daemon {
namespace {

struct Web : ::testing::Test {
  void SetUp() override { ASSERT_TRUE(security::init({false, false})); }
  Result<WebIdentity> load(WallTime at) {
    return WebIdentity::load_or_create(real_disk(), folder, names, at);
  }
  bool named(const WebIdentity& web, const std::string& name) {
    return std::find(web.facts().names.begin(), web.facts().names.end(), name) != web.facts().names.end();
  }

  samovar::test::TempDir dir;
  std::string folder = dir / "tls";
  WebNames names{"kettle", {"box.lan", "www.example.com"}, {"192.168.7.2", "203.0.113.9"}};
  WallTime now = real_clock().wall();
};

TEST_F(Web, IsMadeOnceWithTheNamesOfTheBox) {
  const auto first = load(now).value();
  const auto again = load(now + std::chrono::hours(1)).value();
  EXPECT_EQ(first.facts().fingerprint, again.facts().fingerprint);
  for (const char* name : {"kettle", "kettle.local", "localhost", "box.lan", "192.168.7.2", "127.0.0.1"})
    EXPECT_TRUE(named(first, name)) << name;
  EXPECT_FALSE(named(first, "www.example.com"));
  EXPECT_FALSE(named(first, "203.0.113.9"));
  const auto chain = security::certificates_from_pem(first.chain_pem()).value();
  ASSERT_EQ(chain.size(), 2u);
  EXPECT_TRUE(security::verify_chain(chain[0], chain[1], {security::PeerKind::server, "kettle.local", now}));
}

TEST_F(Web, TheRootsKeyIsSealedAfterSetUp) {
  auto web = load(now).value();
  EXPECT_TRUE(real_disk().exists(folder + "/web-root.key"));
  const auto cmk = security::SecretBytes::random(32);
  ASSERT_TRUE(web.seal_root_key(cmk));
  EXPECT_FALSE(real_disk().exists(folder + "/web-root.key"));
  ASSERT_TRUE(web.seal_root_key(cmk));
  const auto sealed = real_disk().read_file(folder + "/web-root.key.sealed", 1 << 16).value();
  EXPECT_EQ(as_text(sealed).find("PRIVATE"), std::string_view::npos);
}

TEST_F(Web, TheLeafIsRenewedNearItsEndByTheSameRoot) {
  auto web = load(now).value();
  const auto cmk = security::SecretBytes::random(32);
  ASSERT_TRUE(web.seal_root_key(cmk));
  EXPECT_FALSE(web.renew_if_due(cmk, names, now).value());
  const auto before = web.facts();
  const WallTime later = now + std::chrono::hours(24 * 380);
  EXPECT_FALSE(web.renew_if_due(security::SecretBytes::random(32), names, later));
  ASSERT_TRUE(web.renew_if_due(cmk, names, later).value());
  EXPECT_NE(web.facts().fingerprint, before.fingerprint);
  EXPECT_EQ(web.facts().ca_fingerprint, before.ca_fingerprint);
  EXPECT_GT(web.facts().not_after, later + std::chrono::hours(24 * 300));
  EXPECT_EQ(load(later).value().facts().fingerprint, web.facts().fingerprint);
}

TEST_F(Web, ANewAddressOfTheBoxIsCertifiedAndALostOneIsKept) {
  auto web = load(now).value();
  const auto cmk = security::SecretBytes::random(32);
  ASSERT_TRUE(web.seal_root_key(cmk));
  names.addresses = {"203.0.113.9"};  // lost one, and never had this one certified
  EXPECT_FALSE(web.renew_if_due(cmk, names, now).value());
  names.addresses = {"10.20.30.40"};
  ASSERT_TRUE(web.renew_if_due(cmk, names, now).value());
  EXPECT_TRUE(named(web, "10.20.30.40"));
  EXPECT_FALSE(web.renew_if_due(cmk, names, now).value());
}

TEST_F(Web, DamageIsNamedWithARemedy) {
  ASSERT_TRUE(load(now));
  ASSERT_TRUE(real_disk().write_file(folder + "/web.key", as_bytes("nonsense")));
  const auto damaged = load(now);
  ASSERT_FALSE(damaged);
  EXPECT_NE(damaged.error().message().find("web.key"), std::string::npos);
  EXPECT_NE(damaged.error().message().find("Restore it"), std::string::npos);
}

}  // namespace
}  // namespace samovar::daemon
