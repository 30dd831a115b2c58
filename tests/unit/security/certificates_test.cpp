#include "security/certificates.hpp"

#include <gtest/gtest.h>

#include "security/identity.hpp"

namespace samovar::security {
namespace {

WallTime day(int year, unsigned month, unsigned d) {
  return WallTime{
      std::chrono::sys_days{std::chrono::year{year} / std::chrono::month{month} / std::chrono::day{d}}};
}
const WallTime kNow = day(2026, 5, 1);

struct Cluster {
  PrivateKey key = *PrivateKey::generate();
  Certificate ca = *make_cluster_ca(key, "clu_01J8Z3");
};
struct Web {
  PrivateKey key = *PrivateKey::generate();
  Certificate root = *make_web_root(key, "box.clinic.example");
  PrivateKey leaf_key = *PrivateKey::generate();
  Result<Certificate> leaf(std::vector<std::string> names, std::vector<std::string> addresses,
                           WallTime now = kNow) {
    return issue_web_leaf(root, key, leaf_key.public_key(), {std::move(names), std::move(addresses), now});
  }
};

TEST(PrivateKey, SurvivesDerAndPem) {
  const PrivateKey key = *PrivateKey::generate();
  auto der = PrivateKey::from_der(key.to_der().view());
  auto pem = PrivateKey::from_pem(key.to_pem().view());
  ASSERT_TRUE(der && pem);
  EXPECT_EQ(der->public_key(), key.public_key());
  EXPECT_EQ(pem->public_key(), key.public_key());
  EXPECT_EQ(as_text(key.to_pem().view()).substr(0, 27), "-----BEGIN PRIVATE KEY-----");
}

TEST(PrivateKey, RefusesDamagedBytes) {
  const SecretBytes good = PrivateKey::generate()->to_der();
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(PrivateKey::from_der(good.view().first(size)));
  Bytes longer = to_bytes(good.view());
  longer.push_back(0);
  EXPECT_FALSE(PrivateKey::from_der(longer));
  Bytes other_secret = to_bytes(good.view());
  other_secret[50] ^= 1;  // inside the secret number: its public half no longer fits
  EXPECT_FALSE(PrivateKey::from_der(other_secret));
}

// An Ed25519 key in PKCS #8 (RFC 8410, section 10.3).
TEST(PrivateKey, RefusesOtherKinds) {
  const std::string_view pem =
      "-----BEGIN PRIVATE KEY-----\n"
      "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n"
      "-----END PRIVATE KEY-----\n";
  auto key = PrivateKey::from_pem(as_bytes(pem));
  ASSERT_FALSE(key);
  EXPECT_EQ(key.error().code(), Errc::unsupported);
}

TEST(Certificates, ClusterCaIsWhatNodesNeed) {
  const Cluster cluster;
  auto info = inspect(cluster.ca);
  ASSERT_TRUE(info);
  EXPECT_TRUE(info->is_ca);
  EXPECT_EQ(info->subject, "Samovar cluster clu_01J8Z3");
  EXPECT_EQ(info->not_before, day(2020, 1, 1));
  EXPECT_EQ(info->not_after, day(2050, 1, 1) - std::chrono::seconds(1));
  EXPECT_EQ(info->public_key, cluster.key.public_key());
}

TEST(Certificates, NodeCertificateServesBothWaysInAnyYear) {
  const Cluster cluster;
  const PrivateKey node = *PrivateKey::generate();
  const std::string id = node_id_of(node.public_key());
  auto cert = issue_node_certificate(cluster.ca, cluster.key, node.public_key(), id);
  ASSERT_TRUE(cert) << cert.error().message();
  const std::string name = id + std::string(kNodeDomain);
  for (const WallTime when : {day(2020, 1, 2), kNow, day(2049, 12, 30)}) {
    EXPECT_TRUE(verify_chain(*cert, cluster.ca, {PeerKind::server, name, when}));
    EXPECT_TRUE(verify_chain(*cert, cluster.ca, {PeerKind::client, name, when}));
  }
  auto info = inspect(*cert);
  EXPECT_FALSE(info->is_ca);
  EXPECT_EQ(info->dns_names, std::vector<std::string>{name});
  EXPECT_EQ(info->public_key, node.public_key());
}

TEST(Certificates, ChainIsRefusedForTheRightReasons) {
  const Cluster cluster;
  const Cluster same_name;
  const PrivateKey node = *PrivateKey::generate();
  const Certificate cert = *issue_node_certificate(cluster.ca, cluster.key, node.public_key(), "nodea");
  const auto refused = [&](const Certificate& leaf, const Certificate& issuer, const ChainCheck& check) {
    auto verified = verify_chain(leaf, issuer, check);
    return !verified && verified.error().code() == Errc::denied;
  };
  EXPECT_TRUE(refused(cert, same_name.ca, {PeerKind::server, {}, kNow}));
  EXPECT_TRUE(refused(cert, cluster.ca, {PeerKind::server, "nodeb.node.samovar", kNow}));
  EXPECT_TRUE(refused(cert, cluster.ca, {PeerKind::server, {}, day(2050, 1, 2)}));
  EXPECT_TRUE(refused(cert, cluster.ca, {PeerKind::server, {}, day(2019, 12, 31)}));
  EXPECT_TRUE(refused(cluster.ca, cluster.ca, {PeerKind::server, {}, kNow}));
  EXPECT_TRUE(refused(cluster.ca, cert, {PeerKind::server, {}, kNow}));
  Certificate altered = cert;
  altered.der.back() ^= 1;  // in the signature
  EXPECT_FALSE(verify_chain(altered, cluster.ca, {PeerKind::server, {}, kNow}));
}

TEST(Certificates, IssuerMustHoldItsKey) {
  const Cluster cluster;
  const Cluster other;
  auto cert = issue_node_certificate(cluster.ca, other.key, other.key.public_key(), "nodea");
  ASSERT_FALSE(cert);
  EXPECT_EQ(cert.error().code(), Errc::invalid);
}

TEST(Certificates, NamesCannotInjectExtensions) {
  const Cluster cluster;
  Web web;
  EXPECT_FALSE(
      issue_node_certificate(cluster.ca, cluster.key, cluster.key.public_key(), "a,DNS:evil.example"));
  EXPECT_FALSE(issue_node_certificate(cluster.ca, cluster.key, cluster.key.public_key(), ""));
  EXPECT_FALSE(web.leaf({"box.local,DNS:bank.example"}, {}));
  EXPECT_FALSE(web.leaf({std::string("box.local\0.evil", 15)}, {}));
  EXPECT_FALSE(web.leaf({}, {"10.0.0.1,DNS:bank.example"}));
  EXPECT_FALSE(make_web_root(web.key, "box,permitted;DNS:com"));
}

TEST(WebCertificates, LeafIsForBrowsers) {
  Web web;
  auto leaf =
      web.leaf({"box.clinic.example", "box.local", "localhost"}, {"192.168.1.20", "fe80::1", "127.0.0.1"});
  ASSERT_TRUE(leaf) << leaf.error().message();
  auto info = inspect(*leaf);
  EXPECT_EQ(info->dns_names, (std::vector<std::string>{"box.clinic.example", "box.local", "localhost"}));
  EXPECT_EQ(info->ip_addresses, (std::vector<std::string>{"192.168.1.20", "fe80::1", "127.0.0.1"}));
  EXPECT_LE(info->not_after - info->not_before, std::chrono::days(397));
  EXPECT_LT(info->not_before, kNow);
  for (const char* name : {"box.clinic.example", "box.local", "192.168.1.20", "fe80::1"})
    EXPECT_TRUE(verify_chain(*leaf, web.root, {PeerKind::server, name, kNow})) << name;
  EXPECT_FALSE(verify_chain(*leaf, web.root, {PeerKind::server, "other.local", kNow}));
  EXPECT_FALSE(verify_chain(*leaf, web.root, {PeerKind::client, "box.local", kNow}));
  EXPECT_FALSE(verify_chain(*leaf, web.root, {PeerKind::server, "box.local", kNow + std::chrono::days(397)}));
}

TEST(WebCertificates, RootSpeaksForLocalNamesOnly) {
  Web web;
  EXPECT_FALSE(web.leaf({"bank.example"}, {}));
  EXPECT_FALSE(web.leaf({"clinic.example"}, {}));
  EXPECT_FALSE(web.leaf({"box.local", "evil.com"}, {}));
  EXPECT_FALSE(web.leaf({}, {"8.8.8.8"}));
  EXPECT_FALSE(web.leaf({}, {"172.32.0.1"}));
  EXPECT_FALSE(web.leaf({}, {"2001:db8::1"}));
  EXPECT_FALSE(web.leaf({}, {}));
  EXPECT_TRUE(web.leaf({"a.lan", "b.internal"}, {"10.1.2.3", "172.31.255.1", "fd00::7", "::1"}));
}

TEST(WebCertificates, CoversSaysWhatIssuingWillDo) {
  Web web;
  for (const char* name : {"box.local", "LOCALHOST", "x.box.clinic.example", "box.clinic.example",
                           "clinic.example", "notlocal", "a.notlocal", "local", "evil.com", "a.lan"})
    EXPECT_EQ(web_root_covers_name(name, "box.clinic.example"), web.leaf({name}, {}).has_value()) << name;
  for (const char* address :
       {"10.0.0.1", "11.0.0.1", "172.16.0.1", "172.32.0.1", "192.168.0.1", "192.169.0.1", "::1", "::2",
        "fe80::1", "fec0::1", "fd12::1", "2001:db8::1", "169.254.1.1", "100.64.0.1", "nonsense"})
    EXPECT_EQ(web_root_covers_address(address), web.leaf({}, {address}).has_value()) << address;
}

TEST(WebCertificates, AnyHostNameBecomesOneTheyCarry) {
  EXPECT_EQ(certifiable_host_name("box"), "box");
  EXPECT_EQ(certifiable_host_name("my_box.clinic"), "my-box.clinic");
  EXPECT_EQ(certifiable_host_name("_box_..lan."), "box.lan");
  EXPECT_EQ(certifiable_host_name(""), "samovar");
  EXPECT_EQ(certifiable_host_name("___"), "samovar");
  EXPECT_EQ(certifiable_host_name(std::string(300, 'x')), std::string(63, 'x'));
  const PrivateKey key = *PrivateKey::generate();
  for (const char* name : {"(none)", "büro", "a b c", ".", "-x-"})
    EXPECT_TRUE(make_web_root(key, certifiable_host_name(name))) << name;
}

TEST(WebCertificates, ClockOf1970StillMakesAValidLeaf) {
  Web web;
  auto leaf = web.leaf({"box.local"}, {}, day(1970, 1, 1));
  ASSERT_TRUE(leaf) << leaf.error().message();
  EXPECT_TRUE(verify_chain(*leaf, web.root, {PeerKind::server, "box.local", day(2020, 6, 1)}));
  EXPECT_TRUE(web.leaf({"box.local"}, {}, day(2049, 12, 31)));
}

TEST(Certificates, PemAndDerRoundTrip) {
  const Cluster cluster;
  const Web web;
  auto chain = certificates_from_pem("a comment\n" + cluster.ca.to_pem() + web.root.to_pem());
  ASSERT_TRUE(chain);
  ASSERT_EQ(chain->size(), 2U);
  EXPECT_EQ((*chain)[0].der, cluster.ca.der);
  EXPECT_EQ((*chain)[1].fingerprint(), web.root.fingerprint());
  EXPECT_FALSE(certificates_from_pem(""));
  EXPECT_FALSE(certificates_from_pem(std::string(as_text(cluster.key.to_pem().view()))));
  std::string cut = cluster.ca.to_pem();
  cut.resize(cut.size() - 40);
  EXPECT_FALSE(certificates_from_pem(cut));
  std::string many;
  for (int i = 0; i < 9; ++i) many += cluster.ca.to_pem();
  EXPECT_FALSE(certificates_from_pem(many));
  for (std::size_t size = 0; size < cluster.ca.der.size(); ++size)
    EXPECT_FALSE(certificate_from_der(ByteView(cluster.ca.der).first(size)));
}

TEST(Certificates, FingerprintIsAsBrowsersShowIt) {
  Hash256 fingerprint{};
  fingerprint[0] = 0xab;
  fingerprint[31] = 0x0f;
  const std::string text = format_fingerprint(fingerprint);
  EXPECT_EQ(text.size(), 95U);
  EXPECT_EQ(text.substr(0, 6), "AB:00:");
  EXPECT_EQ(text.substr(92), ":0F");
}

TEST(Csr, ProvesTheKey) {
  const PrivateKey key = *PrivateKey::generate();
  auto csr = make_csr(key, "node");
  ASSERT_TRUE(csr);
  EXPECT_EQ(*verify_csr(*csr), key.public_key());
  for (std::size_t i = 0; i < csr->size(); ++i) {
    Bytes bad = *csr;
    bad[i] ^= 1;
    auto verified = verify_csr(bad);
    // Some bytes only say how the rest is spelled; whatever is accepted must still name this very key.
    if (verified) {
      EXPECT_EQ(*verified, key.public_key()) << i;
    }
  }
  Bytes forged = *csr;
  forged[csr->size() - 5] ^= 1;  // in the signature
  EXPECT_FALSE(verify_csr(forged));
}

TEST(Csr, SignedKeyBecomesANodeCertificate) {
  const Cluster cluster;
  const PrivateKey key = *PrivateKey::generate();
  auto public_key = verify_csr(*make_csr(key, "node"));
  ASSERT_TRUE(public_key);
  const std::string id = node_id_of(*public_key);
  EXPECT_TRUE(issue_node_certificate(cluster.ca, cluster.key, *public_key, id));
}

}  // namespace
}  // namespace samovar::security
