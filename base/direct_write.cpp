#include "base/direct_write.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/assert.hpp"
#include "base/failpoint.hpp"

namespace samovar {
namespace {

int write_all(int fd, std::uint64_t offset, ByteView data) noexcept {
  while (!data.empty()) {
    const ssize_t put = ::pwrite(fd, data.data(), data.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    offset += static_cast<std::uint64_t>(put);
    data = data.subspan(static_cast<std::size_t>(put));
  }
  return 0;
}

// The flag belongs to the open file, which others may share and read from: it is set for one write only.
class Direct {
 public:
  explicit Direct(int fd) noexcept : fd_(fd), flags_(::fcntl(fd, F_GETFL)) {
    set_ = flags_ >= 0 && ::fcntl(fd, F_SETFL, flags_ | O_DIRECT) == 0;
  }
  ~Direct() {
    if (set_) ::fcntl(fd_, F_SETFL, flags_);
  }
  Direct(const Direct&) = delete;
  Direct& operator=(const Direct&) = delete;
  bool set() const noexcept { return set_; }

 private:
  const int fd_;
  const int flags_;
  bool set_ = false;
};

}  // namespace

// Whole blocks. What could not be written for want of such writes is left to the caller, and what is short,
// when the disk gets full for example, to find out about.
int DirectWriter::write_blocks(int fd, std::uint64_t offset, ByteView data, std::size_t& done) noexcept {
  // Armed, the file system takes none of it this way, or less.
  const std::size_t able = SAMOVAR_FAILPOINT_SHORT("disk.write.direct", data.size());
  const Direct direct(fd);
  const bool can = direct.set() && able > 0;
  const ssize_t put = can ? ::pwrite(fd, data.data(), able, static_cast<off_t>(offset)) : ssize_t{-1};
  const int error = can ? errno : EINVAL;
  done = static_cast<std::size_t>(put < 0 ? 0 : put);
  refused_ = put < 0 && (error == EINVAL || error == EOPNOTSUPP);
  return put >= 0 || refused_ || error == EINTR ? 0 : error;
}

int DirectWriter::write(int fd, std::uint64_t offset, ByteView data) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(data.data());
  const std::size_t head = (kDiskBlockBytes - offset % kDiskBlockBytes) % kDiskBlockBytes;
  const bool lies_well = address % kDiskBlockBytes == offset % kDiskBlockBytes;
  if (!refused_ && lies_well && data.size() >= head + kDirectBytesMin) {
    if (const int error = write_all(fd, offset, data.first(head)); error != 0) return error;
    const std::size_t whole = (data.size() - head) / kDiskBlockBytes * kDiskBlockBytes;
    std::size_t done = 0;
    if (const int error = write_blocks(fd, offset + head, data.subspan(head, whole), done); error != 0)
      return error;
    offset += head + done;
    data = data.subspan(head + done);
  }
  return write_all(fd, offset, data);
}

BlockBuffer::BlockBuffer(std::size_t bytes)
    : size_((std::max<std::size_t>(bytes, 1) + kDiskBlockBytes - 1) / kDiskBlockBytes * kDiskBlockBytes),
      memory_(static_cast<std::uint8_t*>(std::aligned_alloc(kDiskBlockBytes, size_))) {
  SAMOVAR_ASSERT(memory_ != nullptr);
}

}  // namespace samovar
