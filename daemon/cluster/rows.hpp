// Rows as values: the only place that knows the order of columns.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/cluster/sqlite.hpp"
#include "daemon/cluster/types.hpp"

namespace samovar::cluster {

std::optional<ClusterInfo> read_cluster(Db& db);
std::vector<NodeRecord> read_nodes(Db& db);  // members first, then those that were; by name
std::optional<NodeRecord> find_node(Db& db, std::string_view id);
// The version of commands that every member understands.
unsigned level_of(const std::vector<NodeRecord>& nodes);
unsigned level_of_cluster(Db& db);

std::optional<User> find_user(Db& db, std::string_view id);
std::optional<User> find_user_by_name(Db& db, std::string_view lower_name);
Page<User> list_users(Db& db, const PageQuery& page);

std::optional<Session> find_session(Db& db, std::string_view id);
std::optional<Session> find_session_by_hash(Db& db, ByteView hash);
Page<Session> list_sessions(Db& db, const std::optional<std::string>& user_id, WallTime now,
                            const PageQuery& page);

std::optional<Token> find_token(Db& db, std::string_view id);
std::optional<Token> find_token_by_lookup(Db& db, std::string_view lookup);
Page<Token> list_tokens(Db& db, const std::optional<std::string>& user_id, const PageQuery& page);

std::optional<Setting> find_setting(Db& db, std::string_view key);
std::optional<SavedResponse> find_response(Db& db, std::string_view user_id, std::string_view key);

// Failures of a known device, or else those of the account.
struct LoginCounter {
  bool device = false;
  unsigned failed = 0;
  WallTime failed_at;
  std::optional<WallTime> locked_until;
};
LoginCounter find_login_counter(Db& db, const User& user, ByteView device_hash);
// How long the next attempt has to wait.
Duration login_delay(const LoginCounter& counter, WallTime now);

std::string lower_ascii(std::string_view text);

}  // namespace samovar::cluster
