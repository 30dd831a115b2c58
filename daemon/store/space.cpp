// Room on the disk: the rules of data_dir.hpp.
#include <fmt/format.h>

#include <algorithm>

#include "base/failpoint.hpp"
#include "base/rng.hpp"
#include "daemon/store/data_dir.hpp"

namespace samovar::store {
namespace {

constexpr std::size_t kPieceBytes = 1 << 20;

std::string human(std::uint64_t bytes) {
  if (bytes >= 10'000'000'000) return fmt::format("{:.0f} GB", static_cast<double>(bytes) / 1e9);
  if (bytes >= 1'000'000'000) return fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9);
  return fmt::format("{:.0f} MB", static_cast<double>(bytes) / 1e6);
}

}  // namespace

Result<DiskSpace> DataDir::room() const {
  SAMOVAR_TRY(const DiskSpace space, disk_->space(root_));
  // The part beyond full_share, or the reserve where that is more, stays free.
  const auto spare =
      static_cast<std::uint64_t>(static_cast<double>(space.total_bytes) * (1 - rules_.full_share));
  const std::uint64_t kept = std::max(spare, rules_.reserve_bytes);
  return DiskSpace{space.total_bytes, space.free_bytes > kept ? space.free_bytes - kept : 0};
}

Result<void> DataDir::check_room(std::uint64_t more) const {
  SAMOVAR_TRY(const DiskSpace space, room());
  const std::uint64_t room = space.free_bytes;
  if (more <= room) return {};
  return Error{Errc::no_space,
               fmt::format("the disk has room for {} more, this needs {}: delete data sets or "
                           "uploads that are no longer needed, or add a disk",
                           human(room), human(more))};
}

Result<void> DataDir::drop_ballast() {
  const std::string path = root_ + "/ballast";
  if (!disk_->exists(path)) return {};
  SAMOVAR_CHECK(disk_->remove(path));
  return disk_->sync_dir(root_);
}

Result<void> DataDir::tend_ballast() {
  const std::string path = root_ + "/ballast";
  SAMOVAR_TRY(const DiskSpace space, disk_->space(root_));
  if (space.free_bytes < rules_.reserve_bytes) return drop_ballast();
  std::uint64_t have = 0;
  if (disk_->exists(path)) {
    SAMOVAR_TRY(const auto file, disk_->open(path, OpenMode::read));
    SAMOVAR_TRY(have, file->size());
  }
  if (have >= rules_.ballast_bytes) return {};
  // Only with room to spare: what was given up comes back when things are well again, not at once.
  if (space.free_bytes < rules_.ballast_bytes - have + 2 * rules_.reserve_bytes) return {};
  // Random bytes: no file system can squeeze them or leave them out.
  SAMOVAR_TRY(const auto file, disk_->open(path, OpenMode::write));
  Bytes piece(kPieceBytes);
  while (have < rules_.ballast_bytes) {
    piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, rules_.ballast_bytes - have)));
    system_rng().fill(piece);
    SAMOVAR_FAILPOINT_ERROR("store.ballast.before_write");
    SAMOVAR_CHECK(file->write_at(have, piece));
    have += piece.size();
  }
  SAMOVAR_CHECK(file->sync());
  return disk_->sync_dir(root_);
}

}  // namespace samovar::store
