#include "security/identity.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/sim/sim_disk.hpp"

namespace samovar::security {
namespace {

constexpr const char* kDir = "/state/identity";

bool same(const NodeIdentity& a, const NodeIdentity& b) {
  return a.node_id == b.node_id && a.tls_key.to_der().equal(b.tls_key.to_der()) &&
         a.sign_key.equal(b.sign_key) && a.box_key.equal(b.box_key) && a.sign_public == b.sign_public &&
         a.box_public == b.box_public;
}

TEST(Identity, IsMadeOnceAndStays) {
  SimDisk disk(1);
  EXPECT_EQ(load_identity(disk, kDir).error().code(), Errc::not_found);
  auto made = load_or_create_identity(disk, kDir);
  ASSERT_TRUE(made) << made.error().message();
  disk.crash();  // what was returned is durable
  auto again = load_or_create_identity(disk, kDir);
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_TRUE(same(*made, *again));
  EXPECT_TRUE(load_identity(disk, kDir));
}

TEST(Identity, PublicHalvesFit) {
  auto identity = make_identity();
  ASSERT_TRUE(identity);
  EXPECT_EQ(identity->node_id, node_id_of(identity->tls_key.public_key()));
  const auto signature = sign(*identity, as_bytes("hello"));
  EXPECT_TRUE(verify_signature(identity->sign_public, as_bytes("hello"), signature));
  EXPECT_FALSE(verify_signature(identity->sign_public, as_bytes("hellp"), signature));
  EXPECT_FALSE(verify_signature(identity->box_public, as_bytes("hello"), signature));
  EXPECT_FALSE(verify_signature({}, as_bytes("hello"), signature));
  EXPECT_FALSE(verify_signature(identity->sign_public, as_bytes("hello"), ByteView(signature).first(63)));
}

TEST(Identity, EveryFlippedBitIsDamageWithARemedy) {
  const SecretBytes good = encode_identity(*make_identity());
  ASSERT_TRUE(decode_identity(good.view()));
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    Bytes bad = to_bytes(good.view());
    bad[bit / 8] = static_cast<std::uint8_t>(bad[bit / 8] ^ (1U << (bit % 8)));
    auto decoded = decode_identity(bad);
    ASSERT_FALSE(decoded) << bit;
    ASSERT_EQ(decoded.error().code(), Errc::corrupt) << bit;
    ASSERT_NE(decoded.error().message().find("restore"), std::string::npos);
  }
  for (std::size_t size = 0; size < good.size(); ++size)
    ASSERT_FALSE(decode_identity(good.view().first(size)));
}

TEST(Identity, DamagedFileIsNeverReplaced) {
  SimDisk disk(2);
  auto made = load_or_create_identity(disk, kDir);
  ASSERT_TRUE(made);
  ASSERT_TRUE(disk.flip_bit(std::string(kDir) + "/node.key", 777));
  const Bytes before = *disk.read_file(std::string(kDir) + "/node.key", 4096);
  auto again = load_or_create_identity(disk, kDir);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code(), Errc::corrupt);
  EXPECT_EQ(*disk.read_file(std::string(kDir) + "/node.key", 4096), before);
}

TEST(Identity, LostKeyFileIsNeverReplaced) {
  SimDisk disk(3);
  ASSERT_TRUE(load_or_create_identity(disk, kDir));
  ASSERT_TRUE(disk.remove(std::string(kDir) + "/node.key"));
  auto again = load_or_create_identity(disk, kDir);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code(), Errc::corrupt);
  EXPECT_FALSE(disk.exists(std::string(kDir) + "/node.key"));
}

TEST(Identity, KeyFileOfAnotherNodeIsRefused) {
  SimDisk disk(4);
  auto here = load_or_create_identity(disk, kDir);
  auto other = make_identity();
  ASSERT_TRUE(here && other);
  ASSERT_TRUE(disk.write_file(std::string(kDir) + "/node.key", encode_identity(*other).view()));
  auto loaded = load_or_create_identity(disk, kDir);
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().message().find(short_node_id(here->node_id)), std::string::npos);
  EXPECT_NE(loaded.error().message().find(short_node_id(other->node_id)), std::string::npos);
}

TEST(Identity, OverlongFileIsDamage) {
  SimDisk disk(5);
  ASSERT_TRUE(load_or_create_identity(disk, kDir));
  ASSERT_TRUE(disk.write_file(std::string(kDir) + "/node.key", Bytes(100'000)));
  EXPECT_EQ(load_or_create_identity(disk, kDir).error().code(), Errc::corrupt);
}

// Fail the n-th disk operation, for every n: an error is told, and the next start either finds the
// identity that was promised or makes one; it never gets stuck and never changes its mind.
TEST(Identity, EveryFailingOperationIsSurvived) {
  std::uint64_t n = 1;
  for (; n < 100; ++n) {
    SimDisk disk(n);
    disk.fail_nth(n);
    auto first = load_or_create_identity(disk, kDir);
    disk.crash();
    auto second = load_or_create_identity(disk, kDir);
    ASSERT_TRUE(second) << n << ": " << second.error().message();
    if (first) {
      EXPECT_EQ(first->node_id, second->node_id) << n;
    }
    if (disk.operations() < n) break;
  }
  EXPECT_GT(n, 5U);  // it did fail something
  EXPECT_LT(n, 100U);
}

TEST(Identity, PowerCutAtEveryOperationIsSurvived) {
  for (std::uint64_t n = 1; n < 15; ++n) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      SimDisk disk(seed);
      disk.cut_power_at(n);
      auto first = load_or_create_identity(disk, kDir);
      disk.crash();
      auto second = load_or_create_identity(disk, kDir);
      ASSERT_TRUE(second) << n << "/" << seed << ": " << second.error().message();
      if (first) {
        EXPECT_EQ(first->node_id, second->node_id);
      }
    }
  }
}

TEST(NodeId, KnownAnswer) { EXPECT_EQ(node_id_of(as_bytes("spki")), "zrq8ygp4738n768ftaqwhjev17pm2gke09"); }

TEST(NodeId, ForgivesSpellingOnly) {
  const std::string id = node_id_of(as_bytes("spki"));
  EXPECT_EQ(*parse_node_id("ZRQ8YGP4-738N768F-TAQWHJEV-I7PM2GKE-09"), id);
  EXPECT_EQ(short_node_id(id), "ZRQ8-YGP4");
  EXPECT_FALSE(parse_node_id(""));
  EXPECT_FALSE(parse_node_id(id + "0"));
  EXPECT_FALSE(parse_node_id(std::string(1000, '0')));
}

TEST(NodeId, EveryWrongCharacterAndSwapIsFound) {
  const std::string alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
  const std::string id = node_id_of(as_bytes("spki"));
  for (std::size_t i = 0; i < id.size(); ++i) {
    for (const char c : alphabet) {
      std::string bad = id;
      bad[i] = c;
      EXPECT_EQ(parse_node_id(bad).has_value(), c == id[i]) << bad;
    }
    for (std::size_t j = i + 1; j < id.size() - 2; ++j) {
      std::string bad = id;
      std::swap(bad[i], bad[j]);
      EXPECT_EQ(parse_node_id(bad).has_value(), bad == id) << bad;
    }
  }
}

}  // namespace
}  // namespace samovar::security
