#include "security/kdf.hpp"

#include <sodium.h>

#include <string>

#include "base/assert.hpp"

namespace samovar::security {

SecretBytes derive(const SecretBytes& parent, std::string_view purpose) {
  SAMOVAR_ASSERT(parent.size() >= crypto_generichash_KEYBYTES_MIN &&
                 parent.size() <= crypto_generichash_KEYBYTES_MAX);
  const std::string message = "samovar-v1:" + std::string(purpose);
  SecretBytes out(32);
  crypto_generichash(out.mutable_view().data(), out.size(), as_bytes(message).data(), message.size(),
                     parent.view().data(), parent.size());
  return out;
}

}  // namespace samovar::security
