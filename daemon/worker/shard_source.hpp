// The blocks of a data set's version, from sealed shards that samovard opened.
//
// Few shards are open at a time, however many there are: each open one takes a chunk's room.
//
// Alone a worker has all shards and looks how long their blocks are. Among others it is told, for all shards,
// and has those that its own blocks lie in. Blocks may be cut into parts, each of which counts as a block.
//
// Threading: one thread at a time reads, as trainer::BlockSource says; another one may add shards.
#pragma once
#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "daemon/ingest/worker_channel.hpp"
#include "daemon/store/shard_file.hpp"
#include "daemon/worker/exchange.hpp"
#include "security/secret_bytes.hpp"
#include "trainer/data/reader.hpp"

namespace samovar::worker {

class ShardSource final : public trainer::BlockSource {
 public:
  // Asks for all shards and reads their indexes.
  static Result<std::unique_ptr<ShardSource>> open(Exchange& exchange, std::string dataset_id,
                                                   std::uint32_t version, std::uint32_t shards,
                                                   const security::SecretBytes& key);
  // Asks for the shards of the job's own blocks.
  static Result<std::unique_ptr<ShardSource>> open_part(Exchange& exchange, const jobs::TrainJob& job,
                                                        const trainer::Schema& schema);
  // And for those of these, when it has not got them.
  Result<void> add(Exchange& exchange, const std::vector<std::uint32_t>& blocks);
  Result<void> add_shards(Exchange& exchange, const std::vector<std::uint32_t>& shards);

  std::size_t blocks() const override { return places_.size(); }
  std::uint32_t rows(std::size_t block) const override { return places_[block].rows; }
  Result<void> read(std::size_t block, Bytes& out) override;
  bool here(std::size_t block) const override;
  std::uint64_t total_rows() const noexcept { return total_rows_; }
  // So far, on whichever thread read: from the disk, and to decrypt, check and unpack what came.
  double read_seconds() const noexcept { return read_seconds_.load(std::memory_order_relaxed); }
  double decrypt_seconds() const noexcept { return decrypt_seconds_.load(std::memory_order_relaxed); }

 private:
  struct Place {
    std::uint32_t shard = 0;
    std::uint32_t block = 0;
    std::uint32_t rows = 0;
    std::uint32_t first = 0;  // row of the shard's block
    bool part = false;
  };
  struct Open {
    std::uint32_t shard = 0;
    std::unique_ptr<store::ShardReader> reader;
  };
  ShardSource(std::string dataset_id, std::uint32_t version, const security::SecretBytes& key);
  Result<store::ShardReader*> reader(std::uint32_t shard);
  Result<void> read_whole(const Place& place, Bytes& out);
  Result<void> read_part(const Place& place, std::size_t block, Bytes& out);

  const std::string dataset_id_;
  const std::uint32_t version_;
  const security::SecretBytes key_;
  const trainer::Schema* schema_ = nullptr;  // for parts
  std::vector<Place> places_;
  std::vector<std::vector<std::uint32_t>> told_;  // rows of each shard's blocks; none: nobody told
  std::list<Open> open_;                          // the last used one first
  std::uint64_t total_rows_ = 0;
  std::map<std::size_t, Bytes> kept_;  // parts, while there is room
  std::size_t kept_bytes_ = 0;
  Bytes whole_;  // the block that parts are cut from

  std::atomic<double> read_seconds_{0};
  std::atomic<double> decrypt_seconds_{0};

  mutable Mutex mutex_;
  std::map<std::uint32_t, ingest::Descriptor> files_ SAMOVAR_GUARDED_BY(mutex_);
};

}  // namespace samovar::worker
