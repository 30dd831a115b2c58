// Seals what the log keeps on disk: entries, snapshots and the witness.
//
// An entry is sealed before libraft gives it a term and an index, so these cannot be bound into the
// seal. Instead every entry carries its own sequence number, a random id and the id of the entry before
// it. A log whose entries were dropped, repeated, reordered or taken from another copy does not chain.
//
// Threading: any thread, after construction.
// Format:    docs/formats/raft-entry.md
#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "base/rng.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::raft {

using EntryId = std::array<std::uint8_t, 16>;

// A place in the chain. Sequence 0 with a zero id is the place before the first entry.
struct Position {
  std::uint64_t sequence = 0;
  EntryId id{};
  friend bool operator==(const Position&, const Position&) = default;
};

struct Entry {
  Position position;
  EntryId previous{};
  Bytes command;
};

struct Snapshot {
  Position position;
  Bytes state;
};

// What was acknowledged last.
struct Witness {
  std::uint64_t counter = 0;  // of writes of the witness
  Position position;
  std::uint64_t index = 0;
  std::uint64_t term = 0;
};

class Sealer {
 public:
  Sealer(security::SecretBytes key, std::string cluster_id, std::uint32_t generation);

  // Multiples of 8 bytes, as libraft asks for.
  Bytes seal_entry(const Position& position, const EntryId& previous, ByteView command) const;
  Bytes seal_snapshot(const Position& position, ByteView state) const;
  Bytes seal_witness(const Witness& witness) const;

  // Errc::corrupt when the bytes are not ours, or were sealed for something else.
  Result<Entry> open_entry(ByteView frame) const;
  Result<Snapshot> open_snapshot(ByteView frame) const;
  Result<Witness> open_witness(ByteView frame) const;

  // Names the key without giving it away: a wrong key is told from damaged bytes.
  std::array<std::uint8_t, 16> key_check() const;

 private:
  Bytes frame(std::uint32_t magic, std::string_view purpose, ByteView head, ByteView body) const;
  Result<Bytes> unframe(std::uint32_t magic, std::string_view purpose, ByteView framed) const;

  // Constant after construction.
  security::SecretBytes key_;
  std::string cluster_id_;
  std::uint32_t generation_;
};

EntryId random_entry_id(Rng& rng = system_rng());

}  // namespace samovar::raft
