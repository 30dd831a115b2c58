#include "daemon/api/ca_wraps.hpp"

#include <memory>
#include <nlohmann/json.hpp>

#include "base/encoding.hpp"
#include "security/aead.hpp"
#include "security/password_wrap.hpp"

namespace samovar::api {
namespace {

using nlohmann::json;

// Costs as much as the box's passphrase, or as little as the tests' passwords.
security::Argon2Cost wrap_cost(const security::HashGate& gate) {
  const auto& password_cost = gate.options().password_cost;
  return password_cost == security::kPasswordCost ? security::kPassphraseCost : password_cost;
}

std::vector<Bytes> wraps_of(const json& document, const std::string& user_id) {
  std::vector<Bytes> wraps;
  for (const auto& row : document.value("wraps", json::array())) {
    if (row.value("user_id", "") != user_id) continue;
    auto bytes = base64url_decode(row.value("wrap", ""));
    if (bytes) wraps.push_back(std::move(*bytes));
  }
  return wraps;
}

std::string with_wrap(json document, const std::string& user_id, ByteView previous, ByteView added) {
  json rows = json::array();
  for (const auto& row : document["wraps"])
    if (row.value("user_id", "") != user_id) rows.push_back(row);
  for (const ByteView wrap : {previous, added})
    rows.push_back({{"user_id", user_id}, {"wrap", base64url_encode(wrap)}});
  document["wraps"] = std::move(rows);
  return document.dump();
}

// Who can add nodes, by name.
std::string holders_of(cluster::Cluster& state, const json& document) {
  std::string names;
  for (const auto& row : document.value("wraps", json::array())) {
    const auto user = state.user(row.value("user_id", ""));
    if (!user || user->disabled || names.find(user->username) != std::string::npos) continue;
    names += (names.empty() ? "" : " or ") + user->username;
  }
  return names.empty() ? "an administrator who has set a password of their own" : names;
}

struct Rewrapped {
  Bytes previous;
  Bytes added;
};

}  // namespace

Bytes ca_wrap_aad(std::string_view cluster_id, std::string_view user_id) {
  return security::wrap_aad("cluster-ca", std::string(cluster_id) + "/" + std::string(user_id), 1);
}

std::string make_ca_document(const std::string& certificate_pem, const std::string& user_id, ByteView wrap) {
  const json rows = json::array({{{"user_id", user_id}, {"wrap", base64url_encode(wrap)}}});
  return json{{"certificate", certificate_pem}, {"wraps", rows}}.dump();
}

std::string ca_certificate_pem(cluster::Cluster& state) {
  const json document = json::parse(state.setting(kCaSetting).json, nullptr, false);
  return document.is_object() ? document.value("certificate", "") : "";
}

Task<Result<security::SecretBytes>> unwrap_ca_key(cluster::Cluster& state, security::HashGate& gate,
                                                  std::string user_id,
                                                  const security::SecretBytes& password) {
  const json document = json::parse(state.setting(kCaSetting).json, nullptr, false);
  if (!document.is_object()) co_return Error{Errc::corrupt, "the cluster CA's document is damaged"};
  const auto wraps = wraps_of(document, user_id);
  if (wraps.empty())
    co_return Error{Errc::not_found,
                    "your account holds no key to add nodes with; ask " + holders_of(state, document)};
  const auto info = state.info();
  const Bytes aad = ca_wrap_aad(info ? info->id : "", user_id);
  auto secret = std::make_shared<security::SecretBytes>(password.clone());
  const std::function<Result<security::SecretBytes>()> work = [wraps, aad,
                                                               secret]() -> Result<security::SecretBytes> {
    for (const auto& wrap : wraps)
      if (auto key = security::unwrap_secret_with_password(wrap, secret->view(), aad)) return key;
    return Error{Errc::denied, "the key to add nodes with was wrapped under an earlier password of yours"};
  };
  co_return co_await gate.run<security::SecretBytes>(work);
}

Task<Result<void>> rewrap_ca_key(cluster::Cluster& state, security::HashGate& gate, cluster::Call call,
                                 std::string user_id, const security::SecretBytes& old_password,
                                 const security::SecretBytes& new_password) {
  const auto setting = state.setting(kCaSetting);
  const json document = json::parse(setting.json, nullptr, false);
  if (!document.is_object()) co_return Error{Errc::corrupt, "the cluster CA's document is damaged"};
  const auto wraps = wraps_of(document, user_id);
  if (wraps.empty()) co_return Result<void>{};
  const auto info = state.info();
  const Bytes aad = ca_wrap_aad(info ? info->id : "", user_id);
  // Shared: std::function copies its captures, and secrets only move.
  auto before = std::make_shared<security::SecretBytes>(old_password.clone());
  auto after = std::make_shared<security::SecretBytes>(new_password.clone());
  const auto cost = wrap_cost(gate);
  const std::function<Result<Rewrapped>()> work = [wraps, aad, before, after, cost]() -> Result<Rewrapped> {
    for (const auto& wrap : wraps) {
      auto key = security::unwrap_secret_with_password(wrap, before->view(), aad);
      if (!key) continue;
      SAMOVAR_TRY(Bytes added, security::wrap_secret_with_password(*key, after->view(), aad, cost));
      return Rewrapped{wrap, std::move(added)};
    }
    return Rewrapped{};  // an administrator set this password: the wraps are of an older one
  };
  SAMOVAR_CO_TRY(const Rewrapped made, co_await gate.run<Rewrapped>(work));
  if (made.added.empty()) co_return Result<void>{};
  auto put =
      co_await state.put_setting(std::move(call), std::string(kCaSetting),
                                 with_wrap(document, user_id, made.previous, made.added), setting.revision);
  if (!put) co_return std::move(put).error();
  co_return Result<void>{};
}

}  // namespace samovar::api
