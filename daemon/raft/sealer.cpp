#include "daemon/raft/sealer.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "daemon/raft/little_endian.hpp"
#include "security/aead.hpp"
#include "security/kdf.hpp"

namespace samovar::raft {
namespace {

// "SMe1", "SMs1", "SMw1" in the file: kind and version of the frame.
constexpr std::uint32_t kEntryMagic = 0x31654d53;
constexpr std::uint32_t kSnapshotMagic = 0x31734d53;
constexpr std::uint32_t kWitnessMagic = 0x31774d53;
constexpr std::size_t kFrameHeadBytes = 8;
constexpr std::size_t kPositionBytes = 24;

Error damaged(const char* what) { return Error{Errc::corrupt, what}; }

void put_position(Bytes& out, const Position& position) {
  put_u64(out, position.sequence);
  append(out, position.id);
}

Position get_position(ByteView bytes, std::size_t at) {
  Position position;
  position.sequence = get_u64(bytes, at);
  std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at + 8), position.id.size(), position.id.begin());
  return position;
}

}  // namespace

EntryId random_entry_id(Rng& rng) {
  EntryId id;
  rng.fill(id);
  return id;
}

Sealer::Sealer(security::SecretBytes key, std::string cluster_id, std::uint32_t generation)
    : key_(std::move(key)), cluster_id_(std::move(cluster_id)), generation_(generation) {}

// Put together where it stays and sealed in place: a snapshot is the whole state, and each copy of it counts.
Bytes Sealer::frame(std::uint32_t magic, std::string_view purpose, ByteView head, ByteView body) const {
  const std::size_t sealed = head.size() + body.size() + security::kSealOverheadBytes;
  security::AeadNonce nonce;
  system_rng().fill(nonce);
  Bytes out;
  out.reserve((kFrameHeadBytes + sealed + 7) / 8 * 8);
  put_u32(out, magic);
  put_u32(out, static_cast<std::uint32_t>(sealed));
  append(out, nonce);
  append(out, head);
  append(out, body);
  out.resize(out.size() + security::kAeadTagBytes);
  const auto inside = MutableBytes(out).subspan(kFrameHeadBytes + nonce.size());
  security::seal_with_nonce(key_, nonce, inside.first(head.size() + body.size()),
                            security::wrap_aad(purpose, cluster_id_, generation_), inside);
  out.resize((out.size() + 7) / 8 * 8, 0);
  return out;
}

Result<Bytes> Sealer::unframe(std::uint32_t magic, std::string_view purpose, ByteView framed) const {
  if (framed.size() < kFrameHeadBytes) return damaged("shorter than the head of a frame");
  if (get_u32(framed, 0) != magic) return damaged("not a frame of this kind and version");
  const std::size_t length = get_u32(framed, 4);
  if (length > framed.size() - kFrameHeadBytes) return damaged("the frame is cut off");
  const ByteView padding = framed.subspan(kFrameHeadBytes + length);
  // One spelling per entry: bytes nobody checks are bytes nobody notices changing.
  if (framed.size() % 8 != 0 || padding.size() > 7 ||
      std::any_of(padding.begin(), padding.end(), [](auto b) { return b != 0; }))
    return damaged("the frame's padding is not what we write");
  return security::open(key_, framed.subspan(kFrameHeadBytes, length),
                        security::wrap_aad(purpose, cluster_id_, generation_));
}

Bytes Sealer::seal_entry(const Position& position, const EntryId& previous, ByteView command) const {
  Bytes head;
  put_position(head, position);
  append(head, previous);
  return frame(kEntryMagic, "raft-entry", head, command);
}

Result<Entry> Sealer::open_entry(ByteView framed) const {
  SAMOVAR_TRY(Bytes plain, unframe(kEntryMagic, "raft-entry", framed));
  Entry entry;
  if (plain.size() < kPositionBytes + entry.previous.size()) return damaged("the entry has no position");
  entry.position = get_position(plain, 0);
  std::copy_n(plain.begin() + kPositionBytes, entry.previous.size(), entry.previous.begin());
  entry.command.assign(plain.begin() + kPositionBytes + static_cast<std::ptrdiff_t>(entry.previous.size()),
                       plain.end());
  return entry;
}

Bytes Sealer::seal_snapshot(const Position& position, ByteView state) const {
  Bytes head;
  put_position(head, position);
  return frame(kSnapshotMagic, "raft-snapshot", head, state);
}

Result<Snapshot> Sealer::open_snapshot(ByteView framed) const {
  SAMOVAR_TRY(Bytes plain, unframe(kSnapshotMagic, "raft-snapshot", framed));
  if (plain.size() < kPositionBytes) return damaged("the snapshot has no position");
  Snapshot snapshot;
  snapshot.position = get_position(plain, 0);
  plain.erase(plain.begin(), plain.begin() + kPositionBytes);
  snapshot.state = std::move(plain);
  return snapshot;
}

Bytes Sealer::seal_witness(const Witness& witness) const {
  Bytes plain;
  put_u64(plain, witness.counter);
  put_position(plain, witness.position);
  put_u64(plain, witness.index);
  put_u64(plain, witness.term);
  return frame(kWitnessMagic, "raft-witness", plain, {});
}

Result<Witness> Sealer::open_witness(ByteView framed) const {
  SAMOVAR_TRY(Bytes plain, unframe(kWitnessMagic, "raft-witness", framed));
  if (plain.size() != 8 + kPositionBytes + 16) return damaged("the witness has another size");
  Witness witness;
  witness.counter = get_u64(plain, 0);
  witness.position = get_position(plain, 8);
  witness.index = get_u64(plain, 8 + kPositionBytes);
  witness.term = get_u64(plain, 16 + kPositionBytes);
  return witness;
}

std::array<std::uint8_t, 16> Sealer::key_check() const {
  const security::SecretBytes derived = security::derive(key_, "raft-key-check");
  std::array<std::uint8_t, 16> check;
  std::copy_n(derived.view().begin(), check.size(), check.begin());
  return check;
}

}  // namespace samovar::raft
