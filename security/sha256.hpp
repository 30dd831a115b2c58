// SHA-256 in steps, with the processor's own instructions where it has them. Copies go on independently:
// a hash of what is sure can be kept while more is tried.
//
// Threading: one thread at a time per object.
#pragma once
#include <memory>

#include "base/bytes.hpp"
#include "security/hash.hpp"

namespace samovar::security {

class Sha256 {
 public:
  Sha256();
  Sha256(const Sha256& other);
  Sha256& operator=(const Sha256& other);
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  ~Sha256();
  Sha256& update(ByteView part);
  Hash256 digest() const;  // of what came so far; more may follow

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace samovar::security
