// Where timed programs read from: a file as ingest does, a sealed shard as training does.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/disk.hpp"
#include "bench/bench.hpp"
#include "daemon/ingest/source.hpp"
#include "daemon/store/shard_file.hpp"
#include "trainer/data/reader.hpp"

namespace samovar::bench {

class FileSource final : public ingest::Source {
 public:
  explicit FileSource(const std::string& path) : file_(need(real_disk().open(path, OpenMode::read))) {}
  Result<std::size_t> read(MutableBytes out) override {
    SAMOVAR_TRY(const std::size_t size, file_->read_at(at_, out));
    at_ += size;
    return size;
  }
  std::uint64_t raw_bytes_read() const override { return at_; }

 private:
  std::unique_ptr<File> file_;
  std::uint64_t at_ = 0;
};

class ShardSource final : public trainer::BlockSource {
 public:
  explicit ShardSource(std::unique_ptr<store::ShardReader> shard) : shard_(std::move(shard)) {}
  std::size_t blocks() const override { return shard_->blocks().size(); }
  std::uint32_t rows(std::size_t block) const override { return shard_->blocks()[block].rows; }
  Result<void> read(std::size_t block, Bytes& out) override { return shard_->read(block, out); }

 private:
  std::unique_ptr<store::ShardReader> shard_;
};

}  // namespace samovar::bench
