// The keyring: the cluster master key (CMK), wrapped by a passphrase, by a key file, or by both.
//
// The file's checksum tells damage (Errc::corrupt) from a wrong passphrase (Errc::denied), and the
// ids inside tell a key file of another box from a wrong one.
//
// Threading: a value type; unlocking blocks for the Argon2id cost (see hash_gate.hpp).
// Format:    docs/formats/keyring.md
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "security/argon2.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::security {

inline constexpr std::size_t kCmkBytes = 32;
inline constexpr std::size_t kKeyringBytesMax = 64 * 1024;  // limit for Disk::read_file
inline constexpr std::size_t kKeyFileBytesMax = 1024;       // likewise
inline constexpr std::size_t kPassphraseBytesMax = 1024;
using KeyringId = std::array<std::uint8_t, 16>;

struct NewKeyring;

class Keyring {
 public:
  // cluster_id: 1..64 printable characters, e.g. "clu_01J…".
  static Result<NewKeyring> create_with_passphrase(std::string_view cluster_id, ByteView passphrase,
                                                   const Argon2Cost& cost = kPassphraseCost);
  static Result<NewKeyring> create_with_key_file(std::string_view cluster_id);

  Bytes encode() const;
  // Errc::corrupt for anything that encode did not write; Errc::unsupported for a later version.
  static Result<Keyring> decode(ByteView bytes);

  // The CMK. Errc::denied: wrong passphrase; Errc::conflict: this keyring has no passphrase.
  Result<SecretBytes> unlock(ByteView passphrase) const;
  // The CMK. Errc::invalid: the file belongs to another box; Errc::denied: to an earlier key of this
  // one; Errc::corrupt: the file is damaged; Errc::conflict: this keyring has no key file.
  Result<SecretBytes> unlock_with_key_file(ByteView key_file) const;

  // Replace or add a way in. The CMK must be this keyring's (Errc::denied otherwise).
  Result<void> set_passphrase(const SecretBytes& cmk, ByteView passphrase,
                              const Argon2Cost& cost = kPassphraseCost);
  Result<SecretBytes> set_key_file(const SecretBytes& cmk);  // the new key file's bytes
  // Errc::conflict when it is the last way in.
  Result<void> remove_passphrase();
  Result<void> remove_key_file();

  bool has_passphrase() const noexcept { return !passphrase_wrap_.empty(); }
  bool has_key_file() const noexcept { return !key_file_wrap_.empty(); }
  const std::string& cluster_id() const noexcept { return cluster_id_; }
  const KeyringId& id() const noexcept { return id_; }
  std::string short_id() const;  // "K7Q2-M4XP": what messages and key file labels show
  std::uint32_t generation() const noexcept { return generation_; }

 private:
  Keyring() = default;
  Bytes aad(std::string_view kind) const;
  Result<void> require_cmk(const SecretBytes& cmk) const;
  static Result<Keyring> make(std::string_view cluster_id, const SecretBytes& cmk);

  KeyringId id_{};
  std::string cluster_id_;
  std::uint32_t generation_ = 1;
  std::array<std::uint8_t, 16> cmk_commitment_{};
  Bytes passphrase_wrap_;  // password_wrap.hpp record, empty when there is none
  Bytes key_file_wrap_;    // seal() under the file's key, empty when there is none
};

struct NewKeyring {
  Keyring keyring;
  SecretBytes cmk;
  SecretBytes key_file;  // empty with a passphrase; to be written with mode 0400
};

// What a key file says about itself, without any key.
struct KeyFileInfo {
  KeyringId keyring_id;
  std::string cluster_id;
  std::string short_id;
};
Result<KeyFileInfo> read_key_file_info(ByteView key_file);

}  // namespace samovar::security
