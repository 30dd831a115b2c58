// What the replicated state holds: users, sessions, tokens, settings, nodes, audit entries.
//
// Plain values, copied out of the state machine. Times are cluster time: they never go backwards.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"

namespace samovar::cluster {

enum class Role : std::uint8_t { admin, analyst, viewer, auditor, service };
std::string_view to_string(Role role) noexcept;
std::optional<Role> parse_role(std::string_view text) noexcept;

enum class SessionKind : std::uint8_t { cookie, bearer };
std::string_view to_string(SessionKind kind) noexcept;

// How the actor proved who they are; goes into the audit log as text.
enum class AuthKind : std::uint8_t { none, password, session, token, setup, system };
std::string_view to_string(AuthKind auth) noexcept;

// Who acts. The default is nobody (before login); system() is the node itself.
struct Actor {
  std::string user_id;
  std::string username;
  std::optional<Role> role;
  AuthKind auth = AuthKind::none;
  std::string address;  // without port

  static Actor system();
};

// One act: who, and under which request id. Two acts with the same id, type and user within 24 hours
// happen once, and the second gets the first one's answer. An empty id makes no such promise.
struct Call {
  Actor actor;
  std::string request_id;
};

struct ClusterInfo {
  std::string id;
  std::string name;
  std::string time_zone;
  WallTime created_at;
  std::uint64_t revision = 0;
};

struct NewCluster {
  std::string id;  // "clu_…"; equal to ClusterOptions::cluster_id
  std::string name;
  std::string time_zone;
  std::string admin_username;
  std::string admin_display_name;
  std::string admin_password_hash;  // security/password.hpp
};

struct ClusterChange {
  std::optional<std::string> name;
  std::optional<std::string> time_zone;
};

struct User {
  std::string id;  // "usr_…"
  std::string username;
  std::string display_name;
  Role role = Role::viewer;
  std::string password_hash;
  bool disabled = false;
  unsigned failed_logins = 0;
  std::optional<WallTime> locked_until;  // the 30 minutes after too many failures; not the short delays
  WallTime created_at;
  std::optional<WallTime> last_login_at;
  std::string last_login_address;
  std::uint64_t revision = 0;  // the ETag; logins do not change it
};

struct NewUser {
  std::string username;  // unique, lower-cased: [a-z0-9._-], 1 to 64
  std::string display_name;
  Role role = Role::viewer;
  std::string password_hash;
};

struct UserChange {
  std::optional<std::string> display_name;
  std::optional<Role> role;  // ends the user's sessions when it changes
  std::optional<bool> disabled;
};

struct Session {
  std::string id;     // "ses_…", not secret
  Bytes secret_hash;  // 32 bytes; the secret itself is nowhere
  std::string user_id;
  SessionKind kind = SessionKind::cookie;
  WallTime created_at;
  WallTime last_seen_at;  // coarse: kTouchInterval
  WallTime expires_at;    // absolute
  WallTime reauth_at;     // when the password was last given
  std::string address;
  std::string user_agent;
  std::optional<WallTime> previous_login_at;  // the login before this one
  std::string previous_login_address;
};

struct NewSession {
  std::string user_id;
  SessionKind kind = SessionKind::cookie;
  Bytes secret_hash;  // 32 bytes
  std::string address;
  std::string user_agent;
  Bytes device_hash;  // empty, or 32 bytes: the browser's device cookie, known from now on
  Duration lifetime = std::chrono::hours(12);
};

struct LoginFailure {
  std::string username;  // as typed; recorded only when such a user exists (people type passwords there)
  std::string address;
  Bytes device_hash;  // as in NewSession
};

// What a login attempt meets before any password is hashed.
struct LoginGate {
  std::optional<User> user;                 // none: unknown name, do the same work and fail
  Duration retry_after = Duration::zero();  // > 0: refuse with 429, hash nothing
  bool known_device = false;
};

struct Token {
  std::string id;      // "tok_…"
  std::string lookup;  // the 8 characters in smv_<8>_…
  std::string name;
  std::string user_id;
  Bytes secret_hash;  // 32 bytes, keyed
  std::vector<std::string> scopes;
  std::optional<std::string> cidr;
  WallTime created_at;
  WallTime expires_at;
  std::optional<WallTime> last_used_at;  // coarse: kTouchInterval
};

struct NewToken {
  std::string user_id;
  std::string name;
  std::string lookup;
  Bytes secret_hash;
  std::vector<std::string> scopes;  // of "read", "write", "predict", "metrics"
  std::optional<std::string> cidr;
  WallTime expires_at;  // at most 365 days ahead
};

struct Setting {
  std::string key;
  std::string json;            // an object, as text
  std::uint64_t revision = 0;  // 0: never set
  WallTime updated_at;
};

enum class NodeState : std::uint8_t { active, draining, removed };
std::string_view to_string(NodeState state) noexcept;

// A member of the cluster, or one that was: a removed node's row stays, so that its certificate is refused by
// name and history keeps its names.
struct NodeRecord {
  std::string id;
  std::string name;
  NodeState state = NodeState::active;
  std::vector<std::string> addresses;  // of its mesh, "10.0.0.7:7443", best first
  Bytes sign_public;                   // 32 bytes; empty for a box that is alone since before it could join
  Bytes box_public;
  std::uint64_t disk_bytes = 0;  // capacity for data
  unsigned level = 0;            // of commands it understands; 0 in a call: as this program
  std::string hostname;
  std::string model;
  std::string version;
  std::string arch;
  WallTime joined_at;
  std::optional<WallTime> removed_at;
  std::uint64_t revision = 0;
};

struct AuditEntry {
  std::uint64_t seq = 0;    // 1, 2, 3 … without a gap
  std::uint64_t index = 0;  // of the log entry
  WallTime time;
  std::string actor_id;
  std::string actor;  // user name, "system" or ""
  std::string role;
  std::string auth;
  std::string address;
  std::string action;   // "user.create"
  std::string object;   // "usr_…"
  std::string result;   // "ok", "denied", "failed"
  std::string details;  // a JSON object, as text; never a secret
  Bytes prev;           // 32 bytes
  Bytes hash;           // 32 bytes
};

struct AuditQuery {
  unsigned limit = 50;                      // 1 to kPageMax
  std::optional<std::uint64_t> before_seq;  // newest first: the cursor
  std::string actor;                        // user name or id
  std::string action;                       // exact, or a prefix ending in '.' or '*'
  std::string text;                         // in object, details, actor or address
  std::optional<WallTime> from;
  std::optional<WallTime> to;  // exclusive
};

struct AuditPage {
  std::vector<AuditEntry> items;
  std::optional<std::uint64_t> next_before_seq;
};

struct AuditVerdict {
  bool ok = false;
  std::uint64_t entries = 0;
  Bytes head_hash;
  std::optional<std::uint64_t> first_bad_seq;
  std::string message;
};

// A saved answer to a request with an Idempotency-Key, kept for 24 hours.
struct SavedResponse {
  std::string user_id;
  std::string key;
  Bytes fingerprint;  // of method, path and body: the same key with another one is the client's mistake
  unsigned status = 0;
  std::string body;  // without secrets shown once
  WallTime expires_at;
};

template <class T>
struct Page {
  std::vector<T> items;
  std::string next_cursor;  // empty: the end
};

struct PageQuery {
  unsigned limit = 50;  // 1 to kPageMax
  std::string cursor;
};

inline constexpr unsigned kPageMax = 200;
inline constexpr std::chrono::seconds kTouchInterval{60};
inline constexpr unsigned kLoginFailuresFree = 2;  // from the third on, 2^n seconds
inline constexpr unsigned kLoginFailuresMax = 10;  // then locked
inline constexpr std::chrono::minutes kLoginLock{30};
inline constexpr std::chrono::hours kReplyKept{24};
inline constexpr std::uint64_t kLossesAny = INT64_MAX;  // of remove_node: whatever is lost by it
inline constexpr std::chrono::seconds kSkewWarns{5};
inline constexpr std::chrono::seconds kSkewBlocks{60};

// Why a command was refused, for callers that answer differently to each (HTTP 409, 412, 422).
enum class Refusal : std::uint8_t {
  none,            // not one of these
  stale_revision,  // changed meanwhile
  name_taken,
  last_admin,
  own_account,     // one's own role, disabling or deleting oneself
  already_done,    // cluster.init a second time
  request_reused,  // the request id of another command
  dataset_name_taken,
  dataset_busy,  // something is being made of it
  dataset_binned,
  dataset_not_binned,
  owns_datasets,  // a user who is to be deleted
  owns_models,
  dataset_needed,  // by a job that is not done, or a model in production
  job_state,
  job_protected,
  model_name_taken,
  model_serving,
  model_protected,
  no_rollback,
  node_known,  // a member with this id is there, or was
  last_node,
  last_active,  // the others are being drained
  last_copies,  // a node that is to be removed has them: the message says of what
  no_quorum,    // Errc::unavailable: too few nodes are reachable to change anything
};
Refusal refusal_of(const Error& error) noexcept;

// What a command changed; told after it was applied, on the loop thread.
struct Change {
  enum class Kind : std::uint8_t {
    cluster,
    users,
    sessions,
    tokens,
    settings,
    nodes,
    audit,
    datasets,
    operations,
    jobs,
    models
  };
  Kind kind = Kind::cluster;
  std::string id;               // the object's, or empty for several
  std::uint64_t audit_seq = 0;  // Kind::audit
};

}  // namespace samovar::cluster
