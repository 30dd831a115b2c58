#include "security/join.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "base/encoding.hpp"
#include "security/join_wire.hpp"
#include "tests/unit/security/join_pair.hpp"
#include "tests/unit/security/join_vectors.hpp"

namespace samovar::security {
namespace {

// One handshake, message by message, with a hand in between: `bend(name, bytes)` may change what is on its
// way. Tells whether some check refused, and which codes the two ends have.
struct Outcome {
  std::string refused_at;  // empty: it went through
  std::string node_code;
  bool code_fits = false;
  std::optional<JoinGrant> grant;
};
using Bend = std::function<void(std::string_view, Bytes&)>;

Outcome shake_hands(const TestCluster& cluster, const NodeIdentity& identity, const Bend& bend) {
  Outcome out;
  auto member = JoinMember::begin(cluster.offer());
  auto node = JoinNode::begin(identity, test_facts());
  const auto carried = [&](std::string_view name, Bytes message) {
    bend(name, message);
    return message;
  };
  const auto refused = [&](const char* at) {
    out.refused_at = at;
    return std::move(out);
  };
  if (!node->take_j1(carried("J1", member->j1()))) return refused("J1");
  const auto candidate = member->take_j2(carried("J2", node->j2()));
  if (!candidate) return refused("J2");
  if (!node->take_j3(carried("J3", member->j3()))) return refused("J3");
  out.node_code = node->code();
  out.code_fits = member->code_matches(out.node_code);
  const JoinGrant grant = cluster.grant(*candidate);
  if (!node->take_j4(carried("J4", *member->j4(grant)))) return refused("J4");
  if (!member->take_j5(carried("J5", node->j5()))) return refused("J5");
  auto kept = node->take_j6(carried("J6", *member->j6(grant)));
  if (!kept) return refused("J6");
  out.grant.emplace(*std::move(kept));
  if (!member->take_j7(carried("J7", node->j7()))) return refused("J7");
  return out;
}

TEST(Join, BothSidesAgreeAndTheGrantArrivesWhole) {
  const TestCluster cluster;
  const NodeIdentity identity = *make_identity();
  const Outcome out = shake_hands(cluster, identity, [](std::string_view, Bytes&) {});
  EXPECT_EQ(out.refused_at, "");
  EXPECT_TRUE(out.code_fits);
  ASSERT_EQ(out.node_code.size(), 7u);
  EXPECT_EQ(out.node_code[3], ' ');
  ASSERT_TRUE(out.grant);
  EXPECT_EQ(out.grant->cluster_id, cluster.id);
  EXPECT_EQ(out.grant->members, to_bytes("the members"));
  EXPECT_EQ(out.grant->keyring, to_bytes("a keyring"));
  EXPECT_EQ(out.grant->key_generation, 7u);
  EXPECT_TRUE(out.grant->key_file);
  EXPECT_TRUE(out.grant->cmk.equal(Bytes(32, 0x5a)));
  EXPECT_EQ(inspect(out.grant->certificate)->public_key, identity.tls_key.public_key());
}

TEST(Join, TheMemberLearnsWhatTheNodeSaysOfItself) {
  const TestCluster cluster;
  const NodeIdentity identity = *make_identity();
  auto member = JoinMember::begin(cluster.offer());
  auto node = JoinNode::begin(identity, test_facts());
  const auto offered = node->take_j1(member->j1());
  ASSERT_TRUE(offered);
  EXPECT_EQ(offered->cluster_name, "Städtische Klinik");
  EXPECT_EQ(offered->member_id, cluster.member.node_id);
  const auto candidate = member->take_j2(node->j2());
  ASSERT_TRUE(candidate);
  EXPECT_EQ(candidate->node_id, identity.node_id);
  EXPECT_EQ(candidate->sign_public, identity.sign_public);
  EXPECT_EQ(candidate->box_public, identity.box_public);
  EXPECT_EQ(candidate->facts.hostname, "board-7");
  EXPECT_EQ(candidate->facts.addresses, test_facts().addresses);
  EXPECT_EQ(candidate->facts.clock_us, test_facts().clock_us);
}

// Every byte of every message: no change goes unseen. All of them end in a refusal here, before a person
// would have to notice anything.
TEST(Join, EveryFlippedByteOfEveryMessageIsRefused) {
  const TestCluster cluster;
  const NodeIdentity identity = *make_identity();
  std::vector<std::pair<std::string, std::size_t>> sizes;
  shake_hands(cluster, identity,
              [&](std::string_view name, Bytes& message) { sizes.emplace_back(name, message.size()); });
  ASSERT_EQ(sizes.size(), 7u);
  for (const auto& message_kind : sizes) {
    const std::string& name = message_kind.first;
    for (std::size_t i = 0; i < message_kind.second; ++i) {
      const Outcome out = shake_hands(cluster, identity, [&](std::string_view at, Bytes& message) {
        // ECDSA signatures vary by a byte or two in length.
        if (at == name) message[std::min(i, message.size() - 1)] ^= static_cast<std::uint8_t>(1U << (i % 8));
      });
      ASSERT_FALSE(out.refused_at.empty()) << name << " byte " << i;
      ASSERT_FALSE(out.grant && name != "J7") << name << " byte " << i;
    }
  }
}

TEST(Join, ShortenedAndLengthenedMessagesAreRefused) {
  const TestCluster cluster;
  const NodeIdentity identity = *make_identity();
  for (const std::string name : {"J1", "J2", "J3", "J4", "J5", "J6", "J7"}) {
    for (const int change : {-1, -20, +1, +100, -100'000, +100'000}) {
      const Outcome out = shake_hands(cluster, identity, [&](std::string_view at, Bytes& message) {
        if (at != name) return;
        const auto size = static_cast<long>(message.size()) + change;
        message.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
      });
      ASSERT_FALSE(out.refused_at.empty()) << name << " " << change;
    }
  }
}

// Somebody between the two answers each with keys of their own: both handshakes are honest as such, and the
// codes tell.
TEST(Join, AManInTheMiddleHasAnotherCode) {
  const TestCluster cluster;
  const TestCluster rogue;
  const NodeIdentity identity = *make_identity();
  const NodeIdentity mask = *make_identity();
  unsigned same = 0;
  for (int i = 0; i < 50; ++i) {
    auto member = JoinMember::begin(cluster.offer());
    auto false_node = JoinNode::begin(mask, test_facts());
    JoinCluster lie = cluster.offer();
    lie.ca = rogue.ca;
    auto false_member = JoinMember::begin(lie);
    auto node = JoinNode::begin(identity, test_facts());
    ASSERT_TRUE(false_node->take_j1(member->j1()));
    ASSERT_TRUE(node->take_j1(false_member->j1()));
    ASSERT_TRUE(member->take_j2(false_node->j2()));
    ASSERT_TRUE(false_member->take_j2(node->j2()));
    ASSERT_TRUE(false_node->take_j3(member->j3()));
    ASSERT_TRUE(node->take_j3(false_member->j3()));
    if (member->code_matches(node->code())) ++same;
  }
  EXPECT_EQ(same, 0u);  // fails once in 20,000 runs by luck
}

// Passing the messages on is all a relay can do without another code; then it holds no key.
TEST(Join, ARelayCannotPutItsOwnKeyIn) {
  const TestCluster cluster;
  const NodeIdentity identity = *make_identity();
  auto member = JoinMember::begin(cluster.offer());
  auto node = JoinNode::begin(identity, test_facts());
  ASSERT_TRUE(node->take_j1(member->j1()));
  auto decoded = decode_j2(node->j2());
  ASSERT_TRUE(decoded);
  decoded->request.ephemeral = JoinKey{9};
  const Bytes swapped = with_signature(*encode_j2_body(decoded->request), decoded->request.signature);
  const auto taken = member->take_j2(swapped);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code(), Errc::denied);
}

TEST(Join, ANonceOtherThanTheCommittedOneIsRefused) {
  const TestCluster cluster;
  const NodeIdentity identity = *make_identity();
  auto member = JoinMember::begin(cluster.offer());
  auto node = JoinNode::begin(identity, test_facts());
  ASSERT_TRUE(node->take_j1(member->j1()));
  EXPECT_FALSE(node->take_j3(encode_fixed(JoinKind::j3, Bytes(32, 1))));
}

TEST(Join, APointOfSmallOrderIsRefused) {
  TestCluster cluster;
  const NodeIdentity identity = *make_identity();
  auto node = JoinNode::begin(identity, test_facts());
  JoinOffer offer{cluster.offer(), JoinKey{}, {}};  // zero: the secret would be zero
  const Bytes nonce(32, 3);
  offer.commitment = blake2b_256(as_bytes("samovar-c1" + std::string(as_text(nonce))));
  ASSERT_TRUE(node->take_j1(*encode_j1(offer)));
  const auto taken = node->take_j3(encode_fixed(JoinKind::j3, nonce));
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code(), Errc::denied);
}

TEST(Join, ACertificateOfAnotherKeyOrAuthorityIsRefused) {
  const TestCluster cluster;
  const TestCluster other;
  const NodeIdentity identity = *make_identity();
  const NodeIdentity stranger = *make_identity();
  const auto try_grant = [&](const std::function<void(JoinGrant&)>& change) {
    auto member = JoinMember::begin(cluster.offer());
    auto node = JoinNode::begin(identity, test_facts());
    EXPECT_TRUE(node->take_j1(member->j1()));
    const auto candidate = member->take_j2(node->j2());
    EXPECT_TRUE(node->take_j3(member->j3()));
    JoinGrant grant = cluster.grant(*candidate);
    change(grant);
    return node->take_j4(*member->j4(grant)).has_value();
  };
  EXPECT_TRUE(try_grant([](JoinGrant&) {}));
  EXPECT_FALSE(try_grant([&](JoinGrant& grant) {
    grant.certificate =
        *issue_node_certificate(cluster.ca, cluster.ca_key, stranger.tls_key.public_key(), stranger.node_id);
  }));
  EXPECT_FALSE(try_grant([&](JoinGrant& grant) {
    grant.certificate =
        *issue_node_certificate(other.ca, other.ca_key, identity.tls_key.public_key(), identity.node_id);
  }));
  EXPECT_FALSE(try_grant([&](JoinGrant& grant) { grant.ca = other.ca; }));
  EXPECT_FALSE(try_grant([&](JoinGrant& grant) { grant.cluster_id = "clu_other"; }));
  EXPECT_FALSE(try_grant([&](JoinGrant& grant) {  // the right key under somebody else's name
    grant.certificate =
        *issue_node_certificate(cluster.ca, cluster.ca_key, identity.tls_key.public_key(), stranger.node_id);
  }));
}

TEST(Join, OnlyAnAuthoritysCertificateIsTakenInJ1) {
  const TestCluster cluster;
  const NodeIdentity identity = *make_identity();
  JoinCluster offer = cluster.offer();
  offer.ca =
      *issue_node_certificate(cluster.ca, cluster.ca_key, identity.tls_key.public_key(), identity.node_id);
  auto node = JoinNode::begin(identity, test_facts());
  EXPECT_EQ(node->take_j1(JoinMember::begin(offer)->j1()).error().code(), Errc::denied);
  offer.ca.der = to_bytes("no certificate");
  EXPECT_FALSE(JoinNode::begin(identity, test_facts())->take_j1(JoinMember::begin(offer)->j1()));
}

TEST(Join, TypedCodesMayHaveSpacesAndNothingElse) {
  const TestCluster cluster;
  const NodeIdentity identity = *make_identity();
  auto member = JoinMember::begin(cluster.offer());
  auto node = JoinNode::begin(identity, test_facts());
  ASSERT_TRUE(node->take_j1(member->j1()) && member->take_j2(node->j2()) && node->take_j3(member->j3()));
  const std::string code = node->code();
  const std::string digits = code.substr(0, 3) + code.substr(4);
  EXPECT_TRUE(member->code_matches(code));
  EXPECT_TRUE(member->code_matches(digits));
  EXPECT_TRUE(member->code_matches("  " + digits.substr(0, 2) + "-" + digits.substr(2) + " "));
  EXPECT_FALSE(member->code_matches(digits + "0"));
  EXPECT_FALSE(member->code_matches(digits.substr(0, 5)));
  EXPECT_FALSE(member->code_matches("0" + digits));
  EXPECT_FALSE(member->code_matches(digits + "x"));
  EXPECT_FALSE(member->code_matches(""));
  EXPECT_FALSE(member->code_matches(std::string(70, ' ') + digits));
  for (std::size_t i = 0; i < 6; ++i) {
    std::string wrong = digits;
    wrong[i] = wrong[i] == '9' ? '0' : static_cast<char>(wrong[i] + 1);
    EXPECT_FALSE(member->code_matches(wrong)) << i;
  }
}

TEST(Join, WordsAreProvedBothWaysAndNotByEcho) {
  const TestCluster cluster;
  const NodeIdentity identity = *make_identity();
  auto member = JoinMember::begin(cluster.offer(JoinForm::words));
  auto node = JoinNode::begin(identity, test_facts());
  ASSERT_TRUE(node->take_j1(member->j1()) && member->take_j2(node->j2()) && node->take_j3(member->j3()));
  const SecretBytes right = SecretBytes::copy_of(Bytes(32, 1));
  const SecretBytes wrong = SecretBytes::copy_of(Bytes(32, 2));
  const Bytes of_node = node->words_proof(right);
  const Bytes of_member = member->words_proof(right);
  EXPECT_TRUE(member->words_proof_matches(right, of_node));
  EXPECT_TRUE(node->words_proof_matches(right, of_member));
  EXPECT_FALSE(member->words_proof_matches(wrong, of_node));
  EXPECT_FALSE(node->words_proof_matches(wrong, of_member));
  EXPECT_FALSE(member->words_proof_matches(right, of_member));
  EXPECT_FALSE(node->words_proof_matches(right, of_node));
  for (std::size_t i = 0; i < of_node.size(); ++i) {
    Bytes bent = of_node;
    bent[i] ^= 0x10;
    EXPECT_FALSE(member->words_proof_matches(right, bent)) << i;
  }
}

TEST(Join, ARecordedHandshakeGivesTheKnownAnswers) {
  const auto bytes = [](std::string_view hex) { return *hex_decode(hex); };
  JoinSecrets secrets{SecretBytes::copy_of(Bytes(32, 0x11)), SecretBytes::copy_of(Bytes(32, 0x12))};
  const JoinCluster cluster{"clu_01JTEST0000000000000000000",
                            "Städtische Klinik",
                            std::string(vectors::kJoinMemberId),
                            Certificate{bytes(vectors::kJoinCa)},
                            "1.2.3",
                            JoinForm::code};
  auto member = JoinMember::begin(cluster, std::move(secrets));
  ASSERT_TRUE(member);
  EXPECT_EQ(member->j1(), bytes(vectors::kJoinJ1));
  const auto candidate = member->take_j2(bytes(vectors::kJoinJ2));
  ASSERT_TRUE(candidate) << candidate.error().message();
  EXPECT_EQ(candidate->facts.hostname, "board-7");
  EXPECT_EQ(member->j3(), bytes(vectors::kJoinJ3));
  EXPECT_TRUE(member->code_matches(vectors::kJoinCode));
  EXPECT_TRUE(member->take_j5(bytes(vectors::kJoinJ5)));
  EXPECT_TRUE(member->take_j7(bytes(vectors::kJoinJ7)));
  EXPECT_TRUE(
      member->words_proof_matches(SecretBytes::copy_of(Bytes(32, 1)), bytes(vectors::kJoinWordsProof)));
}

}  // namespace
}  // namespace samovar::security
