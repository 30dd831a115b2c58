// Commands on sessions, tokens, settings and the audit log.
#include <algorithm>
#include <utility>

#include "daemon/cluster/cluster_impl.hpp"
#include "daemon/cluster/rows.hpp"

namespace samovar::cluster {
namespace {

constexpr std::size_t kUserAgentBytes = 512;
constexpr std::size_t kAddressBytes = 64;

template <class T>
Result<T> or_gone(std::optional<T> value) {
  if (!value) return Error{Errc::not_found, "it was removed meanwhile"};
  return *std::move(value);
}

}  // namespace

Task<Result<Session>> Cluster::login(Call call, NewSession session) {
  Fields body;
  body.set("user_id", session.user_id).set("session_id", impl_->new_id("ses"));
  body.set("kind", to_string(session.kind)).set("secret_hash", session.secret_hash);
  body.set("address", clean_text(session.address, kAddressBytes));
  body.set("user_agent", clean_text(session.user_agent, kUserAgentBytes));
  body.set("lifetime_us", std::chrono::duration_cast<std::chrono::microseconds>(session.lifetime).count());
  if (!session.device_hash.empty()) body.set("device_hash", session.device_hash);
  SAMOVAR_CO_TRY(const Fields done,
                 co_await impl_->execute(std::move(call), "session.login", std::move(body)));
  SAMOVAR_CO_TRY(const std::string id, done.text("session_id", 64));
  co_return or_gone(this->session(id));
}

Task<Result<void>> Cluster::login_failed(Call call, LoginFailure failure) {
  Fields body;
  body.set("username", clean_text(failure.username, 256));
  if (!failure.device_hash.empty()) body.set("device_hash", failure.device_hash);
  if (call.actor.address.empty()) call.actor.address = failure.address;
  SAMOVAR_CO_TRY(const Fields done,
                 co_await impl_->execute(std::move(call), "session.login_failed", std::move(body)));
  co_return Result<void>();
}

Task<Result<Session>> Cluster::reauthenticate(Call call, std::string session_id) {
  SAMOVAR_CO_TRY(const Fields done, co_await impl_->execute(std::move(call), "session.reauth",
                                                            Fields().set("session_id", session_id)));
  co_return or_gone(session(session_id));
}

Task<Result<void>> Cluster::end_session(Call call, std::string session_id) {
  SAMOVAR_CO_TRY(const Fields done, co_await impl_->execute(std::move(call), "session.end",
                                                            Fields().set("session_id", session_id)));
  co_return Result<void>();
}

Task<Result<void>> Cluster::touch_session(std::string session_id) {
  const auto known = session(session_id);
  if (!known) co_return Error{Errc::not_found, "there is no such session"};
  if (impl_->now() - known->last_seen_at < kTouchInterval) co_return Result<void>();
  SAMOVAR_CO_TRY(const Fields done,
                 co_await impl_->execute_quietly("session.touch", Fields().set("session_id", session_id)));
  co_return Result<void>();
}

Task<Result<Token>> Cluster::create_token(Call call, NewToken token) {
  Fields body;
  body.set("id", impl_->new_id("tok")).set("user_id", token.user_id).set("name", token.name);
  body.set("lookup", token.lookup).set("secret_hash", token.secret_hash).set("scopes", token.scopes);
  body.set("cidr", token.cidr).set("expires_us", token.expires_at);
  SAMOVAR_CO_TRY(const Fields done,
                 co_await impl_->execute(std::move(call), "token.create", std::move(body)));
  SAMOVAR_CO_TRY(const std::string id, done.text("id", 64));
  co_return or_gone(find_token(impl_->db(), id));
}

Task<Result<void>> Cluster::delete_token(Call call, std::string token_id) {
  SAMOVAR_CO_TRY(const Fields done,
                 co_await impl_->execute(std::move(call), "token.delete", Fields().set("id", token_id)));
  co_return Result<void>();
}

Task<Result<void>> Cluster::touch_token(std::string token_id) {
  const auto known = find_token(impl_->db(), token_id);
  if (!known) co_return Error{Errc::not_found, "there is no such token"};
  if (known->last_used_at && impl_->now() - *known->last_used_at < kTouchInterval) co_return Result<void>();
  SAMOVAR_CO_TRY(const Fields done,
                 co_await impl_->execute_quietly("token.touch", Fields().set("id", token_id)));
  co_return Result<void>();
}

Task<Result<Setting>> Cluster::put_setting(Call call, std::string key, std::string json,
                                           std::optional<std::uint64_t> if_revision) {
  Fields body;
  // As bytes: a document may hold line breaks, which names and the like may not.
  body.set("key", key).set("json", to_bytes(json)).set("if_revision", if_revision);
  SAMOVAR_CO_TRY(const Fields done, co_await impl_->execute(std::move(call), "setting.put", std::move(body)));
  co_return or_gone(find_setting(impl_->db(), key));
}

Task<Result<std::uint64_t>> Cluster::record(Call call, std::string action, std::string object,
                                            std::string result, std::string details) {
  SAMOVAR_CO_TRY(const Fields parsed, details.empty() ? Result<Fields>(Fields()) : Fields::parse(details));
  Fields body;
  body.set("action", action)
      .set("object", clean_text(object, 256))
      .set("result", result)
      .set("details", parsed);
  SAMOVAR_CO_TRY(const Fields done,
                 co_await impl_->execute(std::move(call), "audit.record", std::move(body)));
  SAMOVAR_CO_TRY(const std::int64_t seq, done.number("seq", 1, INT64_MAX));
  co_return static_cast<std::uint64_t>(seq);
}

Task<Result<void>> Cluster::save_response(SavedResponse response) {
  Fields body;
  body.set("user_id", response.user_id).set("key", response.key).set("fingerprint", response.fingerprint);
  body.set("status", static_cast<std::int64_t>(response.status)).set("body", to_bytes(response.body));
  SAMOVAR_CO_TRY(const Fields done, co_await impl_->execute_quietly("response.save", std::move(body)));
  co_return Result<void>();
}

}  // namespace samovar::cluster
