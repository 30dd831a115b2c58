// The bytes of staging files, shared by their writer and reader. Decoders check everything they are given.
//
// Format: docs/formats/staging.md
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.hpp"
#include "base/clock.hpp"
#include "base/disk.hpp"
#include "base/result.hpp"
#include "security/aead.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::store::staging {

inline constexpr std::size_t kAboutBytesMax = 64 * 1024;
inline constexpr std::size_t kHeadFixedBytes = 136;
inline constexpr std::size_t kWrappedKeyBytes = security::kAeadKeyBytes + security::kSealOverheadBytes;
inline constexpr std::size_t kWrappedKeyAt = kHeadFixedBytes - kWrappedKeyBytes;
inline constexpr std::size_t kRecordHeaderBytes = 56;
inline constexpr std::size_t kRecordPlainMax = 256 * 1024;
inline constexpr std::size_t kRecordOverhead = kRecordHeaderBytes + security::kAeadTagBytes;
inline constexpr std::size_t kRecordStoredMax = kRecordPlainMax + kRecordOverhead;

struct Head {
  std::string upload_id;  // 1..32 bytes
  std::array<std::uint8_t, 16> key_commitment{};
  std::array<std::uint8_t, kWrappedKeyBytes> wrapped_key{};  // zeros: the key is kept elsewhere
  std::size_t about_stored = 0;                              // bytes of the sealed words behind
  std::uint64_t bytes() const noexcept { return kHeadFixedBytes + about_stored; }
};
Bytes encode_head(const Head& head);
// From the first kHeadFixedBytes of a file.
Result<Head> decode_head(ByteView bytes);
// What the sealed words are bound to: the head without the wrapped key, which may be dropped.
Bytes about_aad(const Head& head);

enum class RecordType : std::uint8_t { data = 1, end = 2 };

struct RecordHeader {
  RecordType type = RecordType::data;
  std::uint32_t length = 0;   // plain bytes: 1..kRecordPlainMax; 32 in the end record
  std::uint64_t offset = 0;   // of the first of them in the upload
  std::uint64_t synced = 0;   // so much of the upload was durable before this was written
  std::uint64_t time_us = 0;  // when, since 1970
  security::AeadNonce nonce{};
  std::size_t stored() const noexcept { return kRecordOverhead + length; }
};
void encode_record_header(const RecordHeader& header, MutableBytes out);  // kRecordHeaderBytes
// Nothing when the bytes are no header: a torn tail, or damage. The record's tag decides the rest.
std::optional<RecordHeader> decode_record_header(ByteView bytes);

// `out` has plain.size() + kRecordOverhead. Draws the nonce.
void seal_record(const security::SecretBytes& key, RecordHeader header, ByteView plain, MutableBytes out);
// `record` is the whole stored record; `plain` has header.length. False when it does not verify.
[[nodiscard]] bool open_record(const security::SecretBytes& key, const RecordHeader& header, ByteView record,
                               MutableBytes plain);

struct OpenedHead {
  Head head;
  Bytes about;
};
// Reads and verifies the head of a file whose key is known.
Result<OpenedHead> read_head(File& file, const security::SecretBytes& key);
Result<Head> read_fixed_head(File& file);

Error damaged(std::string_view what);

}  // namespace samovar::store::staging
