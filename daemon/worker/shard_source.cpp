#include "daemon/worker/shard_source.hpp"

#include <unistd.h>

#include <algorithm>

#include "daemon/store/staging.hpp"

namespace samovar::worker {
namespace {

constexpr std::size_t kOpenMax = 4;

}  // namespace

ShardSource::ShardSource(std::string dataset_id, std::uint32_t version, const security::SecretBytes& key)
    : dataset_id_(std::move(dataset_id)), version_(version), key_(key.clone()) {}

Result<std::unique_ptr<ShardSource>> ShardSource::open(Exchange& exchange, std::string dataset_id,
                                                       std::uint32_t version, std::uint32_t shards,
                                                       const security::SecretBytes& key) {
  std::unique_ptr<ShardSource> source(new ShardSource(std::move(dataset_id), version, key));
  for (std::uint32_t shard = 0; shard < shards; ++shard) {
    SAMOVAR_TRY(auto file, exchange.input(jobs::InputKind::shard, shard));
    source->files_.push_back(std::move(file));
    SAMOVAR_TRY(const store::ShardReader* reader, source->reader(shard));
    std::uint32_t number = 0;
    for (const store::BlockPlace& block : reader->blocks()) {
      source->places_.push_back({shard, number++, block.rows});
      source->total_rows_ += block.rows;
    }
  }
  return source;
}

Result<store::ShardReader*> ShardSource::reader(std::uint32_t shard) {
  const auto found =
      std::find_if(open_.begin(), open_.end(), [shard](const Open& open) { return open.shard == shard; });
  if (found != open_.end()) {
    open_.splice(open_.begin(), open_, found);
    return open_.front().reader.get();
  }
  ingest::Descriptor copy(::dup(files_[shard].get()));
  if (!copy) return Error{Errc::io, "a shard's descriptor cannot be copied"};
  SAMOVAR_TRY(auto reader, store::ShardReader::open(store::file_from_descriptor(copy.release()), key_,
                                                    store::shard_place(dataset_id_, version_, shard)));
  if (open_.size() >= kOpenMax) open_.pop_back();
  open_.push_front({shard, std::move(reader)});
  return open_.front().reader.get();
}

Result<void> ShardSource::read(std::size_t block, Bytes& out) {
  const Place& place = places_[block];
  SAMOVAR_TRY(store::ShardReader * from, reader(place.shard));
  return from->read(place.block, out);
}

}  // namespace samovar::worker
