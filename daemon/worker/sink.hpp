// Where the rows of an ingest go: sealed files that samovard opens, one for each shard, one for the bad
// rows, one for the profile.
//
// Threading: one thread. Ownership: borrows the channel and the job.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "daemon/ingest/pipeline.hpp"
#include "daemon/ingest/worker_channel.hpp"
#include "daemon/store/shard_file.hpp"
#include "security/sealed_file.hpp"

namespace samovar::worker {

class FileSink final : public ingest::ShardSink {
 public:
  FileSink(ingest::WorkerChannel& channel, const ingest::WorkerJob& job) : channel_(channel), job_(job) {}

  Result<void> block(std::uint32_t shard, std::uint32_t rows, ByteView encoded) override;
  Result<void> bad_row(std::string_view csv_line) override;
  // Everything synced; what lies where.
  Result<std::vector<ingest::StoredFile>> finish(std::string_view profile_json);

 private:
  using Shard = std::unique_ptr<store::ShardWriter>;
  using Object = std::unique_ptr<security::SealedStreamWriter>;
  Result<std::unique_ptr<File>> open(ingest::FileKind kind, std::uint32_t number);
  Result<Object> open_object(ingest::FileKind kind);
  Result<ingest::StoredFile> close_object(ingest::FileKind kind, security::SealedStreamWriter& writer);

  ingest::WorkerChannel& channel_;
  const ingest::WorkerJob& job_;
  std::map<std::uint32_t, Shard> shards_;
  Object bad_rows_;  // made with the first one
};

}  // namespace samovar::worker
