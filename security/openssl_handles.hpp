// OpenSSL objects as owners, without OpenSSL's headers: those stay in this folder's .cpp files.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "security/certificates.hpp"

struct evp_pkey_st;
struct x509_st;
struct bio_st;

namespace samovar::security {

struct OpensslFree {
  void operator()(evp_pkey_st* p) const noexcept;
  void operator()(x509_st* p) const noexcept;
  void operator()(bio_st* p) const noexcept;
};
using PkeyHandle = std::unique_ptr<evp_pkey_st, OpensslFree>;
using X509Handle = std::unique_ptr<x509_st, OpensslFree>;
using BioHandle = std::unique_ptr<bio_st, OpensslFree>;

// What was tried, with OpenSSL's last reason. Empties the thread's error queue.
Error openssl_error(Errc code, std::string what);

// Leaves the thread's error queue empty: what a parser pushes there would be taken for a failure of the
// next TLS call on this thread.
struct OpensslScope {
  OpensslScope() = default;
  ~OpensslScope();
  OpensslScope(const OpensslScope&) = delete;
  OpensslScope& operator=(const OpensslScope&) = delete;
};

// A read-only view of `bytes`, which outlive it.
BioHandle bio_over(ByteView bytes);

// Exactly one DER object, nothing behind it, or Errc::corrupt.
Result<X509Handle> parse_x509(ByteView der);
// SubjectPublicKeyInfo; Errc::unsupported unless P-256.
Result<PkeyHandle> parse_public_key(ByteView der);
Result<void> require_p256(const evp_pkey_st* key);
Bytes public_key_of(const evp_pkey_st* key);

struct PrivateKey::Impl {
  PkeyHandle key;
};
struct PrivateKeyAccess {
  static evp_pkey_st* get(const PrivateKey& key) { return key.impl_->key.get(); }
};

}  // namespace samovar::security
