// Who asks, and may they: the guard that runs before every handler.
//
//   phase → who (cookie, bearer session, API token) → CSRF → role and scope → fresh password
//
// Threading: loop only.
#pragma once
#include <chrono>
#include <optional>
#include <string>

#include "daemon/api/router.hpp"
#include "daemon/api/services.hpp"
#include "security/hash.hpp"

namespace samovar::api {

inline constexpr std::string_view kSessionCookie = "__Host-samovar";
inline constexpr std::string_view kDeviceCookie = "__Host-samovar-device";
inline constexpr std::chrono::minutes kReauthValid{5};
inline constexpr std::chrono::minutes kBearerIdleMax{60};
inline constexpr std::int64_t kIdleMinutesDefault = 15;

// Values of Access::with_scope that are no scopes of tokens.
inline constexpr std::string_view kNoToken = "never";
inline constexpr std::string_view kAnyToken = "any";

struct Caller {
  cluster::User user;
  std::optional<cluster::Session> session;  // or
  std::optional<cluster::Token> token;
  security::Hash256 session_hash{};  // with session
};

Guard make_guard(Services& services);

// Finds the session or token of a request; an answer (401, 403) when there is none that counts.
struct Identified {
  std::shared_ptr<const Caller> caller;
  std::optional<Response> refused;
};
Identified identify(Services& services, const Request& request);

// A session that is neither past its absolute end nor idle for too long.
bool is_live(Services& services, const cluster::Session& session);
WallTime idle_end(Services& services, const cluster::Session& session);
bool freshly_authenticated(Services& services, const Caller& caller);
Response reauth_required(const Request& request);

// The command's actor. `request_id` makes it happen once; empty: a fresh one.
cluster::Call call_of(const Request& request, std::string request_id = {});

Role to_api(cluster::Role role) noexcept;
inline bool is_unsafe(Method method) noexcept {
  return method != Method::get && method != Method::head && method != Method::options;
}

}  // namespace samovar::api
