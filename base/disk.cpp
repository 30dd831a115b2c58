// The real disk: POSIX files. The parts every Disk shares (read_file, write_file) are here too.
#include "base/disk.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "base/direct_write.hpp"
#include "base/failpoint.hpp"

namespace samovar {
namespace {

Error failed(const char* doing, const std::string& path, int error = errno) {
  const char* remedy = "";
  Errc code = Errc::io;
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      code = Errc::no_space;
      remedy = ": free some space and try again";
      break;
    case ENOENT:
      code = Errc::not_found;
      break;
    case EEXIST:
      code = Errc::conflict;
      break;
    case EACCES:
    case EPERM:
    case EROFS:
      code = Errc::denied;
      remedy = ": check the owner, the mode and the mount";
      break;
    case EMFILE:
    case ENFILE:
      code = Errc::busy;
      remedy = ": raise the limit of open files";
      break;
    case EISDIR:
    case ENOTDIR:
    case ENAMETOOLONG:
    case EINVAL:
      code = Errc::invalid;
      break;
    case EIO:
      remedy = ": the disk may be failing, see the kernel log";
      break;
    default:
      break;
  }
  return {code, std::string("cannot ") + doing + " " + path + ": " + std::generic_category().message(error) +
                    remedy};
}

class Fd {
 public:
  explicit Fd(int fd) noexcept : fd_(fd) {}
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const noexcept { return fd_; }

 private:
  int fd_;
};

int open_retrying(const std::string& path, int flags) {
  for (;;) {
    const int fd = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
    if (fd >= 0 || errno != EINTR) return fd;
  }
}

std::string parent_of(const std::string& path) {
  const auto slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

class RealFile : public File {
 public:
  RealFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  Result<std::size_t> read_at(std::uint64_t offset, MutableBytes out) override {
    SAMOVAR_FAILPOINT_ERROR("disk.read");
    std::size_t done = 0;
    while (done < out.size()) {
      const ssize_t got =
          ::pread(fd_.get(), out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return failed("read", path_);
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

  Result<void> write_at(std::uint64_t offset, ByteView data) override {
    SAMOVAR_FAILPOINT_ERROR("disk.write");
    // Armed, the disk fills up in the middle of this write.
    const std::size_t room = SAMOVAR_FAILPOINT_SHORT("disk.write.short", data.size());
    const int error = writer_.write(fd_.get(), offset, data.first(std::min(room, data.size())));
    if (error != 0) return failed("write", path_, error);
    if (room < data.size()) return failed("write", path_, ENOSPC);
    return {};
  }

  Result<void> truncate(std::uint64_t size) override {
    SAMOVAR_FAILPOINT_ERROR("disk.truncate");
    while (::ftruncate(fd_.get(), static_cast<off_t>(size)) != 0) {
      if (errno != EINTR) return failed("truncate", path_);
    }
    return {};
  }

  Result<void> sync() override {
    SAMOVAR_FAILPOINT_ERROR("disk.sync.before");
    // After a failed fsync the kernel may have dropped the pages and reports success the next time:
    // this file is never to be trusted again.
    if (sync_failed_)
      return Error{Errc::io, "an earlier sync of " + path_ + " failed: its content is in doubt"};
    if (::fsync(fd_.get()) != 0) {
      sync_failed_ = true;
      return failed("sync", path_);
    }
    SAMOVAR_FAILPOINT_ERROR("disk.sync.after");
    return {};
  }

  Result<std::uint64_t> size() override {
    struct stat info {};
    if (::fstat(fd_.get(), &info) != 0) return failed("look at", path_);
    return static_cast<std::uint64_t>(info.st_size);
  }

 private:
  const Fd fd_;
  const std::string path_;
  DirectWriter writer_;
  bool sync_failed_ = false;
};

class RealDisk : public Disk {
 public:
  Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override {
    SAMOVAR_FAILPOINT_ERROR("disk.open");
    int flags = O_RDONLY;
    if (mode == OpenMode::write) flags = O_RDWR | O_CREAT;
    if (mode == OpenMode::create_new) flags = O_RDWR | O_CREAT | O_EXCL;
    const int fd = open_retrying(path, flags);
    if (fd < 0) return failed(mode == OpenMode::read ? "open" : "create", path);
    return std::make_unique<RealFile>(fd, path);
  }

  bool exists(const std::string& path) override { return ::access(path.c_str(), F_OK) == 0; }

  Result<void> rename(const std::string& from, const std::string& to) override {
    SAMOVAR_FAILPOINT_ERROR("disk.rename.before");
    if (::rename(from.c_str(), to.c_str()) != 0) return failed("rename", from + " to " + to);
    SAMOVAR_FAILPOINT_ERROR("disk.rename.after");
    return {};
  }

  Result<void> remove(const std::string& path) override {
    SAMOVAR_FAILPOINT_ERROR("disk.remove");
    if (::remove(path.c_str()) != 0) return failed("remove", path);
    return {};
  }

  Result<void> make_dir(const std::string& path) override {
    if (::mkdir(path.c_str(), 0700) == 0) return sync_dir(parent_of(path));
    if (errno == ENOENT && parent_of(path) != path) {
      SAMOVAR_CHECK(make_dir(parent_of(path)));
      if (::mkdir(path.c_str(), 0700) == 0) return sync_dir(parent_of(path));
    }
    struct stat info {};
    const int error = errno;
    if (error == EEXIST && ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return {};
    return failed("make the directory", path, error);
  }

  Result<std::vector<std::string>> list(const std::string& dir) override {
    DIR* handle = ::opendir(dir.c_str());
    if (handle == nullptr) return failed("list", dir);
    const std::unique_ptr<DIR, int (*)(DIR*)> owner(handle, &::closedir);
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = ::readdir(handle)) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
      errno = 0;
    }
    if (errno != 0) return failed("list", dir);
    std::sort(names.begin(), names.end());
    return names;
  }

  Result<void> sync_dir(const std::string& dir) override {
    SAMOVAR_FAILPOINT_ERROR("disk.sync_dir");
    const Fd fd(open_retrying(dir, O_RDONLY | O_DIRECTORY));
    if (fd.get() < 0 || ::fsync(fd.get()) != 0) return failed("sync the directory", dir);
    return {};
  }

  Result<DiskSpace> space(const std::string& path) override {
    struct statvfs info {};
    if (::statvfs(path.c_str(), &info) != 0) return failed("measure the disk of", path);
    const std::uint64_t block = info.f_frsize;
    return DiskSpace{.total_bytes = info.f_blocks * block, .free_bytes = info.f_bavail * block};
  }
};

}  // namespace

Result<Bytes> Disk::read_file(const std::string& path, std::size_t bytes_max) {
  SAMOVAR_TRY(auto file, open(path, OpenMode::read));
  // Read until the end, not up to size(): files of /proc and /sys call themselves empty.
  SAMOVAR_TRY(const std::uint64_t size, file->size());
  if (size > bytes_max) return Error{Errc::corrupt, path + " is larger than it may be"};
  Bytes content(std::min<std::uint64_t>(std::max<std::uint64_t>(size, 4095), bytes_max) + 1);
  std::size_t have = 0;
  for (;;) {
    SAMOVAR_TRY(const std::size_t got, file->read_at(have, MutableBytes(content).subspan(have)));
    have += got;
    if (have > bytes_max) return Error{Errc::corrupt, path + " is larger than it may be"};
    if (have < content.size()) break;
    content.resize(std::min(content.size() * 2, bytes_max + 1));
  }
  content.resize(have);
  return content;
}

Result<void> Disk::write_file(const std::string& path, ByteView data) {
  const std::string temporary = path + ".tmp";
  const auto write = [&]() -> Result<void> {
    {
      SAMOVAR_TRY(auto file, open(temporary, OpenMode::write));
      SAMOVAR_CHECK(file->truncate(0));  // what an earlier crash left
      SAMOVAR_CHECK(file->write_at(0, data));
      SAMOVAR_CHECK(file->sync());
    }
    return rename(temporary, path);
  };
  if (auto written = write(); !written) {
    ignore(remove(temporary), "the next write replaces it");
    return std::move(written).error();
  }
  return sync_dir(parent_of(path));
}

Disk& real_disk() {
  static RealDisk disk;
  return disk;
}

}  // namespace samovar
