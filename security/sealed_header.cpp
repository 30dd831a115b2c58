// The header of sealed files: sealed_format.hpp, docs/formats/sealed-file.md.
#include "base/assert.hpp"
#include "security/sealed_format.hpp"
#include "security/wire.hpp"

namespace samovar::security {
namespace {

constexpr std::string_view kMagic = "SMVSEAL\n";
// Version 1 knows its number of chunks beforehand; version 2 was streamed and holds 0 in that field.
constexpr std::uint16_t kVersionCounted = 1;
constexpr std::uint16_t kVersionStreamed = 2;
constexpr std::size_t kDatasetBytes = 64;

Error damaged(std::string_view what) {
  return Error{Errc::corrupt,
               "a sealed file is damaged (" + std::string(what) + "): restore it from a replica or a backup"};
}

}  // namespace

Result<void> check_sealed_id(const SealedFileId& id) {
  if (!id.dataset.empty() && id.dataset.size() <= kDatasetBytes && id.dataset.find('\0') == std::string::npos)
    return {};
  return Error{Errc::invalid, "the name of a sealed file's dataset has 1 to 64 bytes"};
}

Bytes encode_sealed_header(const SealedHeader& header) {
  Bytes out;
  WireWriter writer(out);
  writer.raw(as_bytes(kMagic));
  writer.number(header.chunks == 0 ? kVersionStreamed : kVersionCounted);
  writer.number(static_cast<std::uint16_t>(header.id.dataset.size()));
  writer.number(header.id.generation);
  Bytes dataset = to_bytes(header.id.dataset);
  dataset.resize(kDatasetBytes);
  writer.raw(dataset);
  writer.number(header.id.shard);
  writer.number(static_cast<std::uint32_t>(kSealedChunkBytes));
  writer.number(std::uint32_t{0});
  writer.number(header.chunks);
  writer.raw(header.salt);
  writer.raw(header.key_commitment);
  SAMOVAR_ASSERT(out.size() == kSealedHeaderBytes);
  return out;
}

Result<SealedHeader> decode_sealed_header(ByteView bytes) {
  if (bytes.size() != kSealedHeaderBytes) return damaged("header cut off");
  WireReader reader(bytes);
  if (as_text(reader.raw(kMagic.size())) != kMagic) return damaged("no header");
  const auto version = reader.number<std::uint16_t>();
  if (version != kVersionCounted && version != kVersionStreamed)
    return Error{Errc::unsupported,
                 "a sealed file is damaged, or of a later version of Samovar: install that version"};
  SealedHeader header;
  const std::size_t dataset_size = reader.number<std::uint16_t>();
  header.id.generation = reader.number<std::uint32_t>();
  const std::string_view dataset = as_text(reader.raw(kDatasetBytes));
  header.id.shard = reader.number<std::uint64_t>();
  const auto chunk_bytes = reader.number<std::uint32_t>();
  reader.number<std::uint32_t>();
  header.chunks = reader.number<std::uint64_t>();
  header.salt = reader.array<decltype(header.salt)>();
  header.key_commitment = reader.array<decltype(header.key_commitment)>();
  if (dataset_size > kDatasetBytes || chunk_bytes != kSealedChunkBytes) return damaged("header");
  header.id.dataset = dataset.substr(0, dataset_size);
  if (!check_sealed_id(header.id) || header.chunks > kSealedChunksMax) return damaged("header");
  // One spelling only: padding and reserved bytes are zeros, and the version fits the number of chunks.
  if (encode_sealed_header(header) != to_bytes(bytes)) return damaged("header");
  return header;
}

std::array<std::uint8_t, 16> key_commitment_of(const SecretBytes& key) {
  SecretBytes message(key.size() + 6);
  std::copy(key.view().begin(), key.view().end(), message.mutable_view().begin());
  const ByteView suffix = as_bytes("commit");
  std::copy(suffix.begin(), suffix.end(),
            message.mutable_view().begin() + static_cast<std::ptrdiff_t>(key.size()));
  const Bytes hash = blake2b(16, message.view());
  std::array<std::uint8_t, 16> out{};
  std::copy(hash.begin(), hash.end(), out.begin());
  return out;
}

ChunkSealer::ChunkSealer(const SealedHeader& header, const SecretBytes& key)
    : key_(key), salt_(header.salt), header_hash_(blake2b_256(encode_sealed_header(header))) {}

AeadNonce ChunkSealer::nonce(std::uint64_t index) const {
  AeadNonce out{};
  std::copy(salt_.begin(), salt_.end(), out.begin());
  for (std::size_t i = 0; i < 8; ++i) out[salt_.size() + i] = static_cast<std::uint8_t>(index >> (8 * i));
  return out;
}

ChunkSealer::Aad ChunkSealer::aad(std::uint64_t index, bool last) const {
  Aad out{};
  std::copy(header_hash_.begin(), header_hash_.end(), out.begin());
  for (std::size_t i = 0; i < 8; ++i)
    out[header_hash_.size() + i] = static_cast<std::uint8_t>(index >> (8 * i));
  out.back() = last ? 1 : 0;
  return out;
}

void ChunkSealer::seal(std::uint64_t index, bool last, ByteView plain, MutableBytes out) const {
  seal_with_nonce(key_, nonce(index), plain, aad(index, last), out);
}

bool ChunkSealer::open(std::uint64_t index, bool last, ByteView sealed, MutableBytes plain) const {
  return open_with_nonce(key_, nonce(index), sealed, aad(index, last), plain);
}

}  // namespace samovar::security
