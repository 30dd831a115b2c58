// An upload, opened with its own key, for whoever parses it.
//
// Threading: one thread at a time.
#pragma once
#include <memory>

#include "base/result.hpp"
#include "daemon/ingest/source.hpp"
#include "daemon/ingest/worker_channel.hpp"
#include "daemon/store/staging.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::worker {

class UploadSource final : public ingest::Source {
 public:
  // Each has a descriptor of its own: reads say where, so they do not disturb each other.
  static Result<std::unique_ptr<UploadSource>> open(const ingest::Descriptor& upload,
                                                    const security::SecretBytes& key);
  Result<std::size_t> read(MutableBytes out) override { return reader_->read(out); }
  std::uint64_t raw_bytes_read() const override { return reader_->position(); }

 private:
  explicit UploadSource(std::unique_ptr<store::StagingReader> reader) : reader_(std::move(reader)) {}
  std::unique_ptr<store::StagingReader> reader_;
};

}  // namespace samovar::worker
