#include "daemon/web_identity.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.hpp"
#include "security/aead.hpp"
#include "security/certificate_names.hpp"
#include "security/certificates.hpp"
#include "security/kdf.hpp"

namespace samovar::daemon {
namespace {

using security::Certificate;
using security::PrivateKey;
using security::SecretBytes;

constexpr std::size_t kPemBytesMax = 64 * 1024;
constexpr const char* kRootCrt = "web-root.crt";
constexpr const char* kRootKey = "web-root.key";
constexpr const char* kRootSealed = "web-root.key.sealed";
constexpr const char* kLeafCrt = "web.crt";
constexpr const char* kLeafKey = "web.key";

Bytes seal_aad() { return security::wrap_aad("web-root", "tls", 1); }

bool ends_with(std::string_view text, std::string_view tail) {
  return text.size() >= tail.size() && text.substr(text.size() - tail.size()) == tail;
}

// The root's name constraints allow these and the host name itself.
bool nameable(std::string_view name) {
  return security::valid_dns_name(name) &&
         (ends_with(name, ".local") || ends_with(name, ".lan") || ends_with(name, ".internal"));
}

security::WebLeafOptions leaf_options(const WebNames& names, WallTime now) {
  security::WebLeafOptions options;
  options.now = now;
  if (security::valid_dns_name(names.host_name))
    options.dns_names = {names.host_name, names.host_name + ".local"};
  options.dns_names.emplace_back("localhost");
  for (const auto& name : names.extra) {
    if (nameable(name)) {
      options.dns_names.push_back(name);
    } else {
      SAMOVAR_LOG(warn, main,
                  "this name is left out of the web certificate: it is not under .local, .lan or .internal",
                  kv("name", name));
    }
  }
  options.ip_addresses = {"127.0.0.1", "::1"};
  for (const auto& address : names.addresses)
    if (security::within_private_ranges(security::parse_address(address)))
      options.ip_addresses.push_back(address);
  return options;
}

// A box that moved to another network needs a certificate for its new address; an address it lost does no
// harm.
bool names_all(const std::vector<std::string>& certified, const security::WebLeafOptions& wanted) {
  const auto has = [&](const std::string& name) {
    return std::find(certified.begin(), certified.end(), name) != certified.end();
  };
  return std::all_of(wanted.dns_names.begin(), wanted.dns_names.end(), has) &&
         std::all_of(wanted.ip_addresses.begin(), wanted.ip_addresses.end(), has);
}

Error damaged(const std::string& path, const Error& why) {
  return Error{
      why.code(),
      fmt::format("{}: {}. Restore it from a copy; or, to get a new web certificate (browsers will ask "
                  "again), move the folder away and start again",
                  path, why.message())};
}

}  // namespace

Result<WebIdentity> WebIdentity::load_or_create(Disk& disk, const std::string& dir, const WebNames& names,
                                                WallTime now) {
  WebIdentity web(disk, dir);
  // web.crt is written last: without it a first start was cut short, and nobody has seen the certificate.
  if (!disk.exists(web.file(kLeafCrt))) SAMOVAR_CHECK(web.create(names, now));
  SAMOVAR_CHECK(web.load());
  return web;
}

Result<void> WebIdentity::create(const WebNames& names, WallTime now) {
  SAMOVAR_CHECK(disk_->make_dir(dir_));
  SAMOVAR_TRY(const PrivateKey root_key, PrivateKey::generate());
  SAMOVAR_TRY(const Certificate root, security::make_web_root(root_key, names.host_name));
  SAMOVAR_TRY(const PrivateKey leaf_key, PrivateKey::generate());
  SAMOVAR_TRY(const Certificate leaf,
              security::issue_web_leaf(root, root_key, leaf_key.public_key(), leaf_options(names, now)));
  SAMOVAR_CHECK(disk_->write_file(file(kRootKey), root_key.to_pem().view()));
  SAMOVAR_CHECK(disk_->write_file(file(kRootCrt), as_bytes(root.to_pem())));
  SAMOVAR_CHECK(disk_->write_file(file(kLeafKey), leaf_key.to_pem().view()));
  return disk_->write_file(file(kLeafCrt), as_bytes(leaf.to_pem()));
}

Result<void> WebIdentity::load() {
  auto read = [&](const char* name) -> Result<Bytes> {
    auto bytes = disk_->read_file(file(name), kPemBytesMax);
    if (!bytes) return damaged(file(name), bytes.error());
    return bytes;
  };
  const auto parse = [&](const char* name, ByteView pem) -> Result<Certificate> {
    auto list = security::certificates_from_pem(as_text(pem));
    if (!list) return damaged(file(name), list.error());
    if (list->empty()) return damaged(file(name), Error{Errc::corrupt, "there is no certificate in it"});
    return std::move(list->front());
  };
  SAMOVAR_TRY(const Bytes leaf_pem, read(kLeafCrt));
  SAMOVAR_TRY(const Bytes root_pem, read(kRootCrt));
  SAMOVAR_TRY(Bytes key_pem, read(kLeafKey));
  SAMOVAR_TRY(const Certificate leaf, parse(kLeafCrt, leaf_pem));
  SAMOVAR_TRY(const Certificate root, parse(kRootCrt, root_pem));
  auto key = PrivateKey::from_pem(key_pem);
  if (!key) return damaged(file(kLeafKey), key.error());
  SAMOVAR_TRY(const auto info, security::inspect(leaf));
  if (key->public_key() != info.public_key)
    return damaged(file(kLeafKey), Error{Errc::corrupt, "the key does not belong to web.crt"});
  key_pem_ = SecretBytes::take(key_pem);
  chain_pem_ = leaf.to_pem() + root.to_pem();
  facts_.fingerprint = security::format_fingerprint(leaf.fingerprint());
  facts_.ca_fingerprint = security::format_fingerprint(root.fingerprint());
  facts_.ca_pem = root.to_pem();
  facts_.not_after = info.not_after;
  facts_.names = info.dns_names;
  facts_.names.insert(facts_.names.end(), info.ip_addresses.begin(), info.ip_addresses.end());
  return {};
}

Result<void> WebIdentity::seal_root_key(const SecretBytes& cmk) {
  if (!disk_->exists(file(kRootKey))) return {};
  SAMOVAR_TRY(Bytes pem, disk_->read_file(file(kRootKey), kPemBytesMax));
  const SecretBytes plain = SecretBytes::take(pem);
  const SecretBytes key = security::derive(cmk, security::purpose::kTls);
  SAMOVAR_CHECK(disk_->write_file(file(kRootSealed), security::seal(key, plain.view(), seal_aad())));
  SAMOVAR_CHECK(disk_->remove(file(kRootKey)));
  return disk_->sync_dir(dir_);
}

Result<SecretBytes> WebIdentity::root_key(const SecretBytes& cmk) const {
  SAMOVAR_TRY(const Bytes sealed, disk_->read_file(file(kRootSealed), kPemBytesMax));
  return security::open_secret(security::derive(cmk, security::purpose::kTls), sealed, seal_aad());
}

Result<bool> WebIdentity::renew_if_due(const SecretBytes& cmk, const WebNames& names, WallTime now) {
  const security::WebLeafOptions wanted = leaf_options(names, now);
  if (now + kRenewBefore < facts_.not_after && names_all(facts_.names, wanted)) return false;
  SAMOVAR_TRY(const SecretBytes pem, root_key(cmk));
  SAMOVAR_TRY(const PrivateKey root_private, PrivateKey::from_pem(pem.view()));
  SAMOVAR_TRY(const auto roots, security::certificates_from_pem(facts_.ca_pem));
  // The same leaf key: one file changes, at once, and there is no moment when key and certificate differ.
  SAMOVAR_TRY(const PrivateKey leaf_key, PrivateKey::from_pem(key_pem_.view()));
  SAMOVAR_TRY(const Certificate leaf,
              security::issue_web_leaf(roots.front(), root_private, leaf_key.public_key(), wanted));
  SAMOVAR_CHECK(disk_->write_file(file(kLeafCrt), as_bytes(leaf.to_pem())));
  SAMOVAR_CHECK(load());
  return true;
}

}  // namespace samovar::daemon
