// Who is in the log: servers as libraft's configuration entries hold them, and which entry said what.
//
// Threading: any thread; pure.
// Format:    docs/formats/raft-wire.md
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace samovar::raft {

// libraft's numbers.
enum class Role : std::uint8_t { standby = 0, voter = 1, spare = 2 };

struct LogServer {
  std::uint64_t id = 0;
  std::string node_id;
  Role role = Role::voter;
  friend bool operator==(const LogServer&, const LogServer&) = default;
};
using LogServers = std::vector<LogServer>;

inline constexpr std::size_t kServersMax = 256;
inline constexpr std::size_t kNodeIdBytesMax = 128;

// 63 bits of the id's hash: addresses come and go, a node keeps its number. Never 0.
std::uint64_t raft_id_of(std::string_view node_id);

// The bytes of a configuration entry, as libraft writes them (with garbage in up to 7 bytes of padding).
Bytes encode_servers(const LogServers& servers);
Result<LogServers> decode_servers(ByteView bytes);

// The configurations that may still count: the newest applied one and those behind it. A new leader may
// take back the last of them, and then the one before it is in force again.
class MemberHistory {
 public:
  struct Entry {
    std::uint64_t index = 0;
    LogServers servers;
  };

  // Everything known is replaced by what a snapshot says.
  void reset(std::uint64_t index, LogServers servers);
  void add(std::uint64_t index, LogServers servers);
  // Entries from `index` on are no more.
  void truncate(std::uint64_t index);
  // Keeps the newest at or before `applied`, and what follows.
  void forget_before(std::uint64_t applied);
  // The newest at or before `index`; none: nullptr.
  const Entry* at(std::uint64_t index) const;
  const Entry* newest() const { return entries_.empty() ? nullptr : &entries_.back(); }

 private:
  std::deque<Entry> entries_;
};

}  // namespace samovar::raft
