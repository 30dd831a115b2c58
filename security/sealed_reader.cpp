// SealedReader of sealed_file.hpp.
#include <algorithm>
#include <optional>

#include "base/assert.hpp"
#include "security/sealed_format.hpp"
#include "security/sha256.hpp"

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

struct Extent {
  std::uint64_t chunks = 0;
  std::uint64_t plain_bytes = 0;
};

// What a file of this length holds; every length that fits no number of chunks is damage. A streamed file's
// number follows from the length, and whether that is the true one shows when its last chunk is opened.
Result<Extent> extent_of(const std::string& path, const SealedHeader& header, std::uint64_t file_bytes) {
  const std::uint64_t body = file_bytes - kSealedHeaderBytes;
  const std::uint64_t chunks =
      header.chunks != 0 ? header.chunks
                         : std::max<std::uint64_t>(1, (body + kSealedChunkStored - 1) / kSealedChunkStored);
  if (chunks > kSealedChunksMax) return damaged(path, "longer than it may be");
  const std::uint64_t full = (chunks - 1) * kSealedChunkStored;
  // Only a file without content may end in an empty chunk: one content, one length.
  const std::uint64_t last_min = kAeadTagBytes + (chunks > 1 ? 1 : 0);
  if (body < full + last_min) return damaged(path, "cut off");
  if (body > full + kSealedChunkStored) return damaged(path, "longer than its header says");
  return Extent{chunks, body - chunks * kAeadTagBytes};
}

std::string place(const SealedFileId& id) {
  return id.dataset + "/" + std::to_string(id.shard) + " of key generation " + std::to_string(id.generation);
}

}  // namespace

struct SealedReader::State {
  State(std::string p, std::unique_ptr<File> f, const SealedHeader& header, const SecretBytes& key,
        const Extent& e)
      : path(std::move(p)), file(std::move(f)), sealer(header, key), extent(e) {}
  ~State() { wipe(MutableBytes(chunk)); }

  std::size_t plain_of(std::uint64_t index) const {
    return static_cast<std::size_t>(
        std::min<std::uint64_t>(extent.plain_bytes - index * kSealedChunkBytes, kSealedChunkBytes));
  }
  // One chunk a read: what the kernel copies is still in the processor's cache when it is opened, which it
  // would not be of a larger piece.
  Result<void> open_into(std::uint64_t wanted, MutableBytes out) {
    const std::size_t size = plain_of(wanted) + kAeadTagBytes;
    // As it lies on the disk. One for all readers of a thread: it is needed only here.
    static thread_local Bytes stored;
    if (stored.size() < size) stored.resize(size);
    const MutableBytes sealed = MutableBytes(stored).first(size);
    SAMOVAR_TRY(const std::size_t got,
                file->read_at(kSealedHeaderBytes + wanted * kSealedChunkStored, sealed));
    if (got != size) return damaged(path, "cut off");
    if (!sealer.open(wanted, wanted + 1 == extent.chunks, sealed, out))
      return damaged(path, "chunk " + std::to_string(wanted));
    return {};
  }
  Result<void> load(std::uint64_t wanted) {
    if (loaded == wanted) return {};
    loaded.reset();
    chunk.resize(plain_of(wanted));
    SAMOVAR_CHECK(open_into(wanted, chunk));
    loaded = wanted;
    return {};
  }

  const std::string path;
  const std::unique_ptr<File> file;
  const ChunkSealer sealer;
  const Extent extent;
  Bytes chunk;  // plain bytes of chunk `loaded`
  std::optional<std::uint64_t> loaded;
};

SealedReader::SealedReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
SealedReader::~SealedReader() = default;

Result<std::unique_ptr<SealedReader>> SealedReader::open(Disk& disk, const std::string& path,
                                                         const SecretBytes& key,
                                                         const SealedFileId& expected) {
  SAMOVAR_TRY(std::unique_ptr<File> file, disk.open(path, OpenMode::read));
  return open(std::move(file), path, key, expected);
}

Result<std::unique_ptr<SealedReader>> SealedReader::open(std::unique_ptr<File> file, std::string name,
                                                         const SecretBytes& key,
                                                         const SealedFileId& expected) {
  SAMOVAR_ASSERT(key.size() == kAeadKeyBytes);
  SAMOVAR_TRY(const std::uint64_t file_bytes, file->size());
  if (file_bytes < kSealedHeaderBytes) return damaged(name, "cut off");
  SAMOVAR_TRY(const Bytes stored, read_exactly(*file, name, 0, kSealedHeaderBytes));
  auto header = decode_sealed_header(stored);
  if (!header) return std::move(header).error().within(name);
  if (!(header->id == expected))
    return Error{Errc::corrupt,
                 name + " holds " + place(header->id) + " where " + place(expected) + " belongs"};
  if (!equal_constant_time(key_commitment_of(key), header->key_commitment))
    return damaged(name, "header, or sealed with another key");
  SAMOVAR_TRY(const Extent extent, extent_of(name, *header, file_bytes));
  auto state = std::make_unique<State>(std::move(name), std::move(file), *header, key, extent);
  std::unique_ptr<SealedReader> reader(new SealedReader(std::move(state)));
  // The header is authenticated by the chunks, so one of them must open before anybody trusts size(); the
  // last one, because only it says that nothing is missing behind it.
  SAMOVAR_CHECK(reader->state_->load(extent.chunks - 1));
  return reader;
}

std::uint64_t SealedReader::size() const noexcept { return state_->extent.plain_bytes; }

Result<std::size_t> SealedReader::read_at(std::uint64_t offset, MutableBytes out) {
  State& state = *state_;
  std::size_t done = 0;
  while (done < out.size() && offset < state.extent.plain_bytes) {
    const std::uint64_t index = offset / kSealedChunkBytes;
    const auto within = static_cast<std::size_t>(offset % kSealedChunkBytes);
    const std::size_t plain = state.plain_of(index);
    const MutableBytes rest = out.subspan(done);
    std::size_t part = 0;
    if (within == 0 && rest.size() >= plain && state.loaded != index) {
      // A whole chunk goes straight to where it is wanted.
      part = plain;
      SAMOVAR_CHECK(state.open_into(index, rest.first(part)));
    } else {
      SAMOVAR_CHECK(state.load(index));
      part = std::min(plain - within, rest.size());
      std::copy_n(state.chunk.begin() + static_cast<std::ptrdiff_t>(within), part, rest.begin());
    }
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
  Sha256 hasher;
  Bytes block(kHashBlockBytes);
  std::uint64_t offset = 0;
  while (true) {
    SAMOVAR_TRY(const std::size_t got, file->read_at(offset, block));
    hasher.update(ByteView(block).first(got));
    offset += got;
    if (got < block.size()) return hasher.digest();
  }
}

}  // namespace samovar::security
