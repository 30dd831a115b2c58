// Queries: answered at once, from memory.
#include <utility>

#include "daemon/cluster/audit.hpp"
#include "daemon/cluster/cluster_impl.hpp"
#include "daemon/cluster/rows.hpp"

namespace samovar::cluster {
namespace {

constexpr unsigned kVerifyChunk = 500;

// A lock that has run out is none.
User shown(User user, WallTime now) {
  if (user.locked_until && *user.locked_until <= now) user.locked_until.reset();
  return user;
}

std::optional<User> shown(std::optional<User> user, WallTime now) {
  if (!user) return std::nullopt;
  return shown(*std::move(user), now);
}

// Rows of disabled users and those that ran out count as gone before they are purged.
template <class T>
std::optional<T> if_valid(Db& db, std::optional<T> row, WallTime now) {
  if (!row || row->expires_at <= now) return std::nullopt;
  const auto owner = find_user(db, row->user_id);
  if (!owner || owner->disabled) return std::nullopt;
  return row;
}

}  // namespace

std::optional<ClusterInfo> Cluster::info() const { return read_cluster(impl_->db()); }

std::optional<User> Cluster::user(std::string_view id) const {
  return shown(find_user(impl_->db(), id), now());
}

std::optional<User> Cluster::user_by_name(std::string_view username) const {
  return shown(find_user_by_name(impl_->db(), lower_ascii(username)), now());
}

Page<User> Cluster::users(const PageQuery& page) const {
  auto found = list_users(impl_->db(), page);
  for (User& user : found.items) user = shown(std::move(user), now());
  return found;
}

LoginGate Cluster::login_gate(std::string_view username, ByteView device_hash) const {
  LoginGate gate;
  gate.user = user_by_name(username);
  if (!gate.user) return gate;
  const LoginCounter counter = find_login_counter(impl_->db(), *gate.user, device_hash);
  gate.known_device = counter.device;
  gate.retry_after = login_delay(counter, now());
  return gate;
}

std::optional<Session> Cluster::session(std::string_view id) const {
  return if_valid(impl_->db(), find_session(impl_->db(), id), now());
}

std::optional<Session> Cluster::session_by_hash(ByteView secret_hash) const {
  return if_valid(impl_->db(), find_session_by_hash(impl_->db(), secret_hash), now());
}

Page<Session> Cluster::sessions(const std::optional<std::string>& user_id, const PageQuery& page) const {
  return list_sessions(impl_->db(), user_id, now(), page);
}

std::optional<Token> Cluster::token(std::string_view id) const {
  return if_valid(impl_->db(), find_token(impl_->db(), id), now());
}

std::optional<Token> Cluster::token_by_lookup(std::string_view lookup) const {
  return if_valid(impl_->db(), find_token_by_lookup(impl_->db(), lookup), now());
}

Page<Token> Cluster::tokens(const std::optional<std::string>& user_id, const PageQuery& page) const {
  return list_tokens(impl_->db(), user_id, page);
}

Setting Cluster::setting(std::string_view key) const {
  return find_setting(impl_->db(), key).value_or(Setting{std::string(key), "{}", 0, {}});
}

std::optional<SavedResponse> Cluster::saved_response(std::string_view user_id, std::string_view key) const {
  auto response = find_response(impl_->db(), user_id, key);
  if (response && response->expires_at <= now()) return std::nullopt;
  return response;
}

AuditPage Cluster::audit(const AuditQuery& query) const { return query_audit(impl_->db(), query); }

Task<Result<AuditVerdict>> Cluster::verify_audit() const {
  security::ChainVerifier verifier;
  std::uint64_t next_seq = 1;
  while (verify_some(impl_->db(), verifier, next_seq, kVerifyChunk)) {
    // Others wait for the loop too.
    auto pause = [this](const std::function<void(bool)>& done) { impl_->loop.post([done] { done(true); }); };
    co_await from_callback<bool>(std::move(pause));
  }
  AuditVerdict verdict = finish_verify(impl_->db(), verifier);
  SAMOVAR_CO_CHECK(impl_->db().take_error());
  co_return verdict;
}

}  // namespace samovar::cluster
