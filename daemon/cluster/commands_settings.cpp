// Settings documents, acts recorded for others, saved answers.
#include <algorithm>

#include "daemon/cluster/context.hpp"
#include "daemon/cluster/rows.hpp"

namespace samovar::cluster {
namespace {

constexpr std::size_t kSettingBytesMax = 64 * 1024;
constexpr std::size_t kDetailsBytesMax = 8 * 1024;
constexpr std::size_t kBodyBytesMax = 64 * 1024;
constexpr std::int64_t kResponsesPerUserMax = 1000;

bool is_key(std::string_view key) {
  return std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
  });
}

}  // namespace

Result<Fields> apply_setting_put(Context& context) {
  SAMOVAR_TRY(const std::string key, context.body.text("key", 64, 1));
  SAMOVAR_TRY(const Bytes json, context.body.bytes("json", 2, kSettingBytesMax));
  if (!is_key(key)) return Error{Errc::invalid, "key: of the letters a-z, digits, '.', '_' and '-'"};
  SAMOVAR_TRY(const std::string document, canonical_json_object(as_text(json), kSettingBytesMax));
  const auto before = find_setting(context.db, key);
  SAMOVAR_CHECK(check_revision(context, before ? before->revision : 0));
  run(context.db,
      "INSERT INTO settings VALUES (?, ?, 1, ?) ON CONFLICT (key) DO UPDATE SET json = excluded.json, "
      "revision = revision + 1, updated_us = excluded.updated_us",
      key, document, context.now);
  // The value itself may be long or delicate; the revision tells which one it was.
  context.audit("setting.put", key, Fields().set("revision", (before ? before->revision : 0) + 1));
  context.changed(Change::Kind::settings, key);
  return Fields().set("key", key);
}

Result<Fields> apply_audit_record(Context& context) {
  SAMOVAR_TRY(const std::string action, context.body.text("action", 64, 1));
  SAMOVAR_TRY(const std::string object, context.body.text("object", 256));
  SAMOVAR_TRY(const std::string result, context.body.text("result", 32, 1));
  SAMOVAR_TRY(const Fields details, context.body.object("details"));
  if (details.to_json().size() > kDetailsBytesMax) return Error{Errc::invalid, "details: too long"};
  return Fields().set("seq", context.audit(action, object, details, result));
}

Result<Fields> apply_response_save(Context& context) {
  SAMOVAR_TRY(const std::string user_id, context.body.text("user_id", 64));
  SAMOVAR_TRY(const std::string key, context.body.text("key", 255, 1));
  SAMOVAR_TRY(const Bytes fingerprint, context.body.bytes("fingerprint", 1, 64));
  SAMOVAR_TRY(const std::int64_t status, context.body.number("status", 100, 599));
  SAMOVAR_TRY(const Bytes body, context.body.bytes("body", 0, kBodyBytesMax));
  run(context.db, "INSERT INTO responses VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (user_id, key) DO NOTHING",
      user_id, key, fingerprint, status, as_text(body), context.now + kReplyKept);
  run(context.db,
      "DELETE FROM responses WHERE user_id = ?1 AND key NOT IN (SELECT key FROM responses WHERE user_id = ?1 "
      "ORDER BY expires_us DESC, key LIMIT ?2)",
      user_id, kResponsesPerUserMax);
  return Fields();
}

}  // namespace samovar::cluster
