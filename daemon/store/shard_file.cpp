#include "daemon/store/shard_file.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "base/failpoint.hpp"

namespace samovar::store {

struct ShardWriter::State {
  explicit State(const security::SecretBytes& k) : key(k.clone()) {}
  const security::SecretBytes key;  // outlives `sealed`, which borrows it
  std::unique_ptr<security::SealedStreamWriter> sealed;
  std::vector<BlockPlace> blocks;
  std::uint64_t rows = 0;
};

ShardWriter::ShardWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
ShardWriter::~ShardWriter() = default;

Result<std::unique_ptr<ShardWriter>> ShardWriter::create(std::unique_ptr<File> file,
                                                         const security::SecretBytes& key,
                                                         const security::SealedFileId& id) {
  auto state = std::make_unique<State>(key);
  SAMOVAR_TRY(state->sealed, security::SealedStreamWriter::create(std::move(file), state->key, id));
  return std::unique_ptr<ShardWriter>(new ShardWriter(std::move(state)));
}

std::uint64_t ShardWriter::plain_bytes() const noexcept { return state_->sealed->size(); }

Result<void> ShardWriter::append(std::uint32_t rows, ByteView block) {
  State& state = *state_;
  if (block.size() > kShardBlockBytesMax) return Error{Errc::invalid, "a block has at most 64 MiB"};
  if (state.blocks.size() >= kShardBlocksMax) return Error{Errc::invalid, "a shard has too many blocks"};
  SAMOVAR_FAILPOINT_ERROR("store.shard.append");
  const std::uint64_t offset = state.sealed->size();
  SAMOVAR_CHECK(state.sealed->append(block));
  state.blocks.push_back({offset, static_cast<std::uint32_t>(block.size()), rows});
  state.rows += rows;
  return {};
}

Result<ShardSummary> ShardWriter::finish() {
  State& state = *state_;
  SAMOVAR_FAILPOINT_ERROR("store.shard.finish.before");
  SAMOVAR_CHECK(state.sealed->append(encode_shard_index(state.blocks)));
  SAMOVAR_TRY(const security::SealedSummary sealed, state.sealed->finish());
  SAMOVAR_FAILPOINT_ERROR("store.shard.finish.after_sync");
  return ShardSummary{state.rows, static_cast<std::uint32_t>(state.blocks.size()), sealed.plain_bytes,
                      sealed.stored_bytes, sealed.hash};
}

struct ShardReader::State {
  explicit State(const security::SecretBytes& k) : key(k.clone()) {}
  const security::SecretBytes key;  // outlives `sealed`, which borrows it
  std::unique_ptr<security::SealedReader> sealed;
  std::vector<BlockPlace> blocks;
};

ShardReader::ShardReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
ShardReader::~ShardReader() = default;

Result<std::unique_ptr<ShardReader>> ShardReader::open(std::unique_ptr<File> file,
                                                       const security::SecretBytes& key,
                                                       const security::SealedFileId& expected) {
  auto state = std::make_unique<State>(key);
  const std::string name = "shard " + std::to_string(expected.shard) + " of " + expected.dataset;
  SAMOVAR_TRY(state->sealed, security::SealedReader::open(std::move(file), name, state->key, expected));
  const std::uint64_t size = state->sealed->size();
  // The index nearly always lies in the last chunk, which open() has at hand.
  Bytes tail(static_cast<std::size_t>(std::min<std::uint64_t>(size, kShardTrailerBytes)));
  SAMOVAR_TRY(std::size_t got, state->sealed->read_at(size - tail.size(), tail));
  SAMOVAR_ASSERT(got == tail.size());
  SAMOVAR_TRY(const std::uint32_t count, decode_shard_trailer(tail));
  tail.resize(static_cast<std::size_t>(
      std::min<std::uint64_t>(size, kShardTrailerBytes + std::uint64_t{count} * kShardEntryBytes)));
  SAMOVAR_TRY(got, state->sealed->read_at(size - tail.size(), tail));
  SAMOVAR_TRY(state->blocks, decode_shard_index(tail, size));
  return std::unique_ptr<ShardReader>(new ShardReader(std::move(state)));
}

const std::vector<BlockPlace>& ShardReader::blocks() const noexcept { return state_->blocks; }

Result<void> ShardReader::read(std::size_t block, Bytes& out) {
  SAMOVAR_ASSERT(block < state_->blocks.size());
  const BlockPlace& place = state_->blocks[block];
  out.resize(place.bytes);
  auto got = state_->sealed->read_at(place.offset, out);
  if (got && *got == place.bytes) return {};
  security::wipe(MutableBytes(out));
  out.clear();
  if (!got) return std::move(got).error();
  return Error{Errc::corrupt, "a shard ends in the middle of a block"};
}

}  // namespace samovar::store
