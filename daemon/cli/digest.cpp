#include "daemon/cli/digest.hpp"

#include <openssl/evp.h>

#include "base/assert.hpp"
#include "base/encoding.hpp"

namespace samovar::cli {

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  State() { SAMOVAR_ASSERT(context != nullptr && EVP_DigestInit_ex(context, EVP_sha256(), nullptr) == 1); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::~Sha256() = default;

void Sha256::update(std::string_view bytes) {
  SAMOVAR_ASSERT(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1);
}

std::string Sha256::finish() {
  unsigned char hash[32] = {};
  SAMOVAR_ASSERT(EVP_DigestFinal_ex(state_->context, hash, nullptr) == 1);
  return hex_encode(hash);
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish();
}

}  // namespace samovar::cli
