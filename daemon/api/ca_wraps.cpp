#include "daemon/api/ca_wraps.hpp"

#include <algorithm>
#include <memory>

#include "base/encoding.hpp"
#include "base/json.hpp"
#include "daemon/api/ca_document.hpp"
#include "security/password_wrap.hpp"
#include "security/secret_box.hpp"

namespace samovar::api {
namespace {

using nlohmann::json;
using security::SecretBytes;

// Costs as much as the box's passphrase, or as little as the tests' passwords.
security::Argon2Cost wrap_cost(const security::HashGate& gate) {
  const auto& password_cost = gate.options().password_cost;
  return password_cost == security::kPasswordCost ? security::kPassphraseCost : password_cost;
}

// Who can add nodes, by name.
std::string holders_of(cluster::Cluster& state) {
  std::string names;
  for (const auto& [id, hold] : ca_holds(state)) {
    const auto user = state.user(id);
    if (hold != CaHold::held || !user || user->disabled) continue;
    names += (names.empty() ? "" : " or ") + user->username;
  }
  return names.empty() ? "an administrator who has set a password of their own" : names;
}

// What one password opens.
struct Opened {
  Bytes wrap;  // which one it was
  std::shared_ptr<SecretBytes> secret;
};

std::optional<Opened> open_any(const std::vector<Bytes>& wraps, const SecretBytes& password, ByteView aad) {
  for (const auto& wrap : wraps)
    if (auto secret = security::unwrap_secret_with_password(wrap, password.view(), aad))
      return Opened{wrap, std::make_shared<SecretBytes>(std::move(*secret))};
  return std::nullopt;
}

// A wrap of the same under another password, beside the one that still opens.
struct Rewrapped {
  std::vector<Bytes> ca;
  std::vector<Bytes> own;
};

Result<std::vector<Bytes>> rewrap(const std::vector<Bytes>& wraps, const SecretBytes& before,
                                  const SecretBytes& after, ByteView aad, const security::Argon2Cost& cost) {
  const auto opened = open_any(wraps, before, aad);
  if (!opened) return std::vector<Bytes>{};  // of an older password: an administrator set this one
  SAMOVAR_TRY(Bytes added, security::wrap_secret_with_password(*opened->secret, after.view(), aad, cost));
  return std::vector<Bytes>{opened->wrap, std::move(added)};
}

Task<Result<void>> put(cluster::Cluster& state, cluster::Call call, const CaDocument& document) {
  auto done = co_await state.put_setting(std::move(call), std::string(kCaSetting), document.text(),
                                         document.revision());
  if (!done) co_return std::move(done).error();
  co_return Result<void>{};
}

}  // namespace

std::string make_ca_document(const std::string& certificate_pem, const std::string& user_id, ByteView wrap) {
  const json rows = json::array({{{"user_id", user_id}, {"wrap", base64url_encode(wrap)}}});
  return json{{"certificate", certificate_pem}, {"wraps", rows}}.dump();
}

std::string ca_certificate_pem(cluster::Cluster& state) {
  const auto document = CaDocument::load(state);
  return document ? document->certificate() : "";
}

Task<Result<SecretBytes>> unwrap_ca_key(cluster::Cluster& state, security::HashGate& gate,
                                        std::string user_id, const SecretBytes& password) {
  SAMOVAR_CO_TRY(const CaDocument document, CaDocument::load(state));
  const auto wraps = document.wraps(user_id);
  const auto own = document.key(user_id);
  const bool boxed = own && !own->box.empty();
  if (wraps.empty() && !boxed)
    co_return Error{Errc::not_found, "your account holds no key to add nodes with; ask " + holders_of(state)};
  const Bytes aad = ca_wrap_aad(document.cluster_id(), user_id);
  const Bytes own_aad = admin_key_aad(document.cluster_id(), user_id);
  // Shared: std::function copies its captures, and secrets only move.
  auto secret = std::make_shared<SecretBytes>(password.clone());
  const std::function<Result<SecretBytes>()> work = [wraps, own, boxed, aad, own_aad,
                                                     secret]() -> Result<SecretBytes> {
    if (boxed) {
      if (const auto opened = open_any(own->wraps, *secret, own_aad)) {
        SAMOVAR_TRY(const auto pair, security::box_pair_of(opened->secret->clone()));
        return security::open_sealed_secret(pair, own->box, aad);
      }
    }
    if (const auto opened = open_any(wraps, *secret, aad)) return opened->secret->clone();
    return Error{Errc::denied, "the key to add nodes with was wrapped under an earlier password of yours"};
  };
  co_return co_await gate.run<SecretBytes>(work);
}

Task<Result<void>> rewrap_ca_key(cluster::Cluster& state, security::HashGate& gate, cluster::Call call,
                                 std::string user_id, const SecretBytes& old_password,
                                 const SecretBytes& new_password, std::string hash) {
  SAMOVAR_CO_TRY(CaDocument document, CaDocument::load(state));
  const auto wraps = document.wraps(user_id);
  auto own = document.key(user_id);
  if (wraps.empty() && !own) co_return Result<void>{};
  const Bytes aad = ca_wrap_aad(document.cluster_id(), user_id);
  const Bytes own_aad = admin_key_aad(document.cluster_id(), user_id);
  auto before = std::make_shared<SecretBytes>(old_password.clone());
  auto after = std::make_shared<SecretBytes>(new_password.clone());
  const auto cost = wrap_cost(gate);
  const std::function<Result<Rewrapped>()> work = [wraps, own, aad, own_aad, before, after,
                                                   cost]() -> Result<Rewrapped> {
    Rewrapped made;
    SAMOVAR_TRY(made.ca, rewrap(wraps, *before, *after, aad, cost));
    if (own) {
      SAMOVAR_TRY(made.own, rewrap(own->wraps, *before, *after, own_aad, cost));
    }
    return made;
  };
  SAMOVAR_CO_TRY(const Rewrapped made, co_await gate.run<Rewrapped>(work));
  if (made.ca.empty() && made.own.empty()) co_return Result<void>{};
  if (!made.ca.empty()) document.set_wraps(user_id, made.ca);
  if (!made.own.empty()) {
    own->wraps = made.own;
    own->of = password_mark(hash);
    document.set_key(user_id, *own);
  }
  co_return co_await put(state, std::move(call), document);
}

std::map<std::string, CaHold, std::less<>> ca_holds(cluster::Cluster& state) {
  std::map<std::string, CaHold, std::less<>> out;
  const auto document = CaDocument::load(state);
  if (!document) return out;
  for (const auto& id : document->users()) {
    const auto user = state.user(id);
    if (!user || user->role != cluster::Role::admin) continue;
    const auto own = document->key(id);
    const bool held = !document->wraps(id).empty() || (own && !own->box.empty());
    out[id] = held ? CaHold::held : CaHold::ready;
  }
  return out;
}

bool last_ca_holder(cluster::Cluster& state, const std::string& user_id) {
  const auto all = ca_holds(state);
  const auto own = all.find(user_id);
  if (own == all.end() || own->second != CaHold::held) return false;
  return std::none_of(all.begin(), all.end(),
                      [&](const auto& one) { return one.first != user_id && one.second == CaHold::held; });
}

Task<Result<void>> prepare_ca_holder(cluster::Cluster& state, security::HashGate& gate, cluster::Call call,
                                     std::string user_id, const SecretBytes& password) {
  const auto user = state.user(user_id);
  SAMOVAR_CO_TRY(CaDocument document, CaDocument::load(state));
  // Who is alone has nobody to be given it by.
  if (!user || user->role != cluster::Role::admin || document.certificate().empty() ||
      (!document.wraps(user_id).empty() && document.users().size() == 1 && !document.key(user_id)))
    co_return Result<void>{};
  const std::string mark = password_mark(user->password_hash);
  auto own = document.key(user_id);
  if (own && own->of == mark) co_return Result<void>{};
  const Bytes aad = admin_key_aad(document.cluster_id(), user_id);
  auto secret = std::make_shared<SecretBytes>(password.clone());
  const auto cost = wrap_cost(gate);
  const std::function<Result<AdminKey>()> work = [own, aad, secret, cost]() -> Result<AdminKey> {
    // The same password under a new hash.
    if (own && open_any(own->wraps, *secret, aad)) return *own;
    const security::BoxPair pair = security::make_box_pair();
    AdminKey fresh;
    fresh.open = pair.open;
    SAMOVAR_TRY(Bytes wrap, security::wrap_secret_with_password(pair.secret, secret->view(), aad, cost));
    fresh.wraps.push_back(std::move(wrap));
    return fresh;
  };
  SAMOVAR_CO_TRY(AdminKey made, co_await gate.run<AdminKey>(work));
  made.of = mark;
  document.set_key(user_id, made);
  co_return co_await put(state, std::move(call), document);
}

Task<Result<void>> give_ca_key(cluster::Cluster& state, cluster::Call call, std::string user_id,
                               const SecretBytes& ca_key) {
  SAMOVAR_CO_TRY(CaDocument document, CaDocument::load(state));
  auto own = document.key(user_id);
  if (!own) co_return Error{Errc::not_found, "that administrator has not logged in yet"};
  SAMOVAR_CO_TRY(own->box,
                 security::seal_secret_to(own->open, ca_key, ca_wrap_aad(document.cluster_id(), user_id)));
  document.set_key(user_id, *own);
  co_return co_await put(state, std::move(call), document);
}

Task<Result<bool>> take_ca_key(cluster::Cluster& state, cluster::Call call, std::string user_id,
                               bool wholly) {
  SAMOVAR_CO_TRY(CaDocument document, CaDocument::load(state));
  auto own = document.key(user_id);
  const bool held = !document.wraps(user_id).empty() || (own && !own->box.empty());
  if (!held && !(wholly && own)) co_return false;
  document.set_wraps(user_id, {});
  if (own) {
    own->box.clear();
    if (wholly) {
      document.drop_key(user_id);
    } else {
      document.set_key(user_id, *own);
    }
  }
  auto done = co_await put(state, std::move(call), document);
  if (!done) co_return std::move(done).error();
  co_return true;
}

}  // namespace samovar::api
