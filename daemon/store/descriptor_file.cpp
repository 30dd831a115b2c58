// file_from_descriptor of staging.hpp: for descriptors that came from another process.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/direct_write.hpp"
#include "base/failpoint.hpp"
#include "daemon/store/staging.hpp"

namespace samovar::store {
namespace {

Error failed(const char* doing, int error = errno) {
  const bool full = error == ENOSPC || error == EDQUOT;
  return {full ? Errc::no_space : Errc::io,
          std::string("cannot ") + doing + " a file of the store: " + std::generic_category().message(error) +
              (full ? ": free some space and try again" : "")};
}

class DescriptorFile : public File {
 public:
  explicit DescriptorFile(int fd) : fd_(fd) {}
  ~DescriptorFile() override { ::close(fd_); }
  DescriptorFile(const DescriptorFile&) = delete;
  DescriptorFile& operator=(const DescriptorFile&) = delete;

  Result<std::size_t> read_at(std::uint64_t offset, MutableBytes out) override {
    std::size_t done = 0;
    while (done < out.size()) {
      const ssize_t got =
          ::pread(fd_, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return failed("read");
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }
  Result<void> write_at(std::uint64_t offset, ByteView data) override {
    SAMOVAR_FAILPOINT_ERROR("store.descriptor.write");
    const int error = writer_.write(fd_, offset, data);
    if (error != 0) return failed("write", error);
    return {};
  }
  Result<void> truncate(std::uint64_t size) override {
    while (::ftruncate(fd_, static_cast<off_t>(size)) != 0) {
      if (errno != EINTR) return failed("truncate");
    }
    return {};
  }
  Result<void> sync() override {
    if (sync_failed_) return Error{Errc::io, "an earlier sync of a file of the store failed"};
    if (::fsync(fd_) == 0) return {};
    sync_failed_ = true;  // the kernel may have dropped what it could not write
    return failed("sync");
  }
  Result<std::uint64_t> size() override {
    struct stat info {};
    if (::fstat(fd_, &info) != 0) return failed("look at");
    return static_cast<std::uint64_t>(info.st_size);
  }

 private:
  const int fd_;
  DirectWriter writer_;
  bool sync_failed_ = false;
};

}  // namespace

std::unique_ptr<File> file_from_descriptor(int fd) { return std::make_unique<DescriptorFile>(fd); }

}  // namespace samovar::store
