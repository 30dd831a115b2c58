// docs/formats/staging.md
#include "daemon/store/staging_format.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "base/rng.hpp"
#include "security/sealed_format.hpp"
#include "security/wire.hpp"

namespace samovar::store::staging {
namespace {

using security::WireReader;
using security::WireWriter;

constexpr std::string_view kMagic = "SMVSTAG\n";
constexpr std::uint16_t kVersion = 1;
constexpr std::size_t kIdBytes = 32;
constexpr std::uint32_t kRecordMagic = 0x43525355;  // "USRC"
constexpr std::size_t kAadBytes = kRecordHeaderBytes - security::kAeadNonceBytes;

Result<Bytes> read_exactly(File& file, std::uint64_t offset, std::size_t size) {
  Bytes out(size);
  SAMOVAR_TRY(const std::size_t got, file.read_at(offset, out));
  if (got != size) return damaged("cut off");
  return out;
}

}  // namespace

Error damaged(std::string_view what) {
  return Error{Errc::corrupt, "an uploaded file is damaged where it is stored (" + std::string(what) +
                                  "): delete the upload and send the file again"};
}

Bytes encode_head(const Head& head) {
  SAMOVAR_ASSERT(!head.upload_id.empty() && head.upload_id.size() <= kIdBytes);
  Bytes out;
  WireWriter writer(out);
  writer.raw(as_bytes(kMagic));
  writer.number(kVersion);
  writer.number(static_cast<std::uint16_t>(head.upload_id.size()));
  writer.number(static_cast<std::uint32_t>(head.about_stored));
  Bytes id = to_bytes(head.upload_id);
  id.resize(kIdBytes);
  writer.raw(id);
  writer.raw(head.key_commitment);
  SAMOVAR_ASSERT(out.size() == kWrappedKeyAt);
  writer.raw(head.wrapped_key);
  SAMOVAR_ASSERT(out.size() == kHeadFixedBytes);
  return out;
}

Result<Head> decode_head(ByteView bytes) {
  if (bytes.size() != kHeadFixedBytes) return damaged("head cut off");
  WireReader reader(bytes);
  if (as_text(reader.raw(kMagic.size())) != kMagic) return damaged("no head");
  if (reader.number<std::uint16_t>() != kVersion)
    return Error{Errc::unsupported,
                 "an upload is damaged, or of a later version of Samovar: install that version"};
  Head head;
  const std::size_t id_size = reader.number<std::uint16_t>();
  head.about_stored = reader.number<std::uint32_t>();
  const std::string_view id = as_text(reader.raw(kIdBytes));
  head.key_commitment = reader.array<decltype(head.key_commitment)>();
  head.wrapped_key = reader.array<decltype(head.wrapped_key)>();
  if (id_size == 0 || id_size > kIdBytes || head.about_stored < security::kSealOverheadBytes ||
      head.about_stored > kAboutBytesMax + security::kSealOverheadBytes)
    return damaged("head");
  head.upload_id = id.substr(0, id_size);
  // One spelling only: the rest of the name's field is zeros.
  if (encode_head(head) != to_bytes(bytes)) return damaged("head");
  return head;
}

Bytes about_aad(const Head& head) {
  Bytes out = encode_head(head);
  out.resize(kWrappedKeyAt);
  return out;
}

void encode_record_header(const RecordHeader& header, MutableBytes out) {
  SAMOVAR_ASSERT(out.size() == kRecordHeaderBytes);
  Bytes bytes;
  bytes.reserve(kRecordHeaderBytes);
  WireWriter writer(bytes);
  writer.number(kRecordMagic);
  // 24 bits are enough for the length, and the type beside it keeps the header a multiple of 8.
  writer.number(header.length | static_cast<std::uint32_t>(header.type) << 24);
  writer.number(header.offset);
  writer.number(header.synced);
  writer.number(header.time_us);
  writer.raw(header.nonce);
  std::copy(bytes.begin(), bytes.end(), out.begin());
}

std::optional<RecordHeader> decode_record_header(ByteView bytes) {
  if (bytes.size() < kRecordHeaderBytes) return std::nullopt;
  WireReader reader(bytes.first(kRecordHeaderBytes));
  if (reader.number<std::uint32_t>() != kRecordMagic) return std::nullopt;
  RecordHeader header;
  const auto length = reader.number<std::uint32_t>();
  header.length = length & 0xffffff;
  const auto type = static_cast<std::uint8_t>(length >> 24);
  header.offset = reader.number<std::uint64_t>();
  header.synced = reader.number<std::uint64_t>();
  header.time_us = reader.number<std::uint64_t>();
  header.nonce = reader.array<security::AeadNonce>();
  if (type != static_cast<std::uint8_t>(RecordType::data) &&
      type != static_cast<std::uint8_t>(RecordType::end))
    return std::nullopt;
  header.type = static_cast<RecordType>(type);
  const bool fits = header.type == RecordType::end ? header.length == sizeof(security::Hash256)
                                                   : header.length >= 1 && header.length <= kRecordPlainMax;
  if (!fits || header.synced > header.offset) return std::nullopt;
  return header;
}

void seal_record(const security::SecretBytes& key, RecordHeader header, ByteView plain, MutableBytes out) {
  SAMOVAR_ASSERT(plain.size() == header.length && out.size() == header.stored());
  system_rng().fill(header.nonce);
  encode_record_header(header, out.first(kRecordHeaderBytes));
  security::seal_with_nonce(key, header.nonce, plain, ByteView(out).first(kAadBytes),
                            out.subspan(kRecordHeaderBytes));
}

bool open_record(const security::SecretBytes& key, const RecordHeader& header, ByteView record,
                 MutableBytes plain) {
  if (record.size() != header.stored()) return false;
  return security::open_with_nonce(key, header.nonce, record.subspan(kRecordHeaderBytes),
                                   record.first(kAadBytes), plain);
}

Result<Head> read_fixed_head(File& file) {
  SAMOVAR_TRY(const Bytes fixed, read_exactly(file, 0, kHeadFixedBytes));
  return decode_head(fixed);
}

Result<OpenedHead> read_head(File& file, const security::SecretBytes& key) {
  SAMOVAR_TRY(Head head, read_fixed_head(file));
  if (!security::equal_constant_time(security::key_commitment_of(key), head.key_commitment))
    return damaged("head, or sealed with another key");
  SAMOVAR_TRY(const Bytes sealed, read_exactly(file, kHeadFixedBytes, head.about_stored));
  auto about = security::open(key, sealed, about_aad(head));
  if (!about) return damaged("head");
  return OpenedHead{std::move(head), *std::move(about)};
}

}  // namespace samovar::store::staging
