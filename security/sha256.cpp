#include "security/sha256.hpp"

#include <openssl/evp.h>

#include "base/assert.hpp"

namespace samovar::security {
namespace {

const EVP_MD* algorithm() {
  static const EVP_MD* const kAlgorithm = EVP_MD_fetch(nullptr, "SHA2-256", nullptr);
  SAMOVAR_ASSERT(kAlgorithm != nullptr);
  return kAlgorithm;
}

}  // namespace

struct Sha256::State {
  State() : context(EVP_MD_CTX_new()) { SAMOVAR_ASSERT(context != nullptr); }
  State(const State& other) : State() { SAMOVAR_ASSERT(EVP_MD_CTX_copy_ex(context, other.context) == 1); }
  State& operator=(const State&) = delete;
  ~State() { EVP_MD_CTX_free(context); }
  EVP_MD_CTX* const context;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  SAMOVAR_ASSERT(EVP_DigestInit_ex2(state_->context, algorithm(), nullptr) == 1);
}
Sha256::Sha256(const Sha256& other) : state_(std::make_unique<State>(*other.state_)) {}
Sha256& Sha256::operator=(const Sha256& other) {
  if (this != &other) state_ = std::make_unique<State>(*other.state_);
  return *this;
}
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

Sha256& Sha256::update(ByteView part) {
  SAMOVAR_ASSERT(EVP_DigestUpdate(state_->context, part.data(), part.size()) == 1);
  return *this;
}

Hash256 Sha256::digest() const {
  const State copy(*state_);
  Hash256 out{};
  SAMOVAR_ASSERT(EVP_DigestFinal_ex(copy.context, out.data(), nullptr) == 1);
  return out;
}

}  // namespace samovar::security
