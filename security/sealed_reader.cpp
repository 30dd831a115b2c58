// SealedReader of sealed_file.hpp.
#include <algorithm>
#include <optional>

#include "base/assert.hpp"
#include "security/sealed_format.hpp"

namespace samovar::security {
namespace {

constexpr std::size_t kHashBlockBytes = 1024 * 1024;

Error damaged(const std::string& path, std::string_view what) {
  return Error{Errc::corrupt,
               path + " is damaged (" + std::string(what) + "): restore it from a replica or a backup"};
}

Result<Bytes> read_exactly(File& file, const std::string& path, std::uint64_t offset, std::size_t size) {
  Bytes out(size);
  SAMOVAR_TRY(const std::size_t got, file.read_at(offset, out));
  if (got != size) return damaged(path, "cut off");
  return out;
}

// How many plain bytes a file of this length holds; every length that fits no number of chunks is damage.
Result<std::uint64_t> plain_size(const std::string& path, const SealedHeader& header,
                                 std::uint64_t file_bytes) {
  const std::uint64_t body = file_bytes - kSealedHeaderBytes;
  const std::uint64_t full = (header.chunks - 1) * kSealedChunkStored;
  // Only a file without content may end in an empty chunk: one content, one length.
  const std::uint64_t last_min = kAeadTagBytes + (header.chunks > 1 ? 1 : 0);
  if (body < full + last_min) return damaged(path, "cut off");
  if (body > full + kSealedChunkStored) return damaged(path, "longer than its header says");
  return body - header.chunks * kAeadTagBytes;
}

std::string place(const SealedFileId& id) {
  return id.dataset + "/" + std::to_string(id.shard) + " of key generation " + std::to_string(id.generation);
}

}  // namespace

struct SealedReader::State {
  State(std::string p, std::unique_ptr<File> f, const SealedHeader& header, const SecretBytes& key,
        std::uint64_t plain_bytes)
      : path(std::move(p)), file(std::move(f)), sealer(header, key), size(plain_bytes) {}
  ~State() { wipe(MutableBytes(chunk)); }

  Result<void> load(std::uint64_t wanted) {
    if (loaded == wanted) return {};
    loaded.reset();
    const std::uint64_t start = wanted * kSealedChunkBytes;
    const auto plain = static_cast<std::size_t>(std::min<std::uint64_t>(size - start, kSealedChunkBytes));
    SAMOVAR_TRY(
        const Bytes stored,
        read_exactly(*file, path, kSealedHeaderBytes + wanted * kSealedChunkStored, plain + kAeadTagBytes));
    chunk.resize(plain);
    if (!sealer.open(wanted, stored, chunk)) return damaged(path, "chunk " + std::to_string(wanted));
    loaded = wanted;
    return {};
  }

  const std::string path;
  const std::unique_ptr<File> file;
  const ChunkSealer sealer;
  const std::uint64_t size;
  Bytes chunk;  // plain bytes of chunk `loaded`
  std::optional<std::uint64_t> loaded;
};

SealedReader::SealedReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
SealedReader::~SealedReader() = default;

Result<std::unique_ptr<SealedReader>> SealedReader::open(Disk& disk, const std::string& path,
                                                         const SecretBytes& key,
                                                         const SealedFileId& expected) {
  SAMOVAR_ASSERT(key.size() == kAeadKeyBytes);
  SAMOVAR_TRY(std::unique_ptr<File> file, disk.open(path, OpenMode::read));
  SAMOVAR_TRY(const std::uint64_t file_bytes, file->size());
  if (file_bytes < kSealedHeaderBytes) return damaged(path, "cut off");
  SAMOVAR_TRY(const Bytes stored, read_exactly(*file, path, 0, kSealedHeaderBytes));
  auto header = decode_sealed_header(stored);
  if (!header) return std::move(header).error().within(path);
  if (!(header->id == expected))
    return Error{Errc::corrupt,
                 path + " holds " + place(header->id) + " where " + place(expected) + " belongs"};
  if (!equal_constant_time(key_commitment_of(key), header->key_commitment))
    return damaged(path, "header, or sealed with another key");
  SAMOVAR_TRY(const std::uint64_t size, plain_size(path, *header, file_bytes));
  auto state = std::make_unique<State>(path, std::move(file), *header, key, size);
  std::unique_ptr<SealedReader> reader(new SealedReader(std::move(state)));
  // The header is authenticated by the chunks, so one of them must open before anybody trusts size().
  SAMOVAR_CHECK(reader->state_->load(header->chunks - 1));
  return reader;
}

std::uint64_t SealedReader::size() const noexcept { return state_->size; }

Result<std::size_t> SealedReader::read_at(std::uint64_t offset, MutableBytes out) {
  std::size_t done = 0;
  while (done < out.size() && offset < state_->size) {
    SAMOVAR_CHECK(state_->load(offset / kSealedChunkBytes));
    const ByteView rest =
        ByteView(state_->chunk).subspan(static_cast<std::size_t>(offset % kSealedChunkBytes));
    const std::size_t part = std::min(rest.size(), out.size() - done);
    std::copy_n(rest.begin(), part, out.begin() + static_cast<std::ptrdiff_t>(done));
    done += part;
    offset += part;
  }
  return done;
}

Result<Bytes> read_sealed_file(Disk& disk, const std::string& path, const SecretBytes& key,
                               const SealedFileId& expected, std::size_t bytes_max) {
  SAMOVAR_TRY(const auto reader, SealedReader::open(disk, path, key, expected));
  if (reader->size() > bytes_max) return damaged(path, "longer than it may be");
  Bytes out(static_cast<std::size_t>(reader->size()));
  SAMOVAR_TRY(const std::size_t got, reader->read_at(0, out));
  SAMOVAR_ASSERT(got == out.size());
  return out;
}

Result<Hash256> hash_stored_file(Disk& disk, const std::string& path) {
  SAMOVAR_TRY(const auto file, disk.open(path, OpenMode::read));
  Hasher hasher;
  Bytes block(kHashBlockBytes);
  std::uint64_t offset = 0;
  while (true) {
    SAMOVAR_TRY(const std::size_t got, file->read_at(offset, block));
    hasher.update(ByteView(block).first(got));
    offset += got;
    if (got < block.size()) return hasher.finish();
  }
}

}  // namespace samovar::security
