// The certificate browsers see: a web root of this box's own, and the leaf it issued.
//
//   tls/web-root.crt, tls/web-root.key     the root; its key lies open only until set-up,
//   tls/web-root.key.sealed                then sealed under the master key
//   tls/web.crt, tls/web.key               the leaf; its key must be readable while locked
//
// The leaf stays the same through set-up, so that a fingerprint compared once stays good.
//
// Threading: start-up and loop (short disk work).
#pragma once
#include <string>
#include <vector>

#include "base/disk.hpp"
#include "base/result.hpp"
#include "daemon/api/services.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::daemon {

struct WebNames {
  std::string host_name;
  std::vector<std::string> extra;      // configured; those the root may not speak for are left out
  std::vector<std::string> addresses;  // likewise
};

class WebIdentity {
 public:
  static constexpr std::chrono::hours kRenewBefore{24 * 45};

  // Loads, or makes at the first start.
  static Result<WebIdentity> load_or_create(Disk& disk, const std::string& dir, const WebNames& names,
                                            WallTime now);

  // Seals the root's key if it still lies open.
  Result<void> seal_root_key(const security::SecretBytes& cmk);
  // A new leaf when the old one nears its end or lacks a name the box now has; true when there is one.
  Result<bool> renew_if_due(const security::SecretBytes& cmk, const WebNames& names, WallTime now);

  const std::string& chain_pem() const noexcept { return chain_pem_; }  // leaf, then root
  const security::SecretBytes& key_pem() const noexcept { return key_pem_; }
  const api::WebCertificate& facts() const noexcept { return facts_; }

 private:
  WebIdentity(Disk& disk, std::string dir) : disk_(&disk), dir_(std::move(dir)) {}
  Result<void> create(const WebNames& names, WallTime now);
  Result<void> load();
  Result<security::SecretBytes> root_key(const security::SecretBytes& cmk) const;
  std::string file(const char* name) const { return dir_ + "/" + name; }

  Disk* disk_;
  std::string dir_;
  std::string chain_pem_;
  security::SecretBytes key_pem_;
  api::WebCertificate facts_;
};

}  // namespace samovar::daemon
