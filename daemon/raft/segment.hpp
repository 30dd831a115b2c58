// Reads libraft's files (disk format 1) without libraft, to judge them before it may touch them.
//
// libraft drops what it cannot read at the end of an open segment, and deletes or renames files while
// it loads. We want to know first, and refuse with everything in place. See docs/formats/raft-directory.md.
//
// Threading: any thread; pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace samovar::raft {

enum class EntryType : std::uint8_t { command = 1, barrier = 2, change = 3 };

struct RawEntry {
  std::uint64_t term = 0;
  EntryType type = EntryType::command;
  ByteView data;  // into the segment's bytes
};

struct Segment {
  std::vector<RawEntry> entries;
  bool unwritten = false;      // empty or all zeros: allocated, never used
  std::size_t good_bytes = 0;  // where the whole batches end
  std::string torn;            // why the bytes after them are no batch; empty: zeros or the end
};

// Everything that can be read. Whether torn bytes are forgiven is the caller's decision.
Segment read_segment(ByteView file);

struct ClosedName {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};
std::optional<ClosedName> parse_closed_name(std::string_view name);
std::optional<std::uint64_t> parse_open_name(std::string_view name);

struct SnapshotName {
  std::uint64_t term = 0;
  std::uint64_t index = 0;
  std::uint64_t timestamp = 0;
  std::string data_name;
  friend bool operator<(const SnapshotName& a, const SnapshotName& b) {
    if (a.term != b.term) return a.term < b.term;
    return a.index != b.index ? a.index < b.index : a.timestamp < b.timestamp;
  }
};
// "snapshot-<term>-<index>-<time>.meta"
std::optional<SnapshotName> parse_snapshot_meta_name(std::string_view name);
// Errc::corrupt when its checksum or its form is wrong.
Result<void> check_snapshot_meta(ByteView file);
// Of one that is good: the bytes of its list of members.
ByteView snapshot_meta_members(ByteView file);

struct Metadata {
  std::uint64_t version = 0;
  std::uint64_t term = 0;
};
Result<Metadata> read_metadata(ByteView file);

}  // namespace samovar::raft
