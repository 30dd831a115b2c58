// The few file operations of the CLI: small private files, replaced whole.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "daemon/cli/config.hpp"

namespace samovar::cli {
namespace {

constexpr std::size_t kFileBytesMax = 1 << 20;

Error file_error(const char* doing, const std::string& path) {
  const int code = errno;
  const Errc errc = code == ENOENT   ? Errc::not_found
                    : code == ENOSPC ? Errc::no_space
                    : code == EACCES ? Errc::denied
                                     : Errc::io;
  return Error{errc, fmt::format("cannot {} {}: {}", doing, path, std::strerror(code))};
}

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

// As mkdir -p, each new one 0700.
Result<void> make_directories(const std::string& path) {
  for (std::size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    const std::string part = path.substr(0, at);
    if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) return file_error("make the folder", part);
    if (at == std::string::npos) return {};
  }
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) return file_error("read", path);
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n < 0) return file_error("read", path);
    if (n == 0) return text;
    text.append(buffer, static_cast<std::size_t>(n));
    if (text.size() > kFileBytesMax)
      return Error{Errc::invalid, fmt::format("{} is longer than 1 MiB", path)};
  }
}

Result<void> write_private_file(const std::string& path, std::string_view text) {
  const std::size_t slash = path.rfind('/');
  if (slash != std::string::npos && slash != 0) SAMOVAR_CHECK(make_directories(path.substr(0, slash)));
  std::string temporary = path + ".XXXXXX";
  const Fd fd(::mkostemp(temporary.data(), O_CLOEXEC));  // always 0600
  if (fd.get() < 0) return file_error("write", path);
  while (!text.empty()) {
    const ssize_t n = ::write(fd.get(), text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      Error error = file_error("write", path);
      ::unlink(temporary.c_str());
      return error;
    }
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  if (::fsync(fd.get()) != 0 || ::rename(temporary.c_str(), path.c_str()) != 0) {
    Error error = file_error("write", path);
    ::unlink(temporary.c_str());
    return error;
  }
  return {};
}

}  // namespace samovar::cli
