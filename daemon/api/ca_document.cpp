#include "daemon/api/ca_document.hpp"

#include <algorithm>
#include <set>

#include "base/encoding.hpp"
#include "daemon/api/ca_wraps.hpp"
#include "security/aead.hpp"
#include "security/hash.hpp"

namespace samovar::api {
namespace {

using nlohmann::json;

std::string text_of(const json& row, const char* name) {
  const auto found = row.is_object() ? row.find(name) : row.end();
  return found != row.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Bytes bytes_of(const std::string& text) { return base64url_decode(text).value_or(Bytes{}); }

}  // namespace

Bytes ca_wrap_aad(std::string_view cluster_id, std::string_view user_id) {
  return security::wrap_aad("cluster-ca", std::string(cluster_id) + "/" + std::string(user_id), 1);
}

Bytes admin_key_aad(std::string_view cluster_id, std::string_view user_id) {
  return security::wrap_aad("admin-key", std::string(cluster_id) + "/" + std::string(user_id), 1);
}

std::string password_mark(std::string_view password_hash) {
  return base64url_encode(security::blake2b(16, as_bytes(password_hash)));
}

Result<CaDocument> CaDocument::load(cluster::Cluster& state) {
  const auto setting = state.setting(kCaSetting);
  CaDocument out;
  out.json_ = json::parse(setting.json, nullptr, false);
  if (!out.json_.is_object()) return Error{Errc::corrupt, "the cluster CA's document is damaged"};
  for (const char* list : {"wraps", "keys"})
    if (!out.json_.contains(list) || !out.json_[list].is_array()) out.json_[list] = json::array();
  const auto info = state.info();
  out.cluster_id_ = info ? info->id : "";
  out.revision_ = setting.revision;
  return out;
}

std::vector<std::string> CaDocument::users() const {
  std::set<std::string> ids;
  for (const char* list : {"wraps", "keys"})
    for (const auto& row : json_[list]) ids.insert(text_of(row, "user_id"));
  return {ids.begin(), ids.end()};
}

std::vector<Bytes> CaDocument::wraps(const std::string& user_id) const {
  std::vector<Bytes> out;
  for (const auto& row : json_["wraps"])
    if (text_of(row, "user_id") == user_id) out.push_back(bytes_of(text_of(row, "wrap")));
  std::erase_if(out, [](const Bytes& wrap) { return wrap.empty(); });
  return out;
}

void CaDocument::drop(const char* list, const std::string& user_id) {
  json rows = json::array();
  for (const auto& row : json_[list])
    if (text_of(row, "user_id") != user_id) rows.push_back(row);
  json_[list] = std::move(rows);
}

void CaDocument::set_wraps(const std::string& user_id, const std::vector<Bytes>& wraps) {
  drop("wraps", user_id);
  for (const Bytes& wrap : wraps)
    json_["wraps"].push_back({{"user_id", user_id}, {"wrap", base64url_encode(wrap)}});
}

std::optional<AdminKey> CaDocument::key(const std::string& user_id) const {
  for (const auto& row : json_["keys"]) {
    if (text_of(row, "user_id") != user_id) continue;
    AdminKey out;
    const Bytes open = bytes_of(text_of(row, "public"));
    if (open.size() != out.open.size()) return std::nullopt;
    std::copy(open.begin(), open.end(), out.open.begin());
    if (row.contains("wraps") && row["wraps"].is_array())
      for (const auto& wrap : row["wraps"])
        if (wrap.is_string()) out.wraps.push_back(bytes_of(wrap.get<std::string>()));
    out.of = text_of(row, "of");
    out.box = bytes_of(text_of(row, "box"));
    return out;
  }
  return std::nullopt;
}

void CaDocument::set_key(const std::string& user_id, const AdminKey& key) {
  drop("keys", user_id);
  json wraps = json::array();
  for (const Bytes& wrap : key.wraps) wraps.push_back(base64url_encode(wrap));
  json row = {{"user_id", user_id}, {"public", base64url_encode(key.open)}, {"wraps", wraps}, {"of", key.of}};
  if (!key.box.empty()) row["box"] = base64url_encode(key.box);
  json_["keys"].push_back(std::move(row));
}

void CaDocument::drop_key(const std::string& user_id) { drop("keys", user_id); }

}  // namespace samovar::api
