// Messages between members: what was sent comes out, anything else is refused, long ones go in pieces.
#include "daemon/raft/wire.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>
#include <utility>

#include "daemon/raft/little_endian.hpp"
#include "daemon/raft/members.hpp"
#include "daemon/raft/pieces.hpp"

namespace samovar::raft {
namespace {

LogServers some_servers() {
  return {{raft_id_of("node_a"), "node_a", Role::voter}, {raft_id_of("node_b"), "node_b", Role::standby}};
}

std::vector<Bytes> samples() {
  static const Bytes kCommand(24, 7);
  static const Bytes kBarrier(8, 0);
  static const Bytes kChange = encode_servers(some_servers());
  AppendMessage append{5, 10, 4, 9, {}};
  append.entries = {
      {4, EntryType::command, kCommand}, {5, EntryType::barrier, kBarrier}, {5, EntryType::change, kChange}};
  SnapshotMessage snapshot{5, 100, 4, 90, some_servers(), kCommand};
  PieceMessage piece{77, 1000, 24, true, kCommand};
  return {encode(append),
          encode(AppendMessage{5, 10, 4, 9, {}}),
          encode(AppendResult{5, 0, 13}),
          encode(VoteMessage{6, raft_id_of("node_a"), 13, 5, true, false}),
          encode(VoteResult{6, true, true}),
          encode(snapshot),
          encode(TimeoutNowMessage{5, 13, 5}),
          encode(piece),
          encode(PieceAck{77, 48})};
}

TEST(RaftWire, EveryMessageComesBack) {
  for (const Bytes& bytes : samples()) {
    const auto message = decode(bytes);
    ASSERT_TRUE(message) << message.error().message();
    EXPECT_EQ(encode(*message), bytes);
  }
}

TEST(RaftWire, FieldsAreInTheirPlaces) {
  const auto all = samples();
  const auto first = decode(all[0]);
  ASSERT_TRUE(first);
  const auto& append = std::get<AppendMessage>(*first);
  EXPECT_EQ(append.prev_index, 10u);
  ASSERT_EQ(append.entries.size(), 3u);
  EXPECT_EQ(append.entries[0].data.size(), 24u);
  EXPECT_EQ(*decode_servers(append.entries[2].data), some_servers());
  const auto sixth = decode(all[5]);
  ASSERT_TRUE(sixth);
  EXPECT_EQ(std::get<SnapshotMessage>(*sixth).servers, some_servers());
  const auto fourth = decode(all[3]);
  ASSERT_TRUE(fourth);
  EXPECT_TRUE(std::get<VoteMessage>(*fourth).disrupt);
  EXPECT_FALSE(std::get<VoteMessage>(*fourth).pre_vote);
}

TEST(RaftWire, CutAndLengthenedMessagesAreRefused) {
  for (const Bytes& bytes : samples()) {
    const auto whole = decode(bytes);
    ASSERT_TRUE(whole);
    const bool piece = std::holds_alternative<PieceMessage>(*whole);  // its data is whatever is left
    for (std::size_t keep = 0; keep < bytes.size(); ++keep) {
      const auto cut = decode(ByteView(bytes).first(keep));
      EXPECT_TRUE(!cut || piece) << "kind " << int{bytes[4]} << " cut to " << keep;
    }
    Bytes longer = bytes;
    longer.resize(longer.size() + 2000, 0);
    EXPECT_FALSE(decode(longer)) << "kind " << int{bytes[4]};
  }
}

TEST(RaftWire, ImpossibleNumbersAreRefused) {
  Bytes many = encode(AppendMessage{5, 10, 4, 9, {}});
  many[8 + 4 * 8 + 2] = 255;  // entries that are not there
  EXPECT_FALSE(decode(many));
  EXPECT_FALSE(decode(encode(AppendResult{kWireNumberMax + 1, 0, 0})));
  const Bytes odd(9, 1);
  EXPECT_FALSE(decode(encode(AppendMessage{5, 1, 1, 1, {{5, EntryType::command, odd}}})));
  const Bytes command(8, 1);
  EXPECT_FALSE(
      decode(encode(AppendMessage{5, 1, 1, 1, {{6, EntryType::command, command}}})));  // of a later term
  EXPECT_FALSE(decode(encode(AppendMessage{5, 1, 1, 1, {{5, EntryType::change, command}}})));
}

TEST(RaftMembers, ListsAreReadStrictly) {
  const Bytes good = encode_servers(some_servers());
  EXPECT_EQ(good.size() % 8, 0u);
  EXPECT_EQ(*decode_servers(good), some_servers());
  for (std::size_t keep = 0; keep + 8 < good.size(); ++keep)
    EXPECT_FALSE(decode_servers(ByteView(good).first(keep))) << keep;
  LogServers twice = some_servers();
  twice.push_back(twice.front());
  EXPECT_FALSE(decode_servers(encode_servers(twice)));
  EXPECT_FALSE(decode_servers(encode_servers({})));
  LogServers nameless = some_servers();
  nameless[0].node_id.clear();
  EXPECT_FALSE(decode_servers(encode_servers(nameless)));
}

TEST(RaftMembers, NumbersAreOfTheNameAndNeverNegative) {
  EXPECT_EQ(raft_id_of("node_a"), raft_id_of("node_a"));
  EXPECT_NE(raft_id_of("node_a"), raft_id_of("node_b"));
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t id = raft_id_of("node_" + std::to_string(i));
    EXPECT_GT(id, 0u);
    EXPECT_LT(id, std::uint64_t{1} << 63);
  }
}

TEST(RaftMembers, TakenBackChangesLeaveTheOneBefore) {
  MemberHistory history;
  EXPECT_EQ(history.newest(), nullptr);
  history.reset(1, {{1, "a", Role::voter}});
  history.add(10, {{1, "a", Role::voter}, {2, "b", Role::standby}});
  history.add(20, {{1, "a", Role::voter}, {2, "b", Role::voter}});
  EXPECT_EQ(history.at(15)->index, 10u);
  history.truncate(20);
  EXPECT_EQ(history.newest()->index, 10u);
  history.forget_before(12);
  EXPECT_EQ(history.at(15)->index, 10u);
  EXPECT_EQ(history.at(5), nullptr);
}

// Two ends, and a queue in each direction.
class PiecesTest : public ::testing::Test {
 protected:
  std::deque<Bytes> there_;
  std::deque<Bytes> back_;
  PieceSender sender_{[this](const std::string&, Bytes bytes) { there_.push_back(std::move(bytes)); }};
  PieceCollector collector_{[this](const std::string&, Bytes bytes) { back_.push_back(std::move(bytes)); }};
  std::optional<Bytes> whole_;

  bool deliver_one(std::uint64_t now) {
    if (!there_.empty()) {
      const Bytes bytes = std::exchange(there_.front(), {});
      there_.pop_front();
      const auto message = decode(bytes);
      EXPECT_TRUE(message);
      if (auto whole = collector_.add("a", std::get<PieceMessage>(*message), now)) whole_ = std::move(whole);
      return true;
    }
    if (back_.empty()) return false;
    const Bytes bytes = std::exchange(back_.front(), {});
    back_.pop_front();
    const auto message = decode(bytes);
    EXPECT_TRUE(message);
    sender_.on_ack("b", std::get<PieceAck>(*message), now);
    return true;
  }
};

TEST_F(PiecesTest, LongMessageArrivesWholeAFewPiecesAtATime) {
  Bytes body(10 * kPieceBytes + 17);
  for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<std::uint8_t>(i * 31 >> 3);
  const Bytes head(100, 9);
  std::optional<bool> arrived;
  sender_.start("b", 5, head, body, 0, [&](bool good) { arrived = good; });
  EXPECT_LE(there_.size(), kPiecesAhead);
  while (deliver_one(1)) EXPECT_LE(there_.size(), kPiecesAhead);
  EXPECT_EQ(arrived, true);
  ASSERT_TRUE(whole_);
  Bytes wanted = head;
  append(wanted, body);
  EXPECT_TRUE(*whole_ == wanted);
  EXPECT_FALSE(collector_.waiting());
}

TEST_F(PiecesTest, LostPieceEndsTheTransfer) {
  const Bytes body(6 * kPieceBytes, 1);
  std::optional<bool> arrived;
  sender_.start("b", 5, {}, body, 0, [&](bool good) { arrived = good; });
  there_.erase(there_.begin() + 1);
  while (deliver_one(1)) {
  }
  EXPECT_FALSE(whole_);
  EXPECT_FALSE(arrived.has_value());
  sender_.poll(kPieceSilenceMs + 1);
  EXPECT_EQ(arrived, false);
  collector_.poll(2 * kPieceSilenceMs + 2);
  EXPECT_FALSE(collector_.waiting());
}

TEST_F(PiecesTest, TooLongAndTooManyAreNotKept) {
  const Bytes data(8, 1);
  PieceMessage huge{1, kAssembledBytesMax + 1, 0, true, data};
  EXPECT_FALSE(collector_.add("a", huge, 0));
  huge = {1, kUnacknowledgedBytesMax + 1, 0, false, data};
  EXPECT_FALSE(collector_.add("a", huge, 0));
  EXPECT_FALSE(collector_.waiting());
}

TEST_F(PiecesTest, WithoutWaitingOrderMatters) {
  const Bytes body(2 * kPieceBytes + 5, 3);
  send_in_pieces([this](const std::string&, Bytes bytes) { there_.push_back(std::move(bytes)); }, "b", 9,
                 body);
  ASSERT_EQ(there_.size(), 3u);
  auto again = there_;
  while (deliver_one(0)) {
  }
  ASSERT_TRUE(whole_);
  EXPECT_EQ(whole_->size(), body.size());
  whole_.reset();
  there_ = {again[0], again[2], again[1]};
  while (deliver_one(0)) {
  }
  EXPECT_FALSE(whole_);
}

}  // namespace
}  // namespace samovar::raft
