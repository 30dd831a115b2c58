#include "daemon/raft/segment.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include "daemon/raft/little_endian.hpp"

namespace samovar::raft {
namespace {

constexpr std::uint64_t kDiskFormat = 1;
constexpr std::size_t kMetaHeadBytes = 32;
constexpr std::size_t kBatchEntriesMax = 8 * 1024 * 1024 / 32;  // libraft's own bound

// libraft's checksum: the polynomial of CRC-32, most significant bit first, started at 0, not inverted.
constexpr std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i << 24;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 0x80000000u) != 0 ? (crc << 1) ^ 0x04c11db7u : crc << 1;
    table[i] = crc;
  }
  return table;
}
constexpr auto kCrcTable = make_crc_table();

std::uint32_t checksum(ByteView bytes, std::uint32_t crc = 0) {
  for (const std::uint8_t byte : bytes) crc = (crc << 8) ^ kCrcTable[((crc >> 24) ^ byte) & 255];
  return crc;
}

bool all_zero(ByteView bytes) {
  // The first is zero and each equals the next: segments are megabytes of zeros, and memcmp is fast.
  return bytes.empty() ||
         (bytes[0] == 0 && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

// One batch at `at`; moves `at` behind it, or says why it is none.
std::optional<std::string> read_batch(ByteView file, std::size_t& at, std::vector<RawEntry>& entries) {
  const ByteView rest = file.subspan(at);
  if (rest.size() < 16) return "the file ends inside a batch";
  const std::uint64_t count = get_u64(rest, 8);
  if (count == 0 || count > kBatchEntriesMax) return "a batch claims an impossible number of entries";
  const std::size_t header_bytes = 8 + 16 * static_cast<std::size_t>(count);
  if (rest.size() - 8 < header_bytes) return "the file ends inside the head of a batch";
  const ByteView header = rest.subspan(8, header_bytes);
  if (checksum(header) != get_u32(rest, 0)) return "the checksum of a batch's head is wrong";

  std::vector<RawEntry> found(static_cast<std::size_t>(count));
  std::size_t offset = 8 + header_bytes;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t field = 8 + 16 * i;
    const std::uint8_t type = header[field + 8];
    const std::size_t size = get_u32(header, field + 12);
    if (type < 1 || type > 3) return "an entry is of an unknown type";
    if (rest.size() - offset < size) return "the file ends inside an entry";
    found[i] = {get_u64(header, field), static_cast<EntryType>(type), rest.subspan(offset, size)};
    offset += size;
  }
  if (checksum(rest.subspan(8 + header_bytes, offset - 8 - header_bytes)) != get_u32(rest, 4))
    return "the checksum of a batch's entries is wrong";
  entries.insert(entries.end(), found.begin(), found.end());
  at += offset;
  return std::nullopt;
}

// The whole of `text` as a decimal number.
std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

Segment read_segment(ByteView file) {
  Segment segment;
  if (all_zero(file)) {
    segment.unwritten = true;
    return segment;
  }
  if (file.size() < 8 || get_u64(file, 0) != kDiskFormat) {
    segment.torn = "the file does not begin with the log's format number";
    return segment;
  }
  segment.good_bytes = 8;
  while (segment.good_bytes < file.size()) {
    if (auto why = read_batch(file, segment.good_bytes, segment.entries)) {
      if (!all_zero(file.subspan(segment.good_bytes)))
        segment.torn = fmt::format("{} (at byte {})", *why, segment.good_bytes);
      break;
    }
  }
  return segment;
}

std::optional<ClosedName> parse_closed_name(std::string_view name) {
  const std::size_t dash = name.find('-');
  if (dash == std::string_view::npos || dash < 16 || name.size() - dash - 1 < 16) return std::nullopt;
  const auto first = parse_number(name.substr(0, dash));
  const auto last = parse_number(name.substr(dash + 1));
  if (!first || !last || *first == 0 || *last < *first) return std::nullopt;
  return ClosedName{*first, *last};
}

std::optional<std::uint64_t> parse_open_name(std::string_view name) {
  constexpr std::string_view kPrefix = "open-";
  if (name.substr(0, kPrefix.size()) != kPrefix) return std::nullopt;
  return parse_number(name.substr(kPrefix.size()));
}

std::optional<SnapshotName> parse_snapshot_meta_name(std::string_view name) {
  constexpr std::string_view kPrefix = "snapshot-";
  constexpr std::string_view kSuffix = ".meta";
  if (name.size() < kPrefix.size() + kSuffix.size() || name.substr(0, kPrefix.size()) != kPrefix ||
      name.substr(name.size() - kSuffix.size()) != kSuffix)
    return std::nullopt;
  const std::string_view data_name = name.substr(0, name.size() - kSuffix.size());
  std::string_view rest = data_name.substr(kPrefix.size());
  std::array<std::uint64_t, 3> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::size_t end = i + 1 < numbers.size() ? rest.find('-') : rest.size();
    if (end == std::string_view::npos) return std::nullopt;
    const auto number = parse_number(rest.substr(0, end));
    if (!number) return std::nullopt;
    numbers[i] = *number;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return SnapshotName{numbers[0], numbers[1], numbers[2], std::string(data_name)};
}

Result<void> check_snapshot_meta(ByteView file) {
  if (file.size() < kMetaHeadBytes) return Error{Errc::corrupt, "shorter than its head"};
  if (get_u64(file, 0) != kDiskFormat) return Error{Errc::corrupt, "unknown format number"};
  if (get_u64(file, 24) != file.size() - kMetaHeadBytes) return Error{Errc::corrupt, "its length is wrong"};
  if (checksum(file.subspan(16)) != static_cast<std::uint32_t>(get_u64(file, 8)))
    return Error{Errc::corrupt, "its checksum is wrong"};
  return {};
}

ByteView snapshot_meta_members(ByteView file) { return file.subspan(kMetaHeadBytes); }

Result<Metadata> read_metadata(ByteView file) {
  if (file.size() != 32) return Error{Errc::corrupt, fmt::format("{} bytes instead of 32", file.size())};
  if (get_u64(file, 0) != kDiskFormat) return Error{Errc::corrupt, "unknown format number"};
  const Metadata metadata{get_u64(file, 8), get_u64(file, 16)};
  if (metadata.version == 0) return Error{Errc::corrupt, "version 0"};
  return metadata;
}

}  // namespace samovar::raft
