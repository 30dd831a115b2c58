// SealedStreamWriter of sealed_file.hpp.
#include <sodium.h>

#include <algorithm>
#include <cstring>

#include "base/assert.hpp"
#include "base/direct_write.hpp"
#include "base/failpoint.hpp"
#include "security/memory_lock.hpp"
#include "security/sealed_format.hpp"
#include "security/sha256.hpp"

namespace samovar::security {
namespace {

// So much is sealed before it is written in one go.
constexpr std::size_t kWriteBytes = 3 * kSealedChunkBytes;

}  // namespace

struct SealedStreamWriter::State {
  State(std::unique_ptr<File> f, const SealedHeader& header, const SecretBytes& key)
      : file(std::move(f)), sealer(header, key) {
    const Bytes head = encode_sealed_header(header);
    std::copy(head.begin(), head.end(), stored.bytes().begin());
    hasher.update(head);
    used = head.size();
  }
  ~State() {
    pending.resize(pending.capacity());  // what earlier chunks left behind, too
    wipe(MutableBytes(pending));
  }

  // The first `bytes` of what is sealed; the others move to the front.
  Result<void> write(std::size_t bytes) {
    SAMOVAR_FAILPOINT_ERROR("security.sealed_stream.before_write");
    SAMOVAR_CHECK(file->write_at(offset, stored.bytes().first(bytes)));
    offset += bytes;
    used -= bytes;
    std::memmove(stored.bytes().data(), stored.bytes().data() + bytes, used);
    return {};
  }
  Result<void> put_chunk(bool last, ByteView plain) {
    const MutableBytes sealed = stored.bytes().subspan(used, plain.size() + kAeadTagBytes);
    sealer.seal(index++, last, plain, sealed);
    hasher.update(sealed);  // while the cache has it
    used += sealed.size();
    if (used < kWriteBytes) return {};
    return write(used / kDiskBlockBytes * kDiskBlockBytes);  // whole blocks need not be copied
  }
  // A full chunk stays behind until more follows: it may be the last one.
  Result<void> put(ByteView plain) {
    while (!plain.empty()) {
      if (pending.empty() && plain.size() > kSealedChunkBytes) {
        SAMOVAR_CHECK(put_chunk(false, plain.first(kSealedChunkBytes)));
        plain = plain.subspan(kSealedChunkBytes);
        continue;
      }
      if (pending.size() == kSealedChunkBytes) {
        SAMOVAR_CHECK(put_chunk(false, pending));
        pending.clear();
        continue;
      }
      const ByteView part = plain.first(std::min(kSealedChunkBytes - pending.size(), plain.size()));
      if (pending.capacity() == 0) pending.reserve(kSealedChunkBytes);
      pending.insert(pending.end(), part.begin(), part.end());
      plain = plain.subspan(part.size());
    }
    return {};
  }
  Result<SealedSummary> end() {
    SAMOVAR_CHECK(put_chunk(true, pending));
    if (used > 0) SAMOVAR_CHECK(write(used));
    SAMOVAR_FAILPOINT_ERROR("security.sealed_stream.before_sync");
    SAMOVAR_CHECK(file->sync());
    SAMOVAR_FAILPOINT_ERROR("security.sealed_stream.after_sync");
    file.reset();
    return SealedSummary{plain_bytes, offset, hasher.digest()};
  }

  std::unique_ptr<File> file;
  const ChunkSealer sealer;
  Sha256 hasher;
  Bytes pending;  // plain bytes that do not fill a chunk yet, or may be the last
  BlockBuffer stored{kSealedHeaderBytes + kWriteBytes + kSealedChunkStored};  // sealed, not written yet
  std::size_t used = 0;                                                       // of it
  std::uint64_t plain_bytes = 0;
  std::uint64_t offset = 0;
  std::uint64_t index = 0;
  bool ended = false;  // finished, or failed
};

SealedStreamWriter::SealedStreamWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
SealedStreamWriter::~SealedStreamWriter() = default;

Result<std::unique_ptr<SealedStreamWriter>> SealedStreamWriter::create(std::unique_ptr<File> file,
                                                                       const SecretBytes& key,
                                                                       const SealedFileId& id) {
  SAMOVAR_ASSERT(key.size() == kAeadKeyBytes);
  SAMOVAR_CHECK(check_sealed_id(id));
  SAMOVAR_TRY(const std::uint64_t there, file->size());
  if (there != 0) return Error{Errc::conflict, "a sealed file is written into an empty file only"};
  ensure_sodium();
  SealedHeader header{id, 0, {}, key_commitment_of(key)};
  randombytes_buf(header.salt.data(), header.salt.size());
  auto state = std::make_unique<State>(std::move(file), header, key);
  return std::unique_ptr<SealedStreamWriter>(new SealedStreamWriter(std::move(state)));
}

std::uint64_t SealedStreamWriter::size() const noexcept { return state_->plain_bytes; }

Result<void> SealedStreamWriter::append(ByteView plain) {
  State& state = *state_;
  if (state.ended) return Error{Errc::conflict, "this sealed file has ended: start it anew"};
  if (plain.size() > kSealedChunksMax * kSealedChunkBytes - state.plain_bytes)
    return Error{Errc::invalid, "a sealed file holds at most 1 PiB"};
  auto put = state.put(plain);
  state.ended = !put;
  if (put) state.plain_bytes += plain.size();
  return put;
}

Result<SealedSummary> SealedStreamWriter::finish() {
  State& state = *state_;
  if (state.ended) return Error{Errc::conflict, "this sealed file has ended: start it anew"};
  state.ended = true;
  return state.end();
}

}  // namespace samovar::security
