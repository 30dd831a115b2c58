// SealedWriter of sealed_file.hpp.
#include <sodium.h>

#include <algorithm>
#include <optional>

#include "base/assert.hpp"
#include "base/failpoint.hpp"
#include "security/memory_lock.hpp"
#include "security/sealed_format.hpp"
#include "security/sha256.hpp"

namespace samovar::security {
namespace {

std::uint64_t chunks_for(std::uint64_t plain_bytes) {
  // An empty file is one empty, final chunk: even "nothing" is authenticated.
  return plain_bytes == 0 ? 1 : (plain_bytes - 1) / kSealedChunkBytes + 1;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

struct SealedWriter::State {
  State(Disk& d, std::string p, const SealedHeader& header, const SecretBytes& key, std::uint64_t plain_bytes)
      : disk(d),
        path(std::move(p)),
        temporary(path + ".tmp"),
        sealer(header, key),
        chunks(header.chunks),
        bytes_left(plain_bytes) {}

  Result<void> put(ByteView stored) {
    SAMOVAR_CHECK(file->write_at(offset, stored));
    hasher.update(stored);
    offset += stored.size();
    return {};
  }
  Result<void> put_chunk() {
    Bytes stored(buffer.size() + kAeadTagBytes);
    sealer.seal(index, index + 1 == chunks, buffer, stored);
    SAMOVAR_CHECK(put(stored));
    ++index;
    buffer.clear();
    return {};
  }
  Result<void> publish() {
    SAMOVAR_CHECK(file->sync());
    file.reset();
    SAMOVAR_FAILPOINT_ERROR("security.sealed_file.before_rename");
    SAMOVAR_CHECK(disk.rename(temporary, path));
    renamed = true;
    SAMOVAR_FAILPOINT_ERROR("security.sealed_file.after_rename");
    return disk.sync_dir(folder_of(path));
  }

  Disk& disk;
  const std::string path;
  const std::string temporary;
  const ChunkSealer sealer;
  const std::uint64_t chunks;
  std::unique_ptr<File> file;
  Sha256 hasher;
  Bytes buffer;  // plain bytes of the chunk being filled
  std::uint64_t bytes_left;
  std::uint64_t offset = 0;
  std::uint64_t index = 0;
  bool renamed = false;
  bool failed = false;
};

SealedWriter::SealedWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}

SealedWriter::~SealedWriter() {
  wipe(MutableBytes(state_->buffer));
  if (state_->renamed) return;
  state_->file.reset();
  if (state_->disk.exists(state_->temporary))
    ignore(state_->disk.remove(state_->temporary), "best effort: the next writer removes it, too");
}

Result<std::unique_ptr<SealedWriter>> SealedWriter::create(Disk& disk, std::string path,
                                                           const SecretBytes& key, const SealedFileId& id,
                                                           std::uint64_t plain_bytes) {
  SAMOVAR_ASSERT(key.size() == kAeadKeyBytes);
  SAMOVAR_CHECK(check_sealed_id(id));
  ensure_sodium();
  SealedHeader header{id, chunks_for(plain_bytes), {}, key_commitment_of(key)};
  if (header.chunks > kSealedChunksMax) return Error{Errc::invalid, "a sealed file holds at most 1 PiB"};
  randombytes_buf(header.salt.data(), header.salt.size());
  auto state = std::make_unique<State>(disk, std::move(path), header, key, plain_bytes);
  if (disk.exists(state->temporary)) SAMOVAR_CHECK(disk.remove(state->temporary));  // of a writer that died
  SAMOVAR_TRY(state->file, disk.open(state->temporary, OpenMode::create_new));
  std::unique_ptr<SealedWriter> writer(new SealedWriter(std::move(state)));
  SAMOVAR_CHECK(writer->state_->put(encode_sealed_header(header)));
  writer->state_->buffer.reserve(
      static_cast<std::size_t>(std::min<std::uint64_t>(plain_bytes, kSealedChunkBytes)));
  return writer;
}

Result<void> SealedWriter::append(ByteView plain) {
  State& state = *state_;
  if (state.failed) return Error{Errc::conflict, "writing this sealed file failed before: start it anew"};
  if (plain.size() > state.bytes_left)
    return Error{Errc::invalid, "more bytes than the sealed file was made for"};
  state.bytes_left -= plain.size();
  while (!plain.empty()) {
    const std::size_t room = kSealedChunkBytes - state.buffer.size();
    const ByteView part = plain.first(std::min(room, plain.size()));
    state.buffer.insert(state.buffer.end(), part.begin(), part.end());
    plain = plain.subspan(part.size());
    if (state.buffer.size() < kSealedChunkBytes) continue;
    auto put = state.put_chunk();
    state.failed = !put;
    if (!put) return put;
  }
  return {};
}

Result<Hash256> SealedWriter::finish() {
  State& state = *state_;
  if (state.failed || state.renamed)
    return Error{Errc::conflict, "this sealed file cannot be finished: start it anew"};
  if (state.bytes_left > 0) return Error{Errc::invalid, "fewer bytes than the sealed file was made for"};
  state.failed = true;  // until all of it worked
  const bool last_is_open = !state.buffer.empty() || state.index == 0;
  if (last_is_open) SAMOVAR_CHECK(state.put_chunk());
  SAMOVAR_CHECK(state.publish());
  state.failed = false;
  return state.hasher.digest();
}

Result<Hash256> write_sealed_file(Disk& disk, const std::string& path, const SecretBytes& key,
                                  const SealedFileId& id, ByteView plain) {
  SAMOVAR_TRY(const auto writer, SealedWriter::create(disk, path, key, id, plain.size()));
  SAMOVAR_CHECK(writer->append(plain));
  return writer->finish();
}

}  // namespace samovar::security
