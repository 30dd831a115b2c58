// The disk as a seam. Nothing is durable before sync() (files) and sync_dir() (names) returned.
//
// Threading: any thread; one File is used by one thread at a time. Calls block: the loop thread
// leaves them to the io pool, except at start-up.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace samovar {

class File {
 public:
  virtual ~File() = default;
  // Fewer bytes than asked for only at the end of the file.
  virtual Result<std::size_t> read_at(std::uint64_t offset, MutableBytes out) = 0;
  // All of it or an error.
  virtual Result<void> write_at(std::uint64_t offset, ByteView data) = 0;
  virtual Result<void> truncate(std::uint64_t size) = 0;
  virtual Result<void> sync() = 0;
  virtual Result<std::uint64_t> size() = 0;
};

enum class OpenMode : std::uint8_t { read, write, create_new };  // write: create if missing, keep content

struct DiskSpace {
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;  // for us, without the part reserved for root
};

class Disk {
 public:
  virtual ~Disk() = default;
  virtual Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) = 0;
  virtual bool exists(const std::string& path) = 0;
  virtual Result<void> rename(const std::string& from, const std::string& to) = 0;
  virtual Result<void> remove(const std::string& path) = 0;
  // 0700, with missing parents; no error when it is there.
  virtual Result<void> make_dir(const std::string& path) = 0;
  virtual Result<std::vector<std::string>> list(const std::string& dir) = 0;  // names, sorted
  virtual Result<void> sync_dir(const std::string& dir) = 0;
  virtual Result<DiskSpace> space(const std::string& path) = 0;

  // Errc::corrupt past the limit: what we read whole is small by design.
  Result<Bytes> read_file(const std::string& path, std::size_t bytes_max);
  // path.tmp → write → sync → rename → sync_dir: the old content or the new, never a mix. Mode 0600.
  Result<void> write_file(const std::string& path, ByteView data);
};

Disk& real_disk();

}  // namespace samovar
