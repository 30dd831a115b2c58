// The witness: a small file beside the log that remembers what was acknowledged last.
//
// libraft cannot tell a torn write (never acknowledged, to be dropped) from a damaged tail (acknowledged,
// to be reported). The witness can: a log that ends before it has lost something. Two slots are written
// in turn, so that a torn write of one leaves the other.
//
// Threading: any thread; blocking, for start-up. While running, the log writes slots itself.
// Format:    docs/formats/raft-directory.md
#pragma once
#include <cstdint>
#include <string>

#include "base/bytes.hpp"
#include "base/disk.hpp"
#include "base/result.hpp"
#include "daemon/raft/sealer.hpp"

namespace samovar::raft {

inline constexpr const char* kWitnessName = "witness";
inline constexpr std::size_t kWitnessSlotBytes = 4096;

// For a new log: the head, and slot 0 saying that nothing was acknowledged yet.
Result<void> create_witness(Disk& disk, const std::string& dir, const Sealer& sealer);
// Errc::denied: sealed with another key. Errc::corrupt: damaged or missing.
Result<Witness> load_witness(Disk& disk, const std::string& dir, const Sealer& sealer);

// The bytes of a slot (a whole block) and its place in the file.
Bytes witness_slot(const Sealer& sealer, const Witness& witness);
std::uint64_t witness_slot_offset(std::uint64_t counter);

}  // namespace samovar::raft
