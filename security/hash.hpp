// BLAKE2b and SHA-256 over public bytes, plain, keyed and in steps.
//
// Threading: free functions on any thread; a Hasher belongs to one.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "base/bytes.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::security {

using Hash256 = std::array<std::uint8_t, 32>;

Hash256 blake2b_256(ByteView message);
// The key is 16..64 bytes. Different uses of one key keep apart by a prefix of the message.
Hash256 keyed_blake2b_256(const SecretBytes& key, ByteView message);
// size 16..64.
Bytes blake2b(std::size_t size, ByteView message);
Hash256 sha256(ByteView message);

// BLAKE2b-256 in steps.
class Hasher {
 public:
  Hasher();
  explicit Hasher(const SecretBytes& key);
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;
  ~Hasher();
  Hasher& update(ByteView part);
  Hash256 finish();  // once

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace samovar::security
