// The settings document "cluster_ca", read and changed; ca_wraps.hpp says what is in it.
//
// Threading: pure, but for load().
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "daemon/cluster/cluster.hpp"
#include "security/secret_box.hpp"

namespace samovar::api {

// An administrator's own key, and the CA's key sealed to it.
struct AdminKey {
  security::BoxPublic open{};
  std::vector<Bytes> wraps;  // of its secret half
  std::string of;            // password_mark of the newest
  Bytes box;                 // empty: not given
};

// Binds the secret half of an administrator's key to its row.
Bytes admin_key_aad(std::string_view cluster_id, std::string_view user_id);
// Tells two stored passwords apart; says no more about them than the state does.
std::string password_mark(std::string_view password_hash);

class CaDocument {
 public:
  static Result<CaDocument> load(cluster::Cluster& state);

  const std::string& cluster_id() const { return cluster_id_; }
  std::uint64_t revision() const { return revision_; }
  std::string text() const { return json_.dump(); }
  std::string certificate() const { return json_.value("certificate", ""); }
  std::vector<std::string> users() const;  // who has a row of any kind
  std::vector<Bytes> wraps(const std::string& user_id) const;
  void set_wraps(const std::string& user_id, const std::vector<Bytes>& wraps);
  std::optional<AdminKey> key(const std::string& user_id) const;
  void set_key(const std::string& user_id, const AdminKey& key);
  void drop_key(const std::string& user_id);

 private:
  void drop(const char* list, const std::string& user_id);

  nlohmann::json json_;
  std::string cluster_id_;
  std::uint64_t revision_ = 0;
};

}  // namespace samovar::api
