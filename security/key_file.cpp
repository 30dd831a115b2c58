#include "security/key_file.hpp"

#include <algorithm>

#include "base/encoding.hpp"
#include "security/hash.hpp"
#include "security/short_id.hpp"
#include "security/wire.hpp"

namespace samovar::security {
namespace {

constexpr std::string_view kMagic = "SMVKEYF\n";
constexpr std::uint16_t kVersion = 1;
constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kChecksumBytes = 32;

}  // namespace

SecretBytes encode_key_file(const KeyFile& file) {
  Bytes out;
  out.reserve(kKeyFileBytesMax);  // no growth: a moved vector would leave the key behind in freed memory
  WireWriter writer(out);
  writer.raw(as_bytes(kMagic));
  writer.number(kVersion);
  writer.raw(file.keyring_id);
  writer.sized(as_bytes(file.cluster_id));
  writer.raw(file.key.view());
  writer.raw(blake2b_256(out));
  return SecretBytes::take(out);
}

Result<KeyFile> decode_key_file(ByteView bytes) {
  const Error damaged{Errc::corrupt, "this key file is damaged or is no Samovar key file: use a copy of it"};
  if (bytes.size() > kKeyFileBytesMax || bytes.size() < kMagic.size() + kChecksumBytes) return damaged;
  if (as_text(bytes.first(kMagic.size())) != kMagic) return damaged;
  const ByteView body = bytes.first(bytes.size() - kChecksumBytes);
  if (!equal_constant_time(blake2b_256(body), bytes.last(kChecksumBytes))) return damaged;
  WireReader reader(body);
  reader.raw(kMagic.size());
  const auto version = reader.number<std::uint16_t>();
  if (reader.ok() && version != kVersion)
    return Error{Errc::unsupported, "this key file is of a later version of Samovar: install that version"};
  KeyFile file;
  file.keyring_id = reader.array<KeyringId>();
  file.cluster_id = as_text(reader.sized(kClusterIdBytesMax));
  const ByteView key = reader.raw(kKeyBytes);
  if (!reader.at_end()) return damaged;
  file.key = SecretBytes::copy_of(key);
  return file;
}

std::string short_keyring_id(const KeyringId& id) { return short_form(base32_encode(ByteView(id).first(5))); }

Result<KeyFileInfo> read_key_file_info(ByteView key_file) {
  SAMOVAR_TRY(const KeyFile file, decode_key_file(key_file));
  return KeyFileInfo{file.keyring_id, file.cluster_id, short_keyring_id(file.keyring_id)};
}

}  // namespace samovar::security
