// Reading certificates: the parsing half of certificates.hpp.
#include <arpa/inet.h>
#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <ctime>

#include "base/assert.hpp"
#include "security/certificates.hpp"
#include "security/openssl_handles.hpp"

namespace samovar::security {
namespace {

constexpr std::size_t kChainMax = 8;

struct FreeNames {
  void operator()(GENERAL_NAMES* p) const noexcept { GENERAL_NAMES_free(p); }
};

std::string common_name(const X509_NAME* name) {
  const int at = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
  if (at < 0) return {};
  unsigned char* text = nullptr;
  const int size = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
  if (size < 0) return {};
  std::string out(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
  OPENSSL_free(text);
  return out;
}

Result<WallTime> wall_time(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1)
    return openssl_error(Errc::corrupt, "a certificate's date cannot be read");
  return WallTime(std::chrono::seconds(timegm(&parts)));
}

ByteView bytes_of(const ASN1_STRING* string) {
  return {ASN1_STRING_get0_data(string), static_cast<std::size_t>(ASN1_STRING_length(string))};
}

Result<void> read_names(const X509* cert, CertificateInfo& info) {
  int critical = 0;
  const std::unique_ptr<GENERAL_NAMES, FreeNames> names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(cert, NID_subject_alt_name, &critical, nullptr)));
  // -1: there is none, which is fine; any other reason is a broken extension.
  if (!names && critical != -1) return openssl_error(Errc::corrupt, "a certificate's names cannot be read");
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == GEN_DNS) {
      const std::string_view text = as_text(bytes_of(name->d.dNSName));
      // "good.local\0.evil" must not look like good.local to anybody.
      if (text.find('\0') != std::string_view::npos)
        return Error{Errc::corrupt, "a certificate's name has a NUL inside"};
      info.dns_names.emplace_back(text);
    } else if (name->type == GEN_IPADD) {
      const ByteView address = bytes_of(name->d.iPAddress);
      char text[INET6_ADDRSTRLEN] = {};
      if (address.size() != 4 && address.size() != 16)
        return Error{Errc::corrupt, "a certificate's IP address has a wrong length"};
      inet_ntop(address.size() == 4 ? AF_INET : AF_INET6, address.data(), text, sizeof text);
      info.ip_addresses.emplace_back(text);
    }
  }
  return {};
}

// One PEM block. Empty at the end of the text.
struct PemBlock {
  std::string name;
  bool encrypted = false;
  Bytes bytes;
};
Result<PemBlock> next_block(BIO* bio) {
  char* name = nullptr;
  char* header = nullptr;
  unsigned char* data = nullptr;
  long size = 0;
  if (PEM_read_bio(bio, &name, &header, &data, &size) != 1) {
    const unsigned long last = ERR_peek_last_error();
    if (ERR_GET_REASON(last) != PEM_R_NO_START_LINE)
      return openssl_error(Errc::corrupt,
                           "the PEM text is damaged: copy it again, with its BEGIN and END lines");
    ERR_clear_error();
    return PemBlock{};
  }
  PemBlock block{name, *header != '\0', Bytes(data, data + size)};
  OPENSSL_free(name);
  OPENSSL_free(header);
  OPENSSL_clear_free(data, static_cast<std::size_t>(size));  // people paste private keys, too
  return block;
}

}  // namespace

std::string Certificate::to_pem() const {
  const auto cert = parse_x509(der);
  const BioHandle bio(BIO_new(BIO_s_mem()));
  SAMOVAR_ASSERT(cert && bio && PEM_write_bio_X509(bio.get(), cert->get()) == 1);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

Hash256 Certificate::fingerprint() const { return sha256(der); }

Result<Certificate> certificate_from_der(ByteView der) {
  SAMOVAR_TRY(const X509Handle cert, parse_x509(der));
  return Certificate{to_bytes(der)};
}

Result<std::vector<Certificate>> certificates_from_pem(std::string_view pem) {
  const OpensslScope scope;
  if (pem.size() > kChainMax * kCertificateBytesMax * 2)
    return Error{Errc::invalid, "too long for certificates"};
  const BioHandle bio = bio_over(as_bytes(pem));
  std::vector<Certificate> out;
  while (true) {
    SAMOVAR_TRY(PemBlock block, next_block(bio.get()));
    if (block.name.empty()) break;
    const bool fits = block.name == PEM_STRING_X509 && !block.encrypted;
    if (!fits) wipe(MutableBytes(block.bytes));
    if (!fits)
      return Error{Errc::invalid, "only CERTIFICATE blocks belong here, not " + block.name.substr(0, 40)};
    if (out.size() == kChainMax) return Error{Errc::invalid, "more than 8 certificates in one chain"};
    SAMOVAR_TRY(Certificate cert, certificate_from_der(block.bytes));
    out.push_back(std::move(cert));
  }
  if (out.empty())
    return Error{Errc::corrupt, "no certificate found: PEM starts with -----BEGIN CERTIFICATE-----"};
  return out;
}

Result<CertificateInfo> inspect(const Certificate& certificate) {
  const OpensslScope scope;
  SAMOVAR_TRY(const X509Handle cert, parse_x509(certificate.der));
  CertificateInfo info;
  info.subject = common_name(X509_get_subject_name(cert.get()));
  info.issuer = common_name(X509_get_issuer_name(cert.get()));
  SAMOVAR_TRY(info.not_before, wall_time(X509_get0_notBefore(cert.get())));
  SAMOVAR_TRY(info.not_after, wall_time(X509_get0_notAfter(cert.get())));
  SAMOVAR_CHECK(read_names(cert.get(), info));
  info.is_ca = (X509_get_extension_flags(cert.get()) & EXFLAG_CA) != 0;
  const EVP_PKEY* key = X509_get0_pubkey(cert.get());
  if (key == nullptr) return openssl_error(Errc::corrupt, "a certificate's key cannot be read");
  info.public_key = public_key_of(key);
  info.fingerprint = certificate.fingerprint();
  return info;
}

std::string format_fingerprint(const Hash256& fingerprint) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const std::uint8_t byte : fingerprint) {
    if (!out.empty()) out.push_back(':');
    out.push_back(kDigits[byte >> 4]);
    out.push_back(kDigits[byte & 15]);
  }
  return out;
}

}  // namespace samovar::security
