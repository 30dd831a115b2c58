#include "daemon/jobs/blob_message.hpp"

#include "daemon/store/blobs.hpp"
#include "security/wire.hpp"

namespace samovar::jobs {
namespace {

using security::WireReader;
using security::WireWriter;

constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kNodeIdBytesMax = 64;
constexpr std::size_t kHashBytes = 32;
constexpr std::uint64_t kBytesMax = std::uint64_t{1} << 62;

Error not_in_order() { return {Errc::invalid, "a message about stored files is not in order"}; }

Result<WireReader> begin(ByteView bytes) {
  WireReader reader(bytes);
  const auto version = reader.number<std::uint8_t>();
  if (!reader.ok()) return not_in_order();
  if (version != kVersion)
    return Error{Errc::unsupported, "a node of another version asks for files: update both"};
  return reader;
}

Result<std::string> read_key(WireReader& reader) {
  const std::string key(as_text(reader.sized(store::kBlobKeyBytesMax)));
  if (!reader.ok()) return not_in_order();
  SAMOVAR_CHECK(store::BlobKey::parse(key));
  return key;
}

Result<bool> read_flag(WireReader& reader) {
  const auto flag = reader.number<std::uint8_t>();
  if (!reader.ok() || flag > 1) return not_in_order();
  return flag == 1;
}

Bytes begun() { return {kVersion}; }

}  // namespace

Bytes encode(const BlobRead& message) {
  Bytes out = begun();
  WireWriter writer(out);
  writer.sized(as_bytes(message.key));
  writer.number(message.offset);
  writer.number(message.length);
  return out;
}

Result<BlobRead> decode_blob_read(ByteView bytes) {
  SAMOVAR_TRY(WireReader reader, begin(bytes));
  BlobRead message;
  SAMOVAR_TRY(message.key, read_key(reader));
  message.offset = reader.number<std::uint64_t>();
  message.length = reader.number<std::uint32_t>();
  if (!reader.at_end() || message.length == 0 || message.length > kBlobPieceBytesMax ||
      message.offset > kBytesMax)
    return not_in_order();
  return message;
}

Bytes encode(const BlobPiece& message) {
  Bytes out = begun();
  out.reserve(out.size() + 8 + message.bytes.size());
  WireWriter writer(out);
  writer.number(message.total);
  writer.raw(message.bytes);
  return out;
}

Result<BlobPiece> decode_blob_piece(ByteView bytes) {
  SAMOVAR_TRY(WireReader reader, begin(bytes));
  BlobPiece message;
  message.total = reader.number<std::uint64_t>();
  const ByteView rest = reader.rest();
  if (!reader.ok() || message.total > kBytesMax || rest.size() > kBlobPieceBytesMax ||
      rest.size() > message.total)
    return not_in_order();
  message.bytes = to_bytes(rest);
  return message;
}

Bytes encode(const BlobFetch& message) {
  Bytes out = begun();
  WireWriter writer(out);
  writer.sized(as_bytes(message.key));
  writer.number(message.bytes);
  writer.sized(message.hash);
  writer.number(message.bytes_per_second);
  writer.number(static_cast<std::uint8_t>(message.from.size()));
  for (const std::string& node : message.from) writer.sized(as_bytes(node));
  return out;
}

Result<BlobFetch> decode_blob_fetch(ByteView bytes) {
  SAMOVAR_TRY(WireReader reader, begin(bytes));
  BlobFetch message;
  SAMOVAR_TRY(message.key, read_key(reader));
  message.bytes = reader.number<std::uint64_t>();
  message.hash = to_bytes(reader.sized(kHashBytes));
  message.bytes_per_second = reader.number<std::uint64_t>();
  const auto count = reader.number<std::uint8_t>();
  if (!reader.ok() || count == 0 || count > kBlobSourcesMax || message.bytes > kBytesMax)
    return not_in_order();
  if (!message.hash.empty() && message.hash.size() != kHashBytes) return not_in_order();
  for (unsigned i = 0; i < count; ++i) {
    message.from.emplace_back(as_text(reader.sized(kNodeIdBytesMax)));
    if (!reader.ok() || message.from.back().empty()) return not_in_order();
  }
  if (!reader.at_end()) return not_in_order();
  return message;
}

Bytes encode(const BlobFetched& message) {
  Bytes out = begun();
  WireWriter writer(out);
  writer.number(static_cast<std::uint8_t>(message.done ? 1 : 0));
  writer.number(message.arrived);
  return out;
}

Result<BlobFetched> decode_blob_fetched(ByteView bytes) {
  SAMOVAR_TRY(WireReader reader, begin(bytes));
  BlobFetched message;
  SAMOVAR_TRY(message.done, read_flag(reader));
  message.arrived = reader.number<std::uint64_t>();
  if (!reader.at_end()) return not_in_order();
  return message;
}

Bytes encode(const BlobCheck& message) {
  Bytes out = begun();
  WireWriter writer(out);
  writer.number(static_cast<std::uint8_t>(message.read ? 1 : 0));
  writer.number(static_cast<std::uint16_t>(message.files.size()));
  for (const auto& file : message.files) {
    writer.sized(as_bytes(file.key));
    writer.number(file.bytes);
  }
  return out;
}

Result<BlobCheck> decode_blob_check(ByteView bytes) {
  SAMOVAR_TRY(WireReader reader, begin(bytes));
  BlobCheck message;
  SAMOVAR_TRY(message.read, read_flag(reader));
  const auto count = reader.number<std::uint16_t>();
  if (!reader.ok() || count > kBlobChecksMax) return not_in_order();
  for (unsigned i = 0; i < count; ++i) {
    BlobCheck::File file;
    SAMOVAR_TRY(file.key, read_key(reader));
    file.bytes = reader.number<std::uint64_t>();
    if (!reader.ok()) return not_in_order();
    message.files.push_back(std::move(file));
  }
  if (!reader.at_end()) return not_in_order();
  return message;
}

Bytes encode(const BlobChecked& message) {
  Bytes out = begun();
  WireWriter writer(out);
  writer.number(static_cast<std::uint16_t>(message.there.size()));
  for (const bool there : message.there) writer.number(static_cast<std::uint8_t>(there ? 1 : 0));
  return out;
}

Result<BlobChecked> decode_blob_checked(ByteView bytes) {
  SAMOVAR_TRY(WireReader reader, begin(bytes));
  BlobChecked message;
  const auto count = reader.number<std::uint16_t>();
  if (!reader.ok() || count > kBlobChecksMax) return not_in_order();
  for (unsigned i = 0; i < count; ++i) {
    SAMOVAR_TRY(const bool there, read_flag(reader));
    message.there.push_back(there);
  }
  if (!reader.at_end()) return not_in_order();
  return message;
}

}  // namespace samovar::jobs
