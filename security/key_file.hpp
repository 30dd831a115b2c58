// The key file that unlocks a keyring unattended.
//
// Format: docs/formats/keyring.md, "Key file"
#pragma once
#include "security/keyring.hpp"

namespace samovar::security {

inline constexpr std::size_t kClusterIdBytesMax = 64;

struct KeyFile {
  KeyringId keyring_id{};
  std::string cluster_id;
  SecretBytes key;  // 32 bytes
};

SecretBytes encode_key_file(const KeyFile& file);
Result<KeyFile> decode_key_file(ByteView bytes);
std::string short_keyring_id(const KeyringId& id);

}  // namespace samovar::security
