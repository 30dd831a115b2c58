// Messages of multicast DNS, and who is answered with what.
#include <gtest/gtest.h>

#include "daemon/discovery/mdns_names.hpp"

namespace samovar::discovery {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr MonoTime kStart{std::chrono::hours(1)};
constexpr std::uint16_t kA = 1;
constexpr std::uint16_t kAaaa = 28;

void put(Bytes& out, unsigned value) {
  out.push_back(static_cast<std::uint8_t>(value >> 8));
  out.push_back(static_cast<std::uint8_t>(value));
}

void put_name(Bytes& out, const std::vector<std::string>& labels) {
  for (const std::string& label : labels) {
    out.push_back(static_cast<std::uint8_t>(label.size()));
    out.insert(out.end(), label.begin(), label.end());
  }
  out.push_back(0);
}

// What an asker sends: one question, what it knows, and what it is about to claim.
Bytes question(const std::vector<std::string>& name, unsigned type, bool unicast = false,
               const std::vector<Bytes>& known = {}, const std::vector<Bytes>& proposed = {},
               std::uint32_t known_seconds = 120) {
  Bytes out;
  for (const std::size_t word :
       {std::size_t{7}, std::size_t{0}, std::size_t{1}, known.size(), proposed.size(), std::size_t{0}})
    put(out, static_cast<unsigned>(word));
  put_name(out, name);
  put(out, type);
  put(out, unicast ? 0x8001 : 1);
  for (const auto* records : {&known, &proposed}) {
    for (const Bytes& data : *records) {
      put(out, 0xc00c);  // the question's name
      put(out, kA);
      put(out, 1);
      put(out, 0);
      put(out, known_seconds);
      put(out, static_cast<unsigned>(data.size()));
      out.insert(out.end(), data.begin(), data.end());
    }
  }
  return out;
}

const Bytes kOwn = {10, 0, 0, 7};
const Bytes kOther = {10, 0, 0, 9};

class MdnsNamesTest : public testing::Test {
 protected:
  MdnsNamesTest() { names.set({{"samovar.local", true}, {"samovar-k7q2.local", false}}); }
  std::optional<MdnsNames::Reply> ask(const Bytes& datagram, MonoTime at = kStart,
                                      std::uint16_t port = kMdnsPort) {
    return names.hear(at, datagram, {"10.0.0.8", port, 2}, {"10.0.0.7", "fd00::7", "fe80::7"},
                      {"10.0.0.7", "192.168.1.7"});
  }
  MdnsNames names;
};

TEST_F(MdnsNamesTest, AnswersToAllWithTheCardsAddress) {
  const auto reply = ask(question({"SAMOVAR", "local"}, kA));
  ASSERT_TRUE(reply);
  EXPECT_TRUE(reply->to_all);
  const auto said = read_mdns(reply->bytes);
  ASSERT_TRUE(said) << said.error().message();
  EXPECT_TRUE(said->response);
  EXPECT_EQ(said->id, 0);
  EXPECT_TRUE(said->questions.empty());
  ASSERT_EQ(said->answers.size(), 1u);
  EXPECT_EQ(said->answers[0].name, "samovar.local");
  EXPECT_EQ(said->answers[0].data, kOwn);
  EXPECT_EQ(said->answers[0].seconds, kMdnsSeconds);
  EXPECT_FALSE(said->answers[0].unique) << "other nodes answer for it, too";
}

TEST_F(MdnsNamesTest, ANodesOwnNameIsItsAlone) {
  const auto reply = ask(question({"samovar-k7q2", "local"}, 255));
  ASSERT_TRUE(reply);
  const auto said = read_mdns(reply->bytes);
  ASSERT_TRUE(said);
  ASSERT_EQ(said->answers.size(), 2u) << "IPv4 and IPv6, not what is valid on one computer only";
  EXPECT_TRUE(said->answers[0].unique);
  EXPECT_EQ(said->answers[1].type, kAaaa);
}

TEST_F(MdnsNamesTest, OtherNamesAndTypesGetNoAnswer) {
  EXPECT_FALSE(ask(question({"printer", "local"}, kA)));
  EXPECT_FALSE(ask(question({"samovar", "local", "lan"}, kA)));
  EXPECT_FALSE(ask(question({"samovar"}, kA)));
  EXPECT_FALSE(ask(question({"samovar", "local"}, 16)));
  EXPECT_FALSE(ask(question({"samo\x1bvar", "local"}, kA)));
}

TEST_F(MdnsNamesTest, WhatTheAskerKnowsIsNotRepeated) {
  EXPECT_FALSE(ask(question({"samovar", "local"}, kA, false, {kOwn})));
  EXPECT_TRUE(ask(question({"samovar", "local"}, kA, false, {kOwn}, {}, 30))) << "about to be forgotten";
  EXPECT_TRUE(ask(question({"samovar", "local"}, kA, false, {kOther}), kStart + seconds(5)));
}

TEST_F(MdnsNamesTest, ToAllOnceASecond) {
  EXPECT_TRUE(ask(question({"samovar", "local"}, kA)));
  EXPECT_FALSE(ask(question({"samovar", "local"}, kA), kStart + milliseconds(900)));
  EXPECT_TRUE(ask(question({"samovar", "local"}, 28), kStart + milliseconds(900))) << "another record";
  EXPECT_TRUE(ask(question({"samovar", "local"}, kA), kStart + milliseconds(1000)));
}

TEST_F(MdnsNamesTest, AFloodOfAskersGetsTenAnswersASecond) {
  int answered = 0;
  for (int i = 0; i < 5000; ++i)
    if (ask(question({"samovar", "local"}, kA, true), kStart + milliseconds(i))) ++answered;
  EXPECT_GE(answered, 50);
  EXPECT_LE(answered, 61);
}

TEST_F(MdnsNamesTest, AnOrdinaryAskerGetsItsQuestionBack) {
  const auto reply = ask(question({"samovar", "local"}, kA), kStart, 40000);
  ASSERT_TRUE(reply);
  EXPECT_FALSE(reply->to_all);
  const auto said = read_mdns(reply->bytes);
  ASSERT_TRUE(said);
  EXPECT_EQ(said->id, 7);
  ASSERT_EQ(said->questions.size(), 1u);
  EXPECT_EQ(said->questions[0].name, "samovar.local");
  EXPECT_EQ(said->answers.at(0).seconds, 10u);
}

TEST_F(MdnsNamesTest, AMachineThatHasTheNameKeepsIt) {
  const Bytes taken = encode_mdns(0, {}, {{"samovar.local", kA, true, 120, kOther}});
  EXPECT_FALSE(ask(taken));
  EXPECT_EQ(names.claimed_by(kStart, "samovar.local"), "10.0.0.8");
  EXPECT_FALSE(ask(question({"samovar", "local"}, kA)));
  EXPECT_TRUE(ask(question({"samovar-k7q2", "local"}, kA))) << "the other name is not concerned";
  EXPECT_TRUE(ask(question({"samovar", "local"}, kA), kStart + seconds(121)));
}

TEST_F(MdnsNamesTest, AMachineThatIsAboutToTakeTheNameGetsIt) {
  EXPECT_FALSE(ask(question({"samovar", "local"}, 255, false, {}, {kOther})));
  EXPECT_FALSE(names.claimed_by(kStart, "samovar.local").empty());
}

TEST_F(MdnsNamesTest, NobodyTakesANameFromAnOrdinaryPort) {
  ask(question({"samovar", "local"}, 255, false, {}, {kOther}), kStart, 40000);
  EXPECT_TRUE(names.claimed_by(kStart, "samovar.local").empty());
}

TEST_F(MdnsNamesTest, OtherNodesOfTheClusterAndThisComputersOwnResponderClaimNothing) {
  EXPECT_FALSE(ask(encode_mdns(0, {}, {{"samovar.local", kA, false, 120, kOther}})));
  EXPECT_FALSE(ask(encode_mdns(0, {}, {{"samovar.local", kA, true, 120, kOwn}})));
  EXPECT_FALSE(ask(encode_mdns(0, {}, {{"samovar.local", kA, true, 120, {192, 168, 1, 7}}})));
  EXPECT_FALSE(ask(encode_mdns(0, {}, {{"samovar.local", kA, true, 0, kOther}}))) << "says good-bye";
  EXPECT_FALSE(ask(encode_mdns(0, {}, {{"samovar.local", kA, true, 120, kOther}}), kStart, 40000))
      << "not a responder";
  EXPECT_TRUE(names.claimed_by(kStart, "samovar.local").empty());
}

TEST(MdnsMessage, NamesThatGoInCirclesAreRefused) {
  Bytes circle;
  for (const unsigned word : {0u, 0u, 1u, 0u, 0u, 0u}) put(circle, word);
  put(circle, 0xc00c);  // itself
  put(circle, 1);
  put(circle, 1);
  EXPECT_FALSE(read_mdns(circle));
  circle[12] = 0xc0;
  circle[13] = 0x10;  // forwards
  EXPECT_FALSE(read_mdns(circle));
}

TEST(MdnsMessage, EveryCutAndEveryLengthIsRefusedOrRead) {
  const Bytes whole = question({"samovar", "local"}, kA, false, {kOwn}, {kOther});
  ASSERT_TRUE(read_mdns(whole));
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(read_mdns(ByteView(whole).first(size))) << size;
  EXPECT_FALSE(read_mdns(Bytes(kMdnsBytesMax + 1)));
  Bytes many = whole;
  many[4] = 0xff;
  EXPECT_FALSE(read_mdns(many)) << "more questions than anybody has";
}

}  // namespace
}  // namespace samovar::discovery
