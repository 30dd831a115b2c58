#include "daemon/raft/wire.hpp"

#include <initializer_list>
#include <utility>

#include "daemon/raft/little_endian.hpp"

namespace samovar::raft {
namespace {

constexpr std::uint32_t kMagic = 0x31724d53;  // "SMr1": kind and version
constexpr std::size_t kHeadBytes = 8;
constexpr std::size_t kEntryHeadBytes = 16;

// The numbers are on the wire: never reuse one.
enum class Kind : std::uint8_t {
  append = 1,
  append_result = 2,
  vote = 3,
  vote_result = 4,
  snapshot = 5,
  timeout_now = 6,
  piece = 16,
  piece_ack = 17,
};

Error malformed(const char* what) { return Error{Errc::corrupt, what}; }

Bytes begin(Kind kind, std::initializer_list<std::uint64_t> numbers) {
  Bytes out;
  out.reserve(kHeadBytes + 8 * numbers.size());
  put_u32(out, kMagic);
  put_u32(out, static_cast<std::uint32_t>(kind));
  for (const std::uint64_t number : numbers) put_u64(out, number);
  return out;
}

Bytes encode_one(const AppendMessage& m) {
  Bytes out = begin(Kind::append, {m.term, m.prev_index, m.prev_term, m.commit, m.entries.size()});
  std::size_t total = out.size();
  for (const RawEntry& entry : m.entries) total += kEntryHeadBytes + entry.data.size();
  out.reserve(total);
  for (const RawEntry& entry : m.entries) {
    put_u64(out, entry.term);
    put_u32(out, static_cast<std::uint32_t>(entry.type));
    put_u32(out, static_cast<std::uint32_t>(entry.data.size()));
  }
  for (const RawEntry& entry : m.entries) append(out, entry.data);
  return out;
}

Bytes encode_one(const AppendResult& m) {
  return begin(Kind::append_result, {m.term, m.rejected, m.last_index});
}

Bytes encode_one(const VoteMessage& m) {
  return begin(Kind::vote, {m.term, m.candidate, m.last_index, m.last_term,
                            (m.disrupt ? std::uint64_t{1} : 0) | (m.pre_vote ? std::uint64_t{2} : 0)});
}

Bytes encode_one(const VoteResult& m) {
  return begin(Kind::vote_result,
               {m.term, (m.granted ? std::uint64_t{1} : 0) | (m.pre_vote ? std::uint64_t{2} : 0)});
}

Bytes encode_one(const SnapshotMessage& m) {
  Bytes out = encode_snapshot_head(m);
  append(out, m.data);
  return out;
}

Bytes encode_one(const TimeoutNowMessage& m) {
  return begin(Kind::timeout_now, {m.term, m.last_index, m.last_term});
}

Bytes encode_one(const PieceMessage& m) {
  Bytes out = begin(Kind::piece, {m.transfer, m.total, m.offset, m.acknowledge ? std::uint64_t{1} : 0});
  append(out, m.data);
  return out;
}

Bytes encode_one(const PieceAck& m) { return begin(Kind::piece_ack, {m.transfer, m.received}); }

// Reads numbers one after the other; the first thing out of bounds stays remembered.
class Reader {
 public:
  explicit Reader(ByteView bytes) : rest_(bytes) {}

  std::uint64_t number(std::uint64_t most = kWireNumberMax) {
    if (!take(8)) return 0;
    const std::uint64_t value = get_u64(taken_, 0);
    if (value > most) good_ = false;
    return value;
  }
  std::uint32_t small(std::uint32_t least, std::uint32_t most) {
    if (!take(4)) return 0;
    const std::uint32_t value = get_u32(taken_, 0);
    if (value < least || value > most) good_ = false;
    return value;
  }
  ByteView bytes(std::size_t count) { return take(count) ? taken_ : ByteView{}; }
  ByteView rest() { return std::exchange(rest_, {}); }
  std::size_t left() const { return rest_.size(); }
  bool good() const { return good_; }
  bool finished() const { return good_ && rest_.empty(); }

 private:
  bool take(std::size_t count) {
    if (rest_.size() < count) good_ = false;
    if (!good_) return false;
    taken_ = rest_.first(count);
    rest_ = rest_.subspan(count);
    return true;
  }

  ByteView rest_;
  ByteView taken_;
  bool good_ = true;
};

Result<void> check_entry(const RawEntry& entry) {
  if (entry.data.empty() || entry.data.size() % 8 != 0) return malformed("an entry has an odd size");
  if (entry.type == EntryType::barrier && entry.data.size() != 8) return malformed("a barrier has 8 bytes");
  // libraft reads these without looking where they end.
  if (entry.type != EntryType::change) return {};
  auto servers = decode_servers(entry.data);
  if (!servers) return std::move(servers).error();
  return {};
}

Result<WireMessage> decode_append(Reader& in) {
  AppendMessage m;
  m.term = in.number();
  m.prev_index = in.number();
  m.prev_term = in.number();
  m.commit = in.number();
  const std::uint64_t count = in.number(kWireEntriesMax);
  if (!in.good() || count * kEntryHeadBytes > in.left()) return malformed("the list of entries is cut off");
  std::vector<std::size_t> sizes;
  m.entries.resize(static_cast<std::size_t>(count));
  for (RawEntry& entry : m.entries) {
    entry.term = in.number(m.term);
    entry.type = static_cast<EntryType>(in.small(1, 3));
    sizes.push_back(in.small(8, UINT32_MAX));
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    m.entries[i].data = in.bytes(sizes[i]);
    if (!in.good()) return malformed("an entry is cut off or out of bounds");
    SAMOVAR_CHECK(check_entry(m.entries[i]));
  }
  return WireMessage(std::move(m));
}

Result<WireMessage> decode_snapshot(Reader& in) {
  SnapshotMessage m;
  m.term = in.number();
  m.last_index = in.number();
  m.last_term = in.number(m.term);
  m.members_index = in.number(m.last_index);
  const std::uint64_t servers_bytes = in.number(in.left());
  const std::uint64_t data_bytes = in.number(in.left());
  if (!in.good()) return malformed("the head of a snapshot is cut off or out of bounds");
  SAMOVAR_TRY(m.servers, decode_servers(in.bytes(static_cast<std::size_t>(servers_bytes))));
  m.data = in.bytes(static_cast<std::size_t>(data_bytes));
  if (!in.good() || m.data.empty() || m.last_index == 0 || m.last_term == 0)
    return malformed("a snapshot is cut off or of nothing");
  return WireMessage(std::move(m));
}

Result<WireMessage> decode_piece(Reader& in) {
  PieceMessage m;
  m.transfer = in.number();
  m.total = in.number();
  m.offset = in.number(m.total);
  m.acknowledge = in.number(1) == 1;
  m.data = in.rest();
  if (!in.good() || m.data.empty() || m.data.size() > m.total - m.offset)
    return malformed("a piece is cut off or does not fit");
  return WireMessage(m);
}

Result<WireMessage> decode_body(std::uint32_t kind, Reader& in) {
  switch (static_cast<Kind>(kind)) {
    case Kind::append:
      return decode_append(in);
    case Kind::append_result: {
      AppendResult m;
      m.term = in.number();
      m.rejected = in.number();
      m.last_index = in.number();
      return WireMessage(m);
    }
    case Kind::vote: {
      VoteMessage m;
      m.term = in.number();
      m.candidate = in.number(UINT64_MAX);
      m.last_index = in.number();
      m.last_term = in.number();
      const std::uint64_t flags = in.number(3);
      m.disrupt = (flags & 1) != 0;
      m.pre_vote = (flags & 2) != 0;
      return WireMessage(m);
    }
    case Kind::vote_result: {
      VoteResult m;
      m.term = in.number();
      const std::uint64_t flags = in.number(3);
      m.granted = (flags & 1) != 0;
      m.pre_vote = (flags & 2) != 0;
      return WireMessage(m);
    }
    case Kind::snapshot:
      return decode_snapshot(in);
    case Kind::timeout_now: {
      TimeoutNowMessage m;
      m.term = in.number();
      m.last_index = in.number();
      m.last_term = in.number();
      return WireMessage(m);
    }
    case Kind::piece:
      return decode_piece(in);
    case Kind::piece_ack: {
      PieceAck m;
      m.transfer = in.number();
      m.received = in.number();
      return WireMessage(m);
    }
  }
  return malformed("a message of an unknown kind");
}

}  // namespace

Bytes encode_snapshot_head(const SnapshotMessage& m) {
  const Bytes servers = encode_servers(m.servers);
  Bytes out = begin(Kind::snapshot,
                    {m.term, m.last_index, m.last_term, m.members_index, servers.size(), m.data.size()});
  append(out, servers);
  return out;
}

Bytes encode(const WireMessage& message) {
  return std::visit([](const auto& m) { return encode_one(m); }, message);
}

Result<WireMessage> decode(ByteView bytes) {
  if (bytes.size() < kHeadBytes || get_u32(bytes, 0) != kMagic)
    return malformed("not a message of the log in this version");
  Reader in(bytes.subspan(kHeadBytes));
  auto message = decode_body(get_u32(bytes, 4), in);
  if (message && !in.finished()) return malformed("a message is cut off, too long or out of bounds");
  return message;
}

}  // namespace samovar::raft
