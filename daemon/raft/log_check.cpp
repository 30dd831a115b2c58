#include "daemon/raft/log_check.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "daemon/raft/segment.hpp"

namespace samovar::raft {
namespace {

constexpr std::size_t kFileBytesMax = 1024u * 1024 * 1024;
constexpr std::size_t kMetadataBytesMax = 4096;

struct ClosedSegment {
  ClosedName range;
  std::string name;
};

struct OpenSegment {
  std::uint64_t counter;
  std::string name;
};

struct Listing {
  std::vector<ClosedSegment> closed;    // by first index
  std::vector<OpenSegment> open;        // by counter
  std::vector<SnapshotName> snapshots;  // complete ones, oldest first
  std::vector<std::string> metadata;
};

class Checker {
 public:
  Checker(Disk& disk, const std::string& dir, const Sealer& sealer, const Witness& witness, bool joining)
      : disk_(disk), dir_(dir), sealer_(sealer), witness_(witness), joining_(joining) {}

  Result<LogCheck> run() {
    SAMOVAR_CHECK(list());
    SAMOVAR_CHECK(check_metadata());
    SAMOVAR_CHECK(check_snapshot());
    SAMOVAR_CHECK(drop_shortened_segments());
    SAMOVAR_CHECK(drop_replaced_segments());
    SAMOVAR_CHECK(drop_covered_segments());
    for (const auto& segment : files_.closed) SAMOVAR_CHECK(check_closed(segment));
    for (const auto& segment : files_.open) SAMOVAR_CHECK(check_open(segment));
    SAMOVAR_CHECK(check_end());
    return std::move(result_);
  }

 private:
  Error damaged(const std::string& name, const std::string& why) const {
    return Error{
        Errc::corrupt,
        fmt::format("{}/{}: {}. Nothing was changed. Restore the folder {} from a backup of this node, then "
                    "start again; keep the damaged copy until the node is back.",
                    dir_, name, why, dir_)};
  }

  Result<Bytes> read(const std::string& name, std::size_t bytes_max) const {
    auto bytes = disk_.read_file(dir_ + "/" + name, bytes_max);
    if (!bytes && bytes.error().code() == Errc::corrupt)
      return damaged(name, "the file is larger than it can be");
    return bytes;
  }

  Result<void> list() {
    SAMOVAR_TRY(const auto names, disk_.list(dir_));
    for (const auto& name : names) {
      if (const auto range = parse_closed_name(name)) files_.closed.push_back({*range, name});
      if (const auto counter = parse_open_name(name)) files_.open.push_back({*counter, name});
      if (name == "metadata1" || name == "metadata2") files_.metadata.push_back(name);
      if (auto snapshot = parse_snapshot_meta_name(name)) {
        // A description without its data is a snapshot that was not finished.
        if (std::binary_search(names.begin(), names.end(), snapshot->data_name))
          files_.snapshots.push_back(std::move(*snapshot));
      }
    }
    std::sort(files_.closed.begin(), files_.closed.end(), [](const auto& a, const auto& b) {
      if (a.range.first != b.range.first) return a.range.first < b.range.first;
      return a.range.last > b.range.last;
    });
    std::sort(files_.open.begin(), files_.open.end(),
              [](const auto& a, const auto& b) { return a.counter < b.counter; });
    std::sort(files_.snapshots.begin(), files_.snapshots.end());
    return {};
  }

  Result<void> check_metadata() {
    std::optional<Metadata> newest;
    std::string last_bad = "metadata1";
    std::string last_why = "it is missing";
    for (const auto& name : files_.metadata) {
      SAMOVAR_TRY(const Bytes bytes, read(name, kMetadataBytesMax));
      const auto metadata = read_metadata(bytes);
      if (metadata) {
        if (newest && newest->version == metadata->version)
          return damaged(name, "both copies have one version");
        if (!newest || metadata->version > newest->version) newest = *metadata;
        continue;
      }
      // A short file is a write that was cut off, and the other copy still counts.
      if (bytes.size() >= 32) return damaged(name, metadata.error().message());
      last_bad = name;
      last_why = metadata.error().message();
    }
    // Who waits for a leader's log has not voted yet.
    if (!newest && joining_ && files_.closed.empty() && files_.snapshots.empty()) return {};
    if (!newest || newest->term < witness_.term) return damaged(last_bad, last_why);
    term_ = newest->term;
    return {};
  }

  Result<void> check_snapshot() {
    if (files_.snapshots.empty()) return {};
    const SnapshotName& newest = files_.snapshots.back();
    SAMOVAR_TRY(const Bytes meta, read(newest.data_name + ".meta", kFileBytesMax));
    if (const auto good = check_snapshot_meta(meta); !good)
      return damaged(newest.data_name + ".meta", good.error().message());
    auto servers = decode_servers(snapshot_meta_members(meta));
    if (!servers) return damaged(newest.data_name + ".meta", servers.error().message());
    result_.servers = *std::move(servers);
    SAMOVAR_TRY(const Bytes data, read(newest.data_name, kFileBytesMax));
    const auto snapshot = sealer_.open_snapshot(data);
    if (!snapshot) return damaged(newest.data_name, "it is damaged or belongs to another box");
    if (snapshot->position.sequence == witness_.position.sequence &&
        !(snapshot->position == witness_.position))
      return damaged(newest.data_name, "it comes from another copy of this log");
    snapshot_index_ = newest.index;
    snapshot_at_ = snapshot->position;
    result_.last_index = newest.index;
    return {};
  }

  // libraft cuts a segment by writing a shorter one beside it and removing the longer one. Between the two
  // both are there; the longer one holds everything, and what nobody agreed on is cut again.
  Result<void> drop_shortened_segments() {
    auto& closed = files_.closed;
    for (std::size_t i = 0; i + 1 < closed.size();) {
      const ClosedSegment& longer = closed[i];
      const ClosedSegment& shorter = closed[i + 1];
      if (longer.range.first != shorter.range.first) {
        ++i;
        continue;
      }
      SAMOVAR_TRY(const Bytes whole_bytes, read(longer.name, kFileBytesMax));
      SAMOVAR_TRY(const Bytes part_bytes, read(shorter.name, kFileBytesMax));
      const Segment whole = read_segment(whole_bytes);
      const Segment part = read_segment(part_bytes);
      const auto same = [](const RawEntry& a, const RawEntry& b) {
        return a.term == b.term && a.type == b.type &&
               std::equal(a.data.begin(), a.data.end(), b.data.begin(), b.data.end());
      };
      if (part.entries.size() > whole.entries.size() ||
          !std::equal(part.entries.begin(), part.entries.end(), whole.entries.begin(), same))
        return damaged(shorter.name, "it begins like another segment, and goes on differently");
      result_.old_segments.push_back(shorter.name);
      closed.erase(closed.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
    return {};
  }

  // A snapshot of another member replaces the whole log. With segments of the time before it still there, and
  // others made ahead, libraft would expect these to lead up to it.
  Result<void> drop_replaced_segments() {
    auto& closed = files_.closed;
    if (closed.empty() || closed.back().range.last >= snapshot_index_ || files_.open.empty()) return {};
    if (witness_.position.sequence > snapshot_at_.sequence) return {};
    for (const OpenSegment& segment : files_.open) {
      SAMOVAR_TRY(const Bytes bytes, read(segment.name, kFileBytesMax));
      if (!read_segment(bytes).unwritten) return {};
    }
    for (const ClosedSegment& segment : closed) result_.old_segments.push_back(segment.name);
    closed.clear();
    return {};
  }

  // Closed segments that a snapshot covers may have gaps before them; the rest must be contiguous.
  Result<void> drop_covered_segments() {
    auto& closed = files_.closed;
    std::size_t first = closed.empty() ? 0 : closed.size() - 1;
    while (first > 0 && closed[first - 1].range.last + 1 == closed[first].range.first) --first;
    if (!closed.empty() && closed[first].range.first > snapshot_index_ + 1)
      return damaged(closed[first].name, fmt::format("the entries from {} to {} before it are missing",
                                                     snapshot_index_ + 1, closed[first].range.first - 1));
    closed.erase(closed.begin(), closed.begin() + static_cast<std::ptrdiff_t>(first));
    // As libraft: with all of them behind the snapshot and nothing open, it begins after the snapshot.
    if (!closed.empty() && closed.back().range.last < snapshot_index_ && files_.open.empty()) closed.clear();
    next_index_ = closed.empty() ? snapshot_index_ + 1 : closed.front().range.first;
    if (snapshot_index_ == 0) at_ = Position{};
    if (next_index_ == snapshot_index_ + 1) at_ = snapshot_at_;
    return {};
  }

  Result<void> check_closed(const ClosedSegment& segment) {
    SAMOVAR_TRY(const Bytes bytes, read(segment.name, kFileBytesMax));
    const Segment content = read_segment(bytes);
    if (content.unwritten) return damaged(segment.name, "the file is empty");
    if (!content.torn.empty()) return damaged(segment.name, content.torn);
    if (content.good_bytes != bytes.size()) return damaged(segment.name, "zeros follow its entries");
    if (content.entries.size() != segment.range.last - segment.range.first + 1)
      return damaged(segment.name, fmt::format("it holds {} entries", content.entries.size()));
    return walk(segment.name, content);
  }

  Result<void> check_open(const OpenSegment& segment) {
    SAMOVAR_TRY(const Bytes bytes, read(segment.name, kFileBytesMax));
    const Segment content = read_segment(bytes);
    if (content.unwritten) {
      // Cut off while it was being made; libraft would stop at one too short for a format number.
      if (!bytes.empty() && bytes.size() < 8) result_.torn_segments.push_back(segment.name);
      return {};
    }
    // libraft fills one segment after the other, so nothing can follow a torn write.
    if (!torn_name_.empty()) return damaged(torn_name_, torn_why_);
    if (!content.torn.empty()) {
      torn_name_ = segment.name;
      torn_why_ = content.torn;
      if (content.entries.empty()) result_.torn_segments.push_back(segment.name);
    }
    return walk(segment.name, content);
  }

  Result<void> walk(const std::string& name, const Segment& content) {
    last_name_ = name;
    for (const RawEntry& raw : content.entries) {
      if (raw.term > term_) return damaged(name, "its entries are newer than the log's term");
      if (next_index_ == 1 && raw.type != EntryType::change) return first_missing();
      if (raw.type == EntryType::command) SAMOVAR_CHECK(check_entry(name, raw.data));
      if (raw.type == EntryType::change && next_index_ > snapshot_index_) {
        auto servers = decode_servers(raw.data);
        if (!servers) return damaged(name, servers.error().message());
        result_.servers = *std::move(servers);
      }
      if (next_index_ == snapshot_index_) {
        if (at_ && !(*at_ == snapshot_at_)) return damaged(name, "it does not lead to the snapshot");
        at_ = snapshot_at_;
      }
      result_.last_index = std::max(result_.last_index, next_index_);
      ++next_index_;
    }
    return {};
  }

  Result<void> check_entry(const std::string& name, ByteView data) {
    const auto entry = sealer_.open_entry(data);
    if (!entry)
      return damaged(name, fmt::format("entry {} is damaged or belongs to another box", next_index_));
    const bool chains = !at_ || (entry->position.sequence == at_->sequence + 1 && entry->previous == at_->id);
    if (!chains)
      return damaged(name,
                     fmt::format("entry {} does not follow the one before it: entries are missing, repeated "
                                 "or out of order",
                                 next_index_));
    if (entry->position.sequence == witness_.position.sequence && entry->position.id != witness_.position.id)
      return damaged(name, fmt::format("entry {} comes from another copy of this log", next_index_));
    at_ = entry->position;
    return {};
  }

  Error first_missing() const {
    return damaged("0000000000000001-0000000000000001", "the first segment of the log is missing");
  }

  Result<void> check_end() {
    const bool nothing = result_.last_index == 0;
    if (nothing && !(joining_ && witness_.position.sequence == 0)) return first_missing();
    if (next_index_ <= snapshot_index_ && !files_.closed.empty())
      return damaged(last_name_, "the log ends before its snapshot");
    result_.head = at_.value_or(snapshot_at_);
    if (result_.head.sequence >= witness_.position.sequence) return {};
    const std::string name = !torn_name_.empty() ? torn_name_ : !last_name_.empty() ? last_name_ : "open-1";
    return damaged(name, fmt::format("the log ends with change {}, but change {} was acknowledged{}{}",
                                     result_.head.sequence, witness_.position.sequence,
                                     torn_why_.empty() ? "" : ": ", torn_why_));
  }

  // Constant after construction.
  Disk& disk_;
  const std::string& dir_;
  const Sealer& sealer_;
  const Witness& witness_;
  bool joining_;
  // Filled step by step.
  Listing files_;
  std::uint64_t term_ = 0;
  std::uint64_t snapshot_index_ = 0;
  Position snapshot_at_;
  std::uint64_t next_index_ = 1;
  std::optional<Position> at_;  // none: before the first entry whose predecessor is gone
  std::string last_name_;
  std::string torn_name_;
  std::string torn_why_;
  LogCheck result_;
};

}  // namespace

Result<LogCheck> check_log(Disk& disk, const std::string& dir, const Sealer& sealer, const Witness& witness,
                           bool joining) {
  return Checker(disk, dir, sealer, witness, joining).run();
}

}  // namespace samovar::raft
