#include "daemon/raft/witness_file.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/encoding.hpp"
#include "daemon/raft/little_endian.hpp"

namespace samovar::raft {
namespace {

constexpr std::string_view kMagic = "samovar-witness\n";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeadBytes = kWitnessSlotBytes;
constexpr std::size_t kFileBytes = kHeadBytes + 2 * kWitnessSlotBytes;
constexpr std::size_t kSummedBytes = 16 + 4 + 16;

Bytes make_head(const Sealer& sealer) {
  Bytes head = to_bytes(kMagic);
  put_u32(head, kVersion);
  append(head, sealer.key_check());
  put_u32(head, crc32(head));
  head.resize(kHeadBytes, 0);
  return head;
}

Result<void> check_head(ByteView file, const Sealer& sealer, const std::string& path) {
  if (file.size() != kFileBytes || as_text(file.first(kMagic.size())) != kMagic ||
      crc32(file.first(kSummedBytes)) != get_u32(file, kSummedBytes))
    return Error{Errc::corrupt,
                 fmt::format("{} is damaged. Nothing was changed. Restore the log's folder from "
                             "a backup of this node, then start again.",
                             path)};
  if (get_u32(file, 16) != kVersion)
    return Error{Errc::unsupported, fmt::format("{} was written by a newer version of Samovar: install that "
                                                "version or a later one.",
                                                path)};
  const auto check = sealer.key_check();
  if (!std::equal(check.begin(), check.end(), file.begin() + 20))
    return Error{Errc::denied,
                 fmt::format("{} is sealed with another key: the keyring and this log belong to "
                             "different boxes. Put back the keyring that was made with this log.",
                             path)};
  return {};
}

// A frame is followed by zeros up to the end of its block.
Result<Witness> read_slot(ByteView slot, const Sealer& sealer) {
  const std::size_t length = (8 + static_cast<std::size_t>(get_u32(slot, 4)) + 7) / 8 * 8;
  if (length > slot.size()) return Error{Errc::corrupt, "the slot is damaged"};
  return sealer.open_witness(slot.first(length));
}

}  // namespace

Bytes witness_slot(const Sealer& sealer, const Witness& witness) {
  Bytes slot = sealer.seal_witness(witness);
  slot.resize(kWitnessSlotBytes, 0);
  return slot;
}

std::uint64_t witness_slot_offset(std::uint64_t counter) {
  return kHeadBytes + (counter % 2) * kWitnessSlotBytes;
}

Result<void> create_witness(Disk& disk, const std::string& dir, const Sealer& sealer) {
  Bytes file = make_head(sealer);
  append(file, witness_slot(sealer, Witness{}));
  file.resize(kFileBytes, 0);
  return disk.write_file(dir + "/" + kWitnessName, file);
}

Result<Witness> load_witness(Disk& disk, const std::string& dir, const Sealer& sealer) {
  const std::string path = dir + "/" + kWitnessName;
  if (!disk.exists(path))
    return Error{Errc::corrupt,
                 fmt::format("{} is missing, so nobody can tell whether the log is whole. Nothing "
                             "was changed. Restore the folder from a backup of this node, then "
                             "start again.",
                             path)};
  SAMOVAR_TRY(const Bytes file, disk.read_file(path, kFileBytes));
  SAMOVAR_CHECK(check_head(file, sealer, path));
  const ByteView view = file;
  const auto a = read_slot(view.subspan(kHeadBytes, kWitnessSlotBytes), sealer);
  const auto b = read_slot(view.subspan(kHeadBytes + kWitnessSlotBytes, kWitnessSlotBytes), sealer);
  if (a && b) return a->counter > b->counter ? *a : *b;
  if (a) return *a;
  if (b) return *b;
  return Error{Errc::corrupt,
               fmt::format("{} is damaged. Nothing was changed. Restore the log's folder from a "
                           "backup of this node, then start again.",
                           path)};
}

}  // namespace samovar::raft
