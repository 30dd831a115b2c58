#include "daemon/state_dir.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/log.hpp"
#include "security/keyring.hpp"

namespace samovar::daemon {
namespace {

Result<void> check_private(const std::string& path) {
  struct stat st {};
  if (stat(path.c_str(), &st) != 0) return Error{Errc::io, fmt::format("{}: {}", path, std::strerror(errno))};
  if (!S_ISDIR(st.st_mode))
    return Error{Errc::invalid,
                 fmt::format("{} is not a directory; name one with --state-dir or state_dir", path)};
  if ((st.st_mode & 0077) != 0 && chmod(path.c_str(), 0700) != 0)
    return Error{Errc::denied, fmt::format("{} can be read by others; run: chmod 700 {}", path, path)};
  if (access(path.c_str(), R_OK | W_OK | X_OK) != 0)
    return Error{Errc::denied, fmt::format("{} is not ours to write: {}; run: chown -R samovar: {}", path,
                                           std::strerror(errno), path)};
  return {};
}

// What an unlinked file held may stay on the disk for years: keys are overwritten first. A flash disk may
// keep the old blocks all the same; what they open is removed with them.
Result<void> shred(Disk& disk, const std::string& path) {
  // A key file is read-only to everybody, ourselves included.
  if (chmod(path.c_str(), 0600) != 0 && errno != ENOENT)
    return Error{Errc::io, fmt::format("{}: {}", path, std::strerror(errno))};
  {
    SAMOVAR_TRY(const auto file, disk.open(path, OpenMode::write));
    SAMOVAR_TRY(const std::uint64_t size, file->size());
    SAMOVAR_CHECK(file->write_at(0, Bytes(size, 0)));
    SAMOVAR_CHECK(file->sync());
  }
  return disk.remove(path);
}

Result<int> take_lock(const std::string& path) {
  const std::string lock = path + "/lock";
  const int fd = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) {
    if (errno == ENOSPC)
      return Error{Errc::no_space,
                   fmt::format("the disk of {} is full: free some space and start again", path)};
    return Error{Errc::io, fmt::format("{}: {}", lock, std::strerror(errno))};
  }
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  const int reason = errno;
  ::close(fd);
  if (reason == EWOULDBLOCK)
    return Error{
        Errc::conflict,
        fmt::format("another samovard already runs on {}: stop it first (systemctl stop samovard), or "
                    "give this one its own --state-dir",
                    path)};
  return Error{Errc::io, fmt::format("{}: {}", lock, std::strerror(reason))};
}

}  // namespace

Result<std::unique_ptr<StateDir>> StateDir::open(Disk& disk, const std::string& path) {
  if (auto made = disk.make_dir(path); !made)
    return std::move(made).error().within(fmt::format("the state directory {} cannot be made", path));
  SAMOVAR_CHECK(check_private(path));
  SAMOVAR_TRY(const DiskSpace space, disk.space(path));
  if (space.free_bytes < kStartBytesMin)
    return Error{
        Errc::no_space,
        fmt::format("the disk of {} is full: {} MiB are free, {} MiB are needed to start. Free some space "
                    "and start again; nothing was changed",
                    path, space.free_bytes >> 20, kStartBytesMin >> 20)};
  SAMOVAR_TRY(const int lock_fd, take_lock(path));
  return std::unique_ptr<StateDir>(new StateDir(disk, path, lock_fd));
}

StateDir::~StateDir() { ::close(lock_fd_); }

Result<StateDir::Found> StateDir::look() const {
  if (disk_.exists(wiping())) return Found::wiping;
  if (disk_.exists(keyring())) return Found::set_up;
  if (disk_.exists(keyring_new())) return Found::interrupted;
  if (disk_.exists(raft()))
    return Error{
        Errc::not_found,
        fmt::format("{} is missing, but {} is there: without its keyring the state of this box cannot be "
                    "read. Put the keyring back from a copy and start again. Nothing was changed",
                    keyring(), raft())};
  return Found::fresh;
}

// The key file elsewhere was made with this keyring.
bool StateDir::key_belongs(const std::string& keyring_path, const std::string& key_path) const {
  const auto keyring = disk_.read_file(keyring_path, security::kKeyringBytesMax);
  const auto key = disk_.read_file(key_path, security::kKeyFileBytesMax);
  if (!keyring || !key) return false;
  const auto decoded = security::Keyring::decode(*keyring);
  const auto info = security::read_key_file_info(*key);
  return decoded && info && decoded->id() == info->keyring_id;
}

Result<void> StateDir::set_aside_interrupted(const std::string& key_path) {
  std::string aside;
  for (int i = 1; aside.empty() || disk_.exists(aside); ++i)
    aside = fmt::format("{}/interrupted-{}", path_, i);
  SAMOVAR_LOG(warn, main, "a set-up was interrupted before it was complete; setting it aside",
              kv("folder", aside));
  SAMOVAR_CHECK(disk_.make_dir(aside));
  if (disk_.exists(raft())) SAMOVAR_CHECK(disk_.rename(raft(), aside + "/raft"));
  if (disk_.exists(member())) SAMOVAR_CHECK(disk_.rename(member(), aside + "/member"));
  if (key_path == path_ + "/key" && disk_.exists(key_path)) {
    SAMOVAR_CHECK(disk_.rename(key_path, aside + "/key"));
  } else if (key_belongs(keyring_new(), key_path)) {
    SAMOVAR_CHECK(disk_.rename(key_path, key_path + ".interrupted"));
  }
  // Last: as long as it is there, a next start comes here again.
  if (disk_.exists(keyring_new())) SAMOVAR_CHECK(disk_.rename(keyring_new(), aside + "/keyring.new"));
  return disk_.sync_dir(path_);
}

Result<void> StateDir::wipe(const std::string& key_path) {
  const bool key_elsewhere = key_path != path_ + "/key" && key_belongs(keyring(), key_path);
  SAMOVAR_CHECK(disk_.write_file(wiping(), as_bytes("a factory reset is under way\n")));
  if (key_elsewhere) SAMOVAR_CHECK(shred(disk_, key_path));
  // Without these the rest is noise, so they go first.
  for (const std::string& secret : {path_ + "/key", keyring(), keyring_new(), identity() + "/node.key"})
    if (disk_.exists(secret)) SAMOVAR_CHECK(shred(disk_, secret));
  SAMOVAR_TRY(const auto names, disk_.list(path_));
  for (const auto& name : names) {
    if (name == "lock" || name == "clock" || name == "wiping") continue;
    std::error_code failed;
    std::filesystem::remove_all(path_ + "/" + name, failed);
    if (failed)
      return Error{Errc::io, fmt::format("{}/{} cannot be removed: {}. Run the factory reset again", path_,
                                         name, failed.message())};
  }
  SAMOVAR_CHECK(disk_.remove(wiping()));
  return disk_.sync_dir(path_);
}

}  // namespace samovar::daemon
