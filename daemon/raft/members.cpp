#include "daemon/raft/members.hpp"

#include <algorithm>
#include <utility>

#include "daemon/raft/little_endian.hpp"
#include "security/hash.hpp"

namespace samovar::raft {
namespace {

constexpr std::uint8_t kFormat = 1;

Error malformed(const char* what) { return Error{Errc::corrupt, what}; }

}  // namespace

std::uint64_t raft_id_of(std::string_view node_id) {
  const Bytes hash = security::blake2b(16, as_bytes(node_id));
  const std::uint64_t id = get_u64(hash, 0) & ~(std::uint64_t{1} << 63);
  return id != 0 ? id : 1;
}

Bytes encode_servers(const LogServers& servers) {
  Bytes out;
  out.push_back(kFormat);
  put_u64(out, servers.size());
  for (const LogServer& server : servers) {
    put_u64(out, server.id);
    append(out, as_bytes(server.node_id));
    out.push_back(0);
    out.push_back(static_cast<std::uint8_t>(server.role));
  }
  out.resize((out.size() + 7) / 8 * 8, 0);
  return out;
}

Result<LogServers> decode_servers(ByteView bytes) {
  if (bytes.size() < 9 || bytes[0] != kFormat) return malformed("not a list of members");
  const std::uint64_t count = get_u64(bytes, 1);
  if (count == 0 || count > kServersMax) return malformed("an impossible number of members");
  std::size_t at = 9;
  LogServers servers;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (bytes.size() - at < 8) return malformed("the list of members is cut off");
    LogServer server;
    server.id = get_u64(bytes, at);
    at += 8;
    const auto rest = bytes.subspan(at);
    const auto end = std::find(rest.begin(), rest.end(), std::uint8_t{0});
    const auto length = static_cast<std::size_t>(end - rest.begin());
    if (length == 0 || length > kNodeIdBytesMax || rest.size() - length < 2)
      return malformed("a member has no name, or the list is cut off");
    server.node_id = std::string(as_text(rest.first(length)));
    const std::uint8_t role = rest[length + 1];
    if (role > 2) return malformed("a member has an unknown role");
    server.role = static_cast<Role>(role);
    at += length + 2;
    const bool twice = std::any_of(servers.begin(), servers.end(), [&](const LogServer& other) {
      return other.id == server.id || other.node_id == server.node_id;
    });
    if (server.id == 0 || twice) return malformed("a member has no number, or is there twice");
    servers.push_back(std::move(server));
  }
  if (bytes.size() - at > 7) return malformed("something follows the list of members");
  return servers;
}

void MemberHistory::reset(std::uint64_t index, LogServers servers) {
  entries_.clear();
  entries_.push_back({index, std::move(servers)});
}

void MemberHistory::add(std::uint64_t index, LogServers servers) {
  truncate(index);
  entries_.push_back({index, std::move(servers)});
}

void MemberHistory::truncate(std::uint64_t index) {
  while (!entries_.empty() && entries_.back().index >= index) entries_.pop_back();
}

void MemberHistory::forget_before(std::uint64_t applied) {
  while (entries_.size() > 1 && entries_[1].index <= applied) entries_.pop_front();
}

const MemberHistory::Entry* MemberHistory::at(std::uint64_t index) const {
  const Entry* found = nullptr;
  for (const Entry& entry : entries_)
    if (entry.index <= index) found = &entry;
  return found;
}

}  // namespace samovar::raft
