// Bytes that must not leak: guarded pages, locked into memory, kept out of core dumps, wiped on destruction.
//
// There is no conversion to text and no operator<<: a secret that reaches a log does not compile.
//
// Threading: a value type; one thread at a time per object.
#pragma once
#include <cstddef>
#include <string>

#include "base/bytes.hpp"

namespace samovar::security {

class SecretBytes {
 public:
  SecretBytes() noexcept = default;
  explicit SecretBytes(std::size_t size);  // zeros
  static SecretBytes random(std::size_t size);
  static SecretBytes copy_of(ByteView bytes);
  // Copy, then wipe the source: for passwords that arrive in a string.
  static SecretBytes take(std::string& text);
  static SecretBytes take(Bytes& bytes);

  SecretBytes(SecretBytes&& other) noexcept;
  SecretBytes& operator=(SecretBytes&& other) noexcept;
  SecretBytes(const SecretBytes&) = delete;
  SecretBytes& operator=(const SecretBytes&) = delete;
  ~SecretBytes();

  // A second copy is a decision, so it has a name.
  SecretBytes clone() const { return copy_of(view()); }

  ByteView view() const noexcept { return {data_, size_}; }
  MutableBytes mutable_view() noexcept { return {data_, size_}; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

  // Constant time in the content; the length is no secret.
  bool equal(const SecretBytes& other) const noexcept;
  bool equal(ByteView other) const noexcept;

 private:
  std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
};

// Constant time in the content; unequal lengths are unequal at once.
bool equal_constant_time(ByteView a, ByteView b) noexcept;
// Not removed by the optimiser.
void wipe(MutableBytes bytes) noexcept;
void wipe(std::string& text) noexcept;  // and empties it

// How often, since start, the kernel refused to lock a secret (RLIMIT_MEMLOCK): 0 on a well configured box.
std::size_t unlocked_secrets() noexcept;

}  // namespace samovar::security
