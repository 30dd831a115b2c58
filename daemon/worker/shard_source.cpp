#include "daemon/worker/shard_source.hpp"

#include <unistd.h>

#include <algorithm>

#include "daemon/store/staging.hpp"
#include "trainer/data/block_slice.hpp"

namespace samovar::worker {
namespace {

// Each holds a chunk of its file, 256 KiB, and opening one anew is to read and check its end first.
constexpr std::size_t kOpenMax = 16;
constexpr std::size_t kKeptBytesMax = 64u << 20;

double seconds_now() { return std::chrono::duration<double>(real_clock().mono()).count(); }
void add_to(std::atomic<double>& sum, double seconds) {
  sum.store(sum.load(std::memory_order_relaxed) + seconds, std::memory_order_relaxed);
}

// Adds up how long its reads take.
class TimedFile final : public File {
 public:
  TimedFile(std::unique_ptr<File> file, std::atomic<double>& seconds)
      : file_(std::move(file)), seconds_(seconds) {}
  Result<std::size_t> read_at(std::uint64_t offset, MutableBytes out) override {
    const double began = seconds_now();
    auto got = file_->read_at(offset, out);
    add_to(seconds_, seconds_now() - began);
    return got;
  }
  Result<void> write_at(std::uint64_t offset, ByteView data) override {
    return file_->write_at(offset, data);
  }
  Result<void> truncate(std::uint64_t size) override { return file_->truncate(size); }
  Result<void> sync() override { return file_->sync(); }
  Result<std::uint64_t> size() override { return file_->size(); }

 private:
  const std::unique_ptr<File> file_;
  std::atomic<double>& seconds_;
};

}  // namespace

ShardSource::ShardSource(std::string dataset_id, std::uint32_t version, const security::SecretBytes& key)
    : dataset_id_(std::move(dataset_id)), version_(version), key_(key.clone()) {}

Result<std::unique_ptr<ShardSource>> ShardSource::open(Exchange& exchange, std::string dataset_id,
                                                       std::uint32_t version, std::uint32_t shards,
                                                       const security::SecretBytes& key) {
  std::unique_ptr<ShardSource> source(new ShardSource(std::move(dataset_id), version, key));
  for (std::uint32_t shard = 0; shard < shards; ++shard) {
    SAMOVAR_TRY(auto file, exchange.input(jobs::InputKind::shard, shard));
    {
      MutexLock lock(source->mutex_);
      source->files_[shard] = std::move(file);
    }
    SAMOVAR_TRY(const store::ShardReader* reader, source->reader(shard));
    std::uint32_t number = 0;
    for (const store::BlockPlace& block : reader->blocks()) {
      source->places_.push_back({shard, number++, block.rows, 0, false});
      source->total_rows_ += block.rows;
    }
  }
  return source;
}

Result<std::unique_ptr<ShardSource>> ShardSource::open_part(Exchange& exchange, const jobs::TrainJob& job,
                                                            const trainer::Schema& schema) {
  std::unique_ptr<ShardSource> source(new ShardSource(job.dataset_id, job.dataset_version, job.data_key));
  source->schema_ = &schema;
  source->told_ = job.block_rows;
  for (std::uint32_t shard = 0; shard < source->told_.size(); ++shard) {
    const auto& blocks = source->told_[shard];
    for (std::uint32_t block = 0; block < blocks.size(); ++block) {
      const std::uint64_t rows = blocks[block];
      for (std::uint32_t part = 0; part < job.parts; ++part) {
        const auto first = static_cast<std::uint32_t>(rows * part / job.parts);
        const auto end = static_cast<std::uint32_t>(rows * (part + 1) / job.parts);
        source->places_.push_back({shard, block, end - first, first, job.parts > 1});
      }
      source->total_rows_ += rows;
    }
  }
  SAMOVAR_CHECK(source->add(exchange, job.blocks));
  return source;
}

Result<void> ShardSource::add(Exchange& exchange, const std::vector<std::uint32_t>& blocks) {
  std::vector<std::uint32_t> shards;
  for (const std::uint32_t block : blocks) {
    if (block >= places_.size()) return Error{Errc::corrupt, "samovard named a block that is not there"};
    if (shards.empty() || shards.back() != places_[block].shard) shards.push_back(places_[block].shard);
  }
  return add_shards(exchange, shards);
}

Result<void> ShardSource::add_shards(Exchange& exchange, const std::vector<std::uint32_t>& shards) {
  for (const std::uint32_t shard : shards) {
    {
      MutexLock lock(mutex_);
      if (files_.contains(shard)) continue;
    }
    SAMOVAR_TRY(auto file, exchange.input(jobs::InputKind::shard, shard));
    MutexLock lock(mutex_);
    files_[shard] = std::move(file);
  }
  return {};
}

bool ShardSource::here(std::size_t block) const {
  MutexLock lock(mutex_);
  return files_.contains(places_[block].shard);
}

Result<store::ShardReader*> ShardSource::reader(std::uint32_t shard) {
  const auto found =
      std::find_if(open_.begin(), open_.end(), [shard](const Open& open) { return open.shard == shard; });
  if (found != open_.end()) {
    open_.splice(open_.begin(), open_, found);
    return open_.front().reader.get();
  }
  ingest::Descriptor copy;
  {
    MutexLock lock(mutex_);
    const auto file = files_.find(shard);
    if (file == files_.end()) return Error{Errc::internal, "a block was read that belongs to another worker"};
    copy = ingest::Descriptor(::dup(file->second.get()));
  }
  if (!copy) return Error{Errc::io, "a shard's descriptor cannot be copied"};
  auto timed = std::make_unique<TimedFile>(store::file_from_descriptor(copy.release()), read_seconds_);
  SAMOVAR_TRY(auto reader, store::ShardReader::open(std::move(timed), key_,
                                                    store::shard_place(dataset_id_, version_, shard)));
  if (!told_.empty()) {
    const auto& told = told_[shard];
    const auto& there = reader->blocks();
    const bool same =
        std::equal(told.begin(), told.end(), there.begin(), there.end(),
                   [](std::uint32_t rows, const store::BlockPlace& block) { return rows == block.rows; });
    if (!same) return Error{Errc::corrupt, "a shard has other blocks than its other copies"};
  }
  if (open_.size() >= kOpenMax) open_.pop_back();
  open_.push_front({shard, std::move(reader)});
  return open_.front().reader.get();
}

Result<void> ShardSource::read(std::size_t block, Bytes& out) {
  const Place& place = places_[block];
  return place.part ? read_part(place, block, out) : read_whole(place, out);
}

Result<void> ShardSource::read_whole(const Place& place, Bytes& out) {
  SAMOVAR_TRY(store::ShardReader * from, reader(place.shard));
  const double began = seconds_now();
  const double before = read_seconds();
  auto done = from->read(place.block, out);
  add_to(decrypt_seconds_, seconds_now() - began - (read_seconds() - before));
  return done;
}

// Data sets that are cut are small: their parts are kept.
Result<void> ShardSource::read_part(const Place& place, std::size_t block, Bytes& out) {
  if (const auto kept = kept_.find(block); kept != kept_.end()) {
    out = kept->second;
    return {};
  }
  SAMOVAR_CHECK(read_whole(place, whole_));
  SAMOVAR_TRY(const auto view, trainer::BlockView::open(whole_, *schema_));
  out.clear();
  trainer::slice_block(view, *schema_, place.first, place.rows, out);
  if (kept_bytes_ + out.size() <= kKeptBytesMax) {
    kept_bytes_ += out.size();
    kept_[block] = out;
  }
  return {};
}

}  // namespace samovar::worker
