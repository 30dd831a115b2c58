// A Disk that remembers every byte ever handed to it to write, and every name: what was planted in the input
// must be in none of them.
#pragma once
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.hpp"

namespace samovar {

class RecordingDisk : public Disk {
 public:
  explicit RecordingDisk(Disk& inner) : inner_(inner) {}

  Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override {
    if (mode != OpenMode::read) note(path);
    SAMOVAR_TRY(auto file, inner_.open(path, mode));
    return std::make_unique<RecordingFile>(*this, std::move(file));
  }
  bool exists(const std::string& path) override { return inner_.exists(path); }
  Result<void> rename(const std::string& from, const std::string& to) override {
    note(to);
    return inner_.rename(from, to);
  }
  Result<void> remove(const std::string& path) override { return inner_.remove(path); }
  Result<void> make_dir(const std::string& path) override {
    note(path);
    return inner_.make_dir(path);
  }
  Result<std::vector<std::string>> list(const std::string& dir) override { return inner_.list(dir); }
  Result<void> sync_dir(const std::string& dir) override { return inner_.sync_dir(dir); }
  Result<DiskSpace> space(const std::string& path) override { return inner_.space(path); }

  std::size_t bytes() const { return written_.size(); }
  std::size_t hits(std::string_view planted) const {
    const std::boyer_moore_horspool_searcher search(planted.begin(), planted.end());
    std::size_t count = 0;
    auto at = written_.begin();
    while (true) {
      const auto [begin, end] = search(at, written_.end());
      if (begin == written_.end()) return count;
      ++count;
      at = end;
    }
  }

 private:
  class RecordingFile : public File {
   public:
    RecordingFile(RecordingDisk& disk, std::unique_ptr<File> file) : disk_(disk), file_(std::move(file)) {}
    Result<std::size_t> read_at(std::uint64_t offset, MutableBytes out) override {
      return file_->read_at(offset, out);
    }
    Result<void> write_at(std::uint64_t offset, ByteView data) override {
      // Pieces of one file that follow each other stay together, so that nothing hides on a border.
      disk_.written_.append(as_text(data));
      return file_->write_at(offset, data);
    }
    Result<void> truncate(std::uint64_t size) override { return file_->truncate(size); }
    Result<void> sync() override { return file_->sync(); }
    Result<std::uint64_t> size() override { return file_->size(); }

   private:
    RecordingDisk& disk_;
    const std::unique_ptr<File> file_;
  };
  void note(const std::string& name) { written_.append(name).push_back('\n'); }

  Disk& inner_;
  std::string written_;
};

}  // namespace samovar
