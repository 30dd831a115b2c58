// X.509: the cluster's CA and node certificates, and the web root with the leaf browsers see.
//
// ECDSA P-256 with SHA-256 throughout. Node certificates live from 2020 to 2049: boards without a
// battery wake up in 1970, and membership, not expiry, revokes a node.
//
// Threading: any thread; a PrivateKey may be shared for reading.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"
#include "security/hash.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::security {

inline constexpr int kWebLeafDaysMax = 397;                     // what browsers and Apple systems accept
inline constexpr std::size_t kCertificateBytesMax = 16 * 1024;  // DER, each
inline constexpr std::string_view kNodeDomain = ".node.samovar";

class PrivateKey {
 public:
  static Result<PrivateKey> generate();
  // PKCS #8; P-256 only (Errc::unsupported for another kind, Errc::corrupt for no key at all).
  static Result<PrivateKey> from_der(ByteView pkcs8);
  static Result<PrivateKey> from_pem(ByteView pem);

  SecretBytes to_der() const;
  SecretBytes to_pem() const;
  Bytes public_key() const;  // SubjectPublicKeyInfo, DER

  PrivateKey(PrivateKey&&) noexcept;
  PrivateKey& operator=(PrivateKey&&) noexcept;
  ~PrivateKey();

 private:
  friend struct PrivateKeyAccess;
  struct Impl;
  explicit PrivateKey(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

struct Certificate {
  Bytes der;
  std::string to_pem() const;
  Hash256 fingerprint() const;  // SHA-256 of the DER
};

struct CertificateInfo {
  std::string subject;  // common name
  std::string issuer;   // common name
  WallTime not_before;
  WallTime not_after;
  std::vector<std::string> dns_names;
  std::vector<std::string> ip_addresses;
  bool is_ca = false;
  Bytes public_key;  // SubjectPublicKeyInfo, DER
  Hash256 fingerprint{};
};

// Errc::corrupt for bytes that are no certificate.
Result<Certificate> certificate_from_der(ByteView der);
// One or more, leaf first; other PEM blocks are an error.
Result<std::vector<Certificate>> certificates_from_pem(std::string_view pem);
Result<CertificateInfo> inspect(const Certificate& certificate);
// "AB:CD:…", as browsers show it.
std::string format_fingerprint(const Hash256& fingerprint);

// CA:TRUE, pathlen 0, 2020 to 2049. `cluster_id` is in the common name.
Result<Certificate> make_cluster_ca(const PrivateKey& key, std::string_view cluster_id);
// For a public key (of a request, or PrivateKey::public_key); SAN <node-id>.node.samovar.
Result<Certificate> issue_node_certificate(const Certificate& ca, const PrivateKey& ca_key,
                                           ByteView public_key, std::string_view node_id);

// The root that people may install in a browser: name constraints (critical) keep it to this box's
// host name, .local, .lan, .internal, localhost and private addresses, so that its theft is no key to the
// web.
Result<Certificate> make_web_root(const PrivateKey& key, std::string_view host_name);
// A board's host name as certificates can carry it: other characters become dashes, nothing becomes
// "samovar".
std::string certifiable_host_name(std::string_view host_name);
// What the root above may speak for: filter a board's names and addresses with these before asking for a
// leaf.
bool web_root_covers_name(std::string_view name, std::string_view host_name);
bool web_root_covers_address(const std::string& address);
struct WebLeafOptions {
  std::vector<std::string> dns_names;     // at least one name or address in all
  std::vector<std::string> ip_addresses;  // text form; those outside the root's ranges are refused
  WallTime now;                           // valid from a day before; a clock before 2020 counts as 2020
  int days = kWebLeafDaysMax;
};
Result<Certificate> issue_web_leaf(const Certificate& root, const PrivateKey& root_key, ByteView public_key,
                                   const WebLeafOptions& options);

enum class PeerKind : std::uint8_t { server, client };
struct ChainCheck {
  PeerKind kind = PeerKind::server;
  std::string_view name;  // DNS name or IP address the leaf must carry; empty: any
  WallTime now;
};
// Errc::denied with the reason when `leaf` does not chain to exactly `issuer`.
Result<void> verify_chain(const Certificate& leaf, const Certificate& issuer, const ChainCheck& check);

// PKCS #10, DER: proof that the asker holds the key.
Result<Bytes> make_csr(const PrivateKey& key, std::string_view common_name);
// The public key. Errc::denied when the signature is not by it; P-256 only.
Result<Bytes> verify_csr(ByteView csr);

}  // namespace samovar::security
