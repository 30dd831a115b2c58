// The blocks of a data set's version, from sealed shards that samovard opened.
//
// Few shards are open at a time, however many there are: each open one takes a chunk's room.
//
// Threading: one thread at a time, as trainer::BlockSource says.
#pragma once
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

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

  std::size_t blocks() const override { return places_.size(); }
  std::uint32_t rows(std::size_t block) const override { return places_[block].rows; }
  Result<void> read(std::size_t block, Bytes& out) override;
  std::uint64_t total_rows() const noexcept { return total_rows_; }

 private:
  struct Place {
    std::uint32_t shard = 0;
    std::uint32_t block = 0;
    std::uint32_t rows = 0;
  };
  struct Open {
    std::uint32_t shard = 0;
    std::unique_ptr<store::ShardReader> reader;
  };
  ShardSource(std::string dataset_id, std::uint32_t version, const security::SecretBytes& key);
  Result<store::ShardReader*> reader(std::uint32_t shard);

  const std::string dataset_id_;
  const std::uint32_t version_;
  const security::SecretBytes key_;
  std::vector<ingest::Descriptor> files_;
  std::vector<Place> places_;
  std::list<Open> open_;  // the last used one first
  std::uint64_t total_rows_ = 0;
};

}  // namespace samovar::worker
