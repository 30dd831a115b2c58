// Making certificates: the issuing half of certificates.hpp.
#include <arpa/inet.h>
#include <openssl/asn1.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <ctime>

#include "base/assert.hpp"
#include "security/certificate_names.hpp"
#include "security/certificates.hpp"
#include "security/openssl_handles.hpp"

namespace samovar::security {
namespace {

constexpr const char* kLongStart = "20200101000000Z";
constexpr const char* kLongEnd = "20491231235959Z";
constexpr std::size_t kCommonNameMax = 64;  // X.520's bound

struct Extension {
  int nid;
  std::string value;  // OpenSSL's configuration syntax: built from checked names only
};

struct Template {
  std::string common_name;
  std::string not_before = kLongStart;
  std::string not_after = kLongEnd;
  std::vector<Extension> extensions;
};

std::string time_text(WallTime time) {
  const std::time_t seconds =
      std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32] = {};
  std::strftime(text, sizeof text, "%Y%m%d%H%M%SZ", &parts);
  return text;
}

// 159 random bits: positive in 20 bytes (RFC 5280 §4.1.2.2), and no two roots of one box are confused.
bool set_random_serial(X509* cert) {
  BIGNUM* number = BN_new();
  const bool good = number != nullptr && BN_rand(number, 159, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
                    BN_to_ASN1_INTEGER(number, X509_get_serialNumber(cert)) != nullptr;
  BN_free(number);
  return good;
}

bool add_name(X509_NAME* name, const char* field, const std::string& value) {
  return X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(value.data()),
                                    static_cast<int>(value.size()), -1, 0) == 1;
}

bool add_extension(X509* cert, X509* issuer, const Extension& extension) {
  X509V3_CTX ctx;
  X509V3_set_ctx(&ctx, issuer, cert, nullptr, nullptr, 0);
  X509V3_set_ctx_nodb(&ctx);
  X509_EXTENSION* made = X509V3_EXT_nconf_nid(nullptr, &ctx, extension.nid, extension.value.c_str());
  const bool good = made != nullptr && X509_add_ext(cert, made, -1) == 1;
  X509_EXTENSION_free(made);
  return good;
}

Result<Certificate> to_certificate(X509* cert) {
  unsigned char* der = nullptr;
  const int size = i2d_X509(cert, &der);
  if (size <= 0) return openssl_error(Errc::internal, "OpenSSL did not write the certificate");
  Certificate out{Bytes(der, der + size)};
  OPENSSL_free(der);
  return out;
}

// issuer null: signed by its own key.
Result<Certificate> build(const Template& what, EVP_PKEY* subject_key, X509* issuer, EVP_PKEY* signing_key) {
  const OpensslScope scope;
  const X509Handle cert(X509_new());
  const Error failed{Errc::internal, "OpenSSL did not make the certificate for " + what.common_name};
  if (!cert || X509_set_version(cert.get(), X509_VERSION_3) != 1 || !set_random_serial(cert.get()))
    return openssl_error(failed.code(), failed.message());
  X509_NAME* subject = X509_get_subject_name(cert.get());
  const bool named =
      add_name(subject, "O", "Samovar") && add_name(subject, "CN", what.common_name) &&
      X509_set_issuer_name(cert.get(), issuer ? X509_get_subject_name(issuer) : subject) == 1 &&
      ASN1_TIME_set_string_X509(X509_getm_notBefore(cert.get()), what.not_before.c_str()) == 1 &&
      ASN1_TIME_set_string_X509(X509_getm_notAfter(cert.get()), what.not_after.c_str()) == 1 &&
      X509_set_pubkey(cert.get(), subject_key) == 1;
  if (!named) return openssl_error(failed.code(), failed.message());
  for (const Extension& extension : what.extensions)
    if (!add_extension(cert.get(), issuer ? issuer : cert.get(), extension))
      return openssl_error(failed.code(), failed.message());
  if (X509_sign(cert.get(), signing_key, EVP_sha256()) <= 0)
    return openssl_error(failed.code(), failed.message());
  return to_certificate(cert.get());
}

// The issuer's key must be the certificate's: otherwise we would hand out what nobody can verify.
Result<X509Handle> issuer_with_key(const Certificate& issuer, const PrivateKey& key) {
  SAMOVAR_TRY(X509Handle cert, parse_x509(issuer.der));
  if (X509_check_private_key(cert.get(), PrivateKeyAccess::get(key)) != 1)
    return openssl_error(Errc::invalid, "the issuing key does not belong to the issuing certificate");
  return cert;
}

std::vector<Extension> leaf_extensions(const char* usage, std::string names) {
  return {{NID_basic_constraints, "critical,CA:FALSE"},
          {NID_key_usage, "critical,digitalSignature"},
          {NID_ext_key_usage, usage},
          {NID_subject_key_identifier, "hash"},
          {NID_authority_key_identifier, "keyid:always"},
          {NID_subject_alt_name, std::move(names)}};
}

Result<std::string> alternative_names(const WebLeafOptions& options) {
  std::string out;
  for (const std::string& name : options.dns_names) {
    if (!valid_dns_name(name)) return Error{Errc::invalid, "\"" + name.substr(0, 80) + "\" is no host name"};
    out.append(out.empty() ? "DNS:" : ",DNS:").append(name);
  }
  for (const std::string& address : options.ip_addresses) {
    if (parse_address(address).empty())
      return Error{Errc::invalid, "\"" + address.substr(0, 80) + "\" is no IP address"};
    out.append(out.empty() ? "IP:" : ",IP:").append(address);
  }
  if (out.empty()) return Error{Errc::invalid, "a web certificate needs a host name or an address"};
  return out;
}

}  // namespace

Result<Certificate> make_cluster_ca(const PrivateKey& key, std::string_view cluster_id) {
  Template ca;
  ca.common_name = "Samovar cluster " + std::string(cluster_id);
  if (cluster_id.empty() || ca.common_name.size() > kCommonNameMax)
    return Error{Errc::invalid, "a cluster id has 1 to 48 characters"};
  ca.extensions = {{NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
                   {NID_key_usage, "critical,keyCertSign,cRLSign"},
                   {NID_subject_key_identifier, "hash"}};
  return build(ca, PrivateKeyAccess::get(key), nullptr, PrivateKeyAccess::get(key));
}

Result<Certificate> issue_node_certificate(const Certificate& ca, const PrivateKey& ca_key,
                                           ByteView public_key, std::string_view node_id) {
  const std::string name = std::string(node_id) + std::string(kNodeDomain);
  if (node_id.empty() || node_id.size() > 63 || !valid_dns_name(name))
    return Error{Errc::invalid, "a node id has 1 to 63 letters and digits"};
  SAMOVAR_TRY(const X509Handle issuer, issuer_with_key(ca, ca_key));
  SAMOVAR_TRY(const PkeyHandle subject, parse_public_key(public_key));
  Template node;
  node.common_name = node_id;
  node.extensions = leaf_extensions("serverAuth,clientAuth", "DNS:" + name);
  return build(node, subject.get(), issuer.get(), PrivateKeyAccess::get(ca_key));
}

Result<Certificate> make_web_root(const PrivateKey& key, std::string_view host_name) {
  if (!valid_dns_name(host_name))
    return Error{Errc::invalid, "\"" + std::string(host_name.substr(0, 80)) + "\" is no host name"};
  Template root;
  root.common_name = "Samovar web root " + std::string(host_name.substr(0, 40));
  root.extensions = {{NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
                     {NID_key_usage, "critical,keyCertSign,cRLSign"},
                     {NID_ext_key_usage, "serverAuth"},
                     {NID_subject_key_identifier, "hash"},
                     {NID_name_constraints, name_constraints(host_name)}};
  return build(root, PrivateKeyAccess::get(key), nullptr, PrivateKeyAccess::get(key));
}

Result<Certificate> issue_web_leaf(const Certificate& root, const PrivateKey& root_key, ByteView public_key,
                                   const WebLeafOptions& options) {
  if (options.days < 1 || options.days > kWebLeafDaysMax)
    return Error{Errc::invalid, "a web certificate lives 1 to 397 days"};
  SAMOVAR_TRY(std::string names, alternative_names(options));
  SAMOVAR_TRY(const X509Handle issuer, issuer_with_key(root, root_key));
  SAMOVAR_TRY(const PkeyHandle subject, parse_public_key(public_key));
  // A board without a battery wakes up in 1970; before the root's own start nothing can be valid.
  constexpr WallTime kFloor{std::chrono::sys_days{std::chrono::year{2020} / 1 / 2}};
  constexpr WallTime kCeiling{std::chrono::sys_days{std::chrono::year{2049} / 12 / 31}};
  const WallTime start = std::clamp(options.now, kFloor, kCeiling) - std::chrono::days(1);
  Template leaf;
  const std::string& first =
      options.dns_names.empty() ? options.ip_addresses.front() : options.dns_names.front();
  leaf.common_name = first.size() <= kCommonNameMax ? first : "Samovar";
  leaf.not_before = time_text(start);
  leaf.not_after =
      time_text(std::min(start + std::chrono::days(options.days) - std::chrono::seconds(1), kCeiling));
  leaf.extensions = leaf_extensions("serverAuth", std::move(names));
  SAMOVAR_TRY(Certificate made, build(leaf, subject.get(), issuer.get(), PrivateKeyAccess::get(root_key)));
  // The root's name constraints decide, as they will in the browser.
  auto fits = verify_chain(made, root, {PeerKind::server, {}, start + std::chrono::hours(1)});
  if (!fits)
    return Error{Errc::invalid, "the web root does not cover these names: " + fits.error().message()};
  return made;
}

}  // namespace samovar::security
