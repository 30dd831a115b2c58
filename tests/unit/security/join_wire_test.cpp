#include "security/join_wire.hpp"

#include <gtest/gtest.h>

#include "tests/unit/security/join_pair.hpp"

namespace samovar::security {
namespace {

TEST(JoinWire, RefusalsKeepTheirReasonAndAreStrict) {
  for (std::uint8_t reason = 1; reason <= 10; ++reason) {
    const Bytes message = encode_refusal({static_cast<JoinRefusal>(reason), 125});
    const auto back = decode_refusal(message);
    ASSERT_TRUE(back);
    EXPECT_EQ(static_cast<std::uint8_t>(back->reason), reason);
    EXPECT_EQ(back->retry_seconds, 125);
    EXPECT_GT(describe(*back).size(), 10u);
  }
  EXPECT_NE(describe({JoinRefusal::too_many, 125}).find("3 minutes"), std::string::npos);
  EXPECT_FALSE(decode_refusal(encode_refusal({static_cast<JoinRefusal>(11), 0})));
  EXPECT_FALSE(decode_refusal(encode_refusal({static_cast<JoinRefusal>(0), 0})));
  EXPECT_FALSE(decode_refusal(encode_who()));
}

TEST(JoinWire, AnotherProtocolVersionIsSaidInWords) {
  const TestCluster cluster;
  Bytes j1 = JoinMember::begin(cluster.offer())->j1();
  j1[1] = 2;
  const auto decoded = decode_j1(j1);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code(), Errc::unsupported);
  EXPECT_NE(decoded.error().message().find("version"), std::string::npos);
}

TEST(JoinWire, KindsAreKnownByTheirFirstByte) {
  EXPECT_EQ(join_kind(encode_who()), JoinKind::who);
  EXPECT_FALSE(join_kind({}));
  EXPECT_FALSE(join_kind(Bytes{0}));
  EXPECT_FALSE(join_kind(Bytes{9}));
  EXPECT_FALSE(join_kind(Bytes{255}));
}

TEST(JoinWire, NamesThatCouldSteerAConsoleAreRefused) {
  const TestCluster cluster;
  for (const std::string name :
       {"a\nb", "a\x1b[2Jb", "a\x7f", "\xc2\x9b", "a\xe2\x80\xae", "\xff", "\xc0\xaf", "\xed\xa0\x80",
        "\xf4\x90\x80\x80", "\xe2\x81\xa6x", "\xef\xbb\xbf"}) {
    JoinCluster offer = cluster.offer();
    offer.cluster_name = name;
    EXPECT_FALSE(JoinMember::begin(offer)) << name;
    EXPECT_FALSE(is_plain_text(name, 100));
  }
  EXPECT_TRUE(is_plain_text("Klinik für Kinder · 小児科 🙂", 100));
  EXPECT_FALSE(is_plain_text("abcd", 3));
  JoinCluster long_name = cluster.offer();
  long_name.cluster_name = std::string(257, 'x');
  EXPECT_FALSE(JoinMember::begin(long_name));
}

TEST(JoinWire, AnOfferNeedsARealNodeId) {
  const TestCluster cluster;
  JoinCluster offer = cluster.offer();
  offer.member_id.back() = offer.member_id.back() == '0' ? '1' : '0';
  EXPECT_FALSE(JoinMember::begin(offer));
}

TEST(JoinWire, FactsHaveBoundsAndAreMadeToFit) {
  JoinRequest request;
  const auto fits = [&](const JoinFacts& facts) {
    request.facts = facts;
    return encode_j2_body(request).has_value();
  };
  EXPECT_TRUE(fits(test_facts()));
  EXPECT_TRUE(fits({}));
  JoinFacts facts = test_facts();
  facts.addresses.assign(17, "10.0.0.1:7443");
  EXPECT_FALSE(fits(facts));
  EXPECT_TRUE(fits(fitting(facts)));
  EXPECT_EQ(fitting(facts).addresses.size(), 16u);
  facts = test_facts();
  facts.addresses = {"10.0.0.1 7443", "", "10.0.0.2:7443"};
  EXPECT_FALSE(fits(facts));
  EXPECT_EQ(fitting(facts).addresses, std::vector<std::string>{"10.0.0.2:7443"});
  facts = test_facts();
  facts.hostname = "a\nb";
  facts.model = std::string(300, 'x');
  facts.version = "1 2";
  EXPECT_FALSE(fits(facts));
  EXPECT_TRUE(fits(fitting(facts)));
  EXPECT_EQ(fitting(test_facts()).hostname, "board-7");
}

TEST(JoinWire, ABeaconOfAnyLengthDoesNotFitIntoHere) {
  EXPECT_TRUE(decode_here(encode_here(Bytes(512))));
  EXPECT_FALSE(decode_here(encode_here(Bytes(513))));
}

}  // namespace
}  // namespace samovar::security
