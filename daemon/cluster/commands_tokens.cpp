// API tokens.
#include <algorithm>

#include "daemon/cluster/context.hpp"
#include "daemon/cluster/rows.hpp"

namespace samovar::cluster {
namespace {

constexpr std::size_t kHashBytes = 32;
constexpr std::int64_t kTokensPerUserMax = 100;
constexpr std::chrono::hours kLifetimeMax{24 * 366};  // 365 days, and a day for clocks that disagree

Result<std::string> read_scopes(const Fields& body) {
  SAMOVAR_TRY(auto scopes, body.texts("scopes", 8, 16));
  std::sort(scopes.begin(), scopes.end());
  scopes.erase(std::unique(scopes.begin(), scopes.end()), scopes.end());
  if (scopes.empty()) return Error{Errc::invalid, "scopes: at least one of read, write, predict and metrics"};
  std::string joined;
  for (const auto& scope : scopes) {
    if (scope != "read" && scope != "write" && scope != "predict" && scope != "metrics")
      return Error{Errc::invalid, "scopes: must be of read, write, predict and metrics"};
    joined += (joined.empty() ? "" : " ") + scope;
  }
  return joined;
}

Result<Token> need_token(Context& context) {
  SAMOVAR_TRY(const std::string id, context.body.text("id", 64, 1));
  auto token = find_token(context.db, id);
  if (!token) return Error{Errc::not_found, "there is no such token"};
  return *std::move(token);
}

}  // namespace

Result<Fields> apply_token_create(Context& context) {
  SAMOVAR_TRY(const User user, need_user(context, "user_id"));
  SAMOVAR_TRY(const std::string id, context.body.text("id", 64, 1));
  SAMOVAR_TRY(const std::string name, context.body.text("name", 64, 1));
  SAMOVAR_TRY(const std::string lookup, context.body.text("lookup", 32, 1));
  SAMOVAR_TRY(const Bytes secret_hash, context.body.bytes("secret_hash", kHashBytes, kHashBytes));
  SAMOVAR_TRY(const std::string scopes, read_scopes(context.body));
  SAMOVAR_TRY(const auto cidr, context.body.optional_text("cidr", 64));
  SAMOVAR_TRY(const WallTime expires_at, context.body.time("expires_us"));
  if (user.disabled) return Error{Errc::denied, "this account is disabled: ask an administrator"};
  if (expires_at <= context.now || expires_at > context.now + kLifetimeMax)
    return Error{Errc::invalid, "expires_at: must be within the next 365 days"};
  if (find_token(context.db, id) || find_token_by_lookup(context.db, lookup))
    return Error{Errc::conflict, "this token id is in use: try again"};
  Query owned(context.db, "SELECT count(*) FROM tokens WHERE user_id = ?", user.id);
  if (owned.next() && owned.number(0) >= kTokensPerUserMax)
    return Error{Errc::busy, "this user has as many tokens as are allowed: delete some first"};

  run(context.db, "INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)", id, lookup, name, user.id,
      secret_hash, scopes, cidr, context.now, expires_at);
  Fields details;
  details.set("name", name).set("username", user.username).set("scopes", scopes).set("cidr", cidr);
  context.audit("token.create", id, details);
  context.changed(Change::Kind::tokens, id);
  return Fields().set("id", id);
}

Result<Fields> apply_token_delete(Context& context) {
  SAMOVAR_TRY(const Token token, need_token(context));
  run(context.db, "DELETE FROM tokens WHERE id = ?", token.id);
  context.audit("token.delete", token.id, Fields().set("name", token.name).set("owner", token.user_id));
  context.changed(Change::Kind::tokens, token.id);
  return Fields();
}

Result<Fields> apply_token_touch(Context& context) {
  SAMOVAR_TRY(const Token token, need_token(context));
  if (!token.last_used_at || context.now - *token.last_used_at >= kTouchInterval)
    run(context.db, "UPDATE tokens SET last_used_us = ? WHERE id = ?", context.now, token.id);
  return Fields();
}

}  // namespace samovar::cluster
