// Messages between the members of a log, as bytes. Decoding is strict: one spelling per message, every
// number in bounds, nothing behind the end.
//
// Threading: any thread; pure.
// Format:    docs/formats/raft-wire.md
#pragma once
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "daemon/raft/members.hpp"
#include "daemon/raft/segment.hpp"

namespace samovar::raft {

inline constexpr std::size_t kWireEntriesMax = 64 * 1024;
inline constexpr std::uint64_t kWireNumberMax = std::uint64_t{1} << 62;  // of terms, indexes, bytes

struct AppendMessage {
  std::uint64_t term = 0;
  std::uint64_t prev_index = 0;
  std::uint64_t prev_term = 0;
  std::uint64_t commit = 0;
  std::vector<RawEntry> entries;  // of a decoded message: into its bytes
};

struct AppendResult {
  std::uint64_t term = 0;
  std::uint64_t rejected = 0;  // 0: taken
  std::uint64_t last_index = 0;
};

struct VoteMessage {
  std::uint64_t term = 0;
  std::uint64_t candidate = 0;
  std::uint64_t last_index = 0;
  std::uint64_t last_term = 0;
  bool disrupt = false;  // the leader itself asked for it
  bool pre_vote = false;
};

struct VoteResult {
  std::uint64_t term = 0;
  bool granted = false;
  bool pre_vote = false;
};

struct SnapshotMessage {
  std::uint64_t term = 0;
  std::uint64_t last_index = 0;
  std::uint64_t last_term = 0;
  std::uint64_t members_index = 0;
  LogServers servers;
  ByteView data;
};

struct TimeoutNowMessage {
  std::uint64_t term = 0;
  std::uint64_t last_index = 0;
  std::uint64_t last_term = 0;
};

// Part of a message too long for one. Pieces of one transfer come in order.
struct PieceMessage {
  std::uint64_t transfer = 0;
  std::uint64_t total = 0;
  std::uint64_t offset = 0;
  bool acknowledge = false;  // the sender waits for our word before it goes on
  ByteView data;
};

struct PieceAck {
  std::uint64_t transfer = 0;
  std::uint64_t received = 0;
};

using WireMessage = std::variant<AppendMessage, AppendResult, VoteMessage, VoteResult, SnapshotMessage,
                                 TimeoutNowMessage, PieceMessage, PieceAck>;

Bytes encode(const WireMessage& message);
// All of a snapshot message but its data, which follows as it is: it may be large.
Bytes encode_snapshot_head(const SnapshotMessage& message);
// Views of the result are into `bytes`.
Result<WireMessage> decode(ByteView bytes);

}  // namespace samovar::raft
