#include "security/hash.hpp"

#include <sodium.h>

#include "base/assert.hpp"
#include "security/memory_lock.hpp"

namespace samovar::security {

Hash256 blake2b_256(ByteView message) {
  Hash256 out;
  crypto_generichash(out.data(), out.size(), message.data(), message.size(), nullptr, 0);
  return out;
}

Hash256 keyed_blake2b_256(const SecretBytes& key, ByteView message) {
  SAMOVAR_ASSERT(key.size() >= crypto_generichash_KEYBYTES_MIN &&
                 key.size() <= crypto_generichash_KEYBYTES_MAX);
  Hash256 out;
  crypto_generichash(out.data(), out.size(), message.data(), message.size(), key.view().data(), key.size());
  return out;
}

Bytes blake2b(std::size_t size, ByteView message) {
  SAMOVAR_ASSERT(size >= crypto_generichash_BYTES_MIN && size <= crypto_generichash_BYTES_MAX);
  Bytes out(size);
  crypto_generichash(out.data(), out.size(), message.data(), message.size(), nullptr, 0);
  return out;
}

Hash256 sha256(ByteView message) {
  Hash256 out;
  crypto_hash_sha256(out.data(), message.data(), message.size());
  return out;
}

struct Hasher::State {
  crypto_generichash_state blake;
  ~State() { sodium_memzero(&blake, sizeof blake); }
};

Hasher::Hasher() : state_(std::make_unique<State>()) {
  crypto_generichash_init(&state_->blake, nullptr, 0, sizeof(Hash256));
}

Hasher::Hasher(const SecretBytes& key) : state_(std::make_unique<State>()) {
  SAMOVAR_ASSERT(key.size() >= crypto_generichash_KEYBYTES_MIN &&
                 key.size() <= crypto_generichash_KEYBYTES_MAX);
  crypto_generichash_init(&state_->blake, key.view().data(), key.size(), sizeof(Hash256));
}

Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;
Hasher::~Hasher() = default;

Hasher& Hasher::update(ByteView part) {
  crypto_generichash_update(&state_->blake, part.data(), part.size());
  return *this;
}

Hash256 Hasher::finish() {
  Hash256 out;
  crypto_generichash_final(&state_->blake, out.data(), out.size());
  return out;
}

}  // namespace samovar::security
