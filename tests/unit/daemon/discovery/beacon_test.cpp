#include "daemon/discovery/beacon.hpp"

#include <gtest/gtest.h>

namespace samovar::discovery {
namespace {

Beacon unclaimed() {
  Beacon beacon;
  beacon.join_port = 7443;
  beacon.web_port = 8443;
  beacon.model = "Jetson TX1";
  beacon.hostname = "board-7";
  beacon.version = "1.2.3";
  beacon.boot = 0x1122334455667788;
  beacon.sequence = 3;
  return beacon;
}

TEST(Beacon, CarriesWhatAnUnclaimedNodeSays) {
  const auto identity = *security::make_identity();
  Beacon said = unclaimed();
  said.words = true;
  said.ask = true;
  const auto bytes = encode_beacon(said, identity);
  ASSERT_TRUE(bytes);
  EXPECT_LE(bytes->size(), kBeaconBytesMax);
  const auto heard = decode_beacon(*bytes);
  ASSERT_TRUE(heard) << heard.error().message();
  EXPECT_EQ(heard->node_id, identity.node_id);
  EXPECT_EQ(heard->sign_public, identity.sign_public);
  EXPECT_FALSE(heard->member);
  EXPECT_TRUE(heard->words);
  EXPECT_TRUE(heard->ask);
  EXPECT_EQ(heard->join_port, 7443);
  EXPECT_EQ(heard->web_port, 8443);
  EXPECT_EQ(heard->model, "Jetson TX1");
  EXPECT_EQ(heard->hostname, "board-7");
  EXPECT_EQ(heard->version, "1.2.3");
  EXPECT_EQ(heard->boot, said.boot);
  EXPECT_EQ(heard->sequence, 3u);
}

TEST(Beacon, AMemberSaysNoNames) {
  const auto identity = *security::make_identity();
  Beacon said = unclaimed();
  said.member = true;
  said.words = true;
  said.cluster_tag = cluster_tag("clu_1");
  const auto bytes = encode_beacon(said, identity);
  ASSERT_TRUE(bytes);
  const auto heard = decode_beacon(*bytes);
  ASSERT_TRUE(heard);
  EXPECT_TRUE(heard->member);
  EXPECT_FALSE(heard->words);
  EXPECT_EQ(heard->cluster_tag, cluster_tag("clu_1"));
  EXPECT_NE(heard->cluster_tag, cluster_tag("clu_2"));
  EXPECT_EQ(heard->hostname + heard->model, "");
  EXPECT_EQ(as_text(*bytes).find("board-7"), std::string_view::npos);
}

TEST(Beacon, EveryFlippedBitIsRefused) {
  const auto identity = *security::make_identity();
  const Bytes good = *encode_beacon(unclaimed(), identity);
  for (std::size_t bit = 0; bit < good.size() * 8; bit += 3) {
    Bytes bad = good;
    bad[bit / 8] = static_cast<std::uint8_t>(bad[bit / 8] ^ (1U << (bit % 8)));
    ASSERT_FALSE(decode_beacon(bad)) << bit;
  }
  for (std::size_t size = 0; size < good.size(); ++size)
    ASSERT_FALSE(decode_beacon(ByteView(good).first(size)));
  Bytes longer = good;
  longer.push_back(0);
  EXPECT_FALSE(decode_beacon(longer));
  EXPECT_FALSE(decode_beacon(Bytes(2000, 'S')));
}

TEST(Beacon, ALaterFormatIsToldFromNoise) {
  const auto identity = *security::make_identity();
  Bytes later = *encode_beacon(unclaimed(), identity);
  later[4] = 2;
  EXPECT_EQ(decode_beacon(later).error().code(), Errc::unsupported);
  EXPECT_EQ(decode_beacon(Bytes(100, 'x')).error().code(), Errc::invalid);
}

TEST(Beacon, LongAndStrangeNamesAreCutOrLeftOut) {
  const auto identity = *security::make_identity();
  Beacon said = unclaimed();
  said.hostname = std::string(63, 'a') + "ä" + std::string(500, 'b');  // the 64th byte is half a letter
  said.model = "steered\x1b[2J";
  said.version = std::string(100, '9');
  const auto bytes = encode_beacon(said, identity);
  ASSERT_TRUE(bytes);
  EXPECT_LE(bytes->size(), kBeaconBytesMax);
  const auto heard = decode_beacon(*bytes);
  ASSERT_TRUE(heard) << heard.error().message();
  EXPECT_EQ(heard->hostname, std::string(63, 'a'));
  EXPECT_EQ(heard->model, "");
  EXPECT_EQ(heard->version.size(), 32u);
}

TEST(Beacon, AnotherNodesIdCannotBeClaimed) {
  const auto identity = *security::make_identity();
  const auto thief = *security::make_identity();
  const Bytes mine = *encode_beacon(unclaimed(), identity);
  Bytes theirs = *encode_beacon(unclaimed(), thief);
  const Bytes key = identity.tls_key.public_key();
  // Their signature over a beacon with our key in it.
  const auto at = std::search(mine.begin(), mine.end(), key.begin(), key.end()) - mine.begin();
  std::copy(key.begin(), key.end(), theirs.begin() + at);
  EXPECT_EQ(read_beacon(theirs)->node_id, identity.node_id);
  EXPECT_FALSE(decode_beacon(theirs));
}

}  // namespace
}  // namespace samovar::discovery
