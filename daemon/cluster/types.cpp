#include "daemon/cluster/types.hpp"

namespace samovar::cluster {

std::string_view to_string(Role role) noexcept {
  switch (role) {
    case Role::admin:
      return "admin";
    case Role::analyst:
      return "analyst";
    case Role::viewer:
      return "viewer";
    case Role::auditor:
      return "auditor";
    case Role::service:
      return "service";
  }
  return "";
}

std::optional<Role> parse_role(std::string_view text) noexcept {
  for (const Role role : {Role::admin, Role::analyst, Role::viewer, Role::auditor, Role::service})
    if (text == to_string(role)) return role;
  return std::nullopt;
}

std::string_view to_string(SessionKind kind) noexcept {
  return kind == SessionKind::cookie ? "cookie" : "bearer";
}

std::string_view to_string(NodeState state) noexcept {
  switch (state) {
    case NodeState::active:
      return "active";
    case NodeState::draining:
      return "draining";
    case NodeState::removed:
      return "removed";
  }
  return "";
}

std::string_view to_string(AuthKind auth) noexcept {
  switch (auth) {
    case AuthKind::none:
      return "none";
    case AuthKind::password:
      return "password";
    case AuthKind::session:
      return "session";
    case AuthKind::token:
      return "token";
    case AuthKind::setup:
      return "setup";
    case AuthKind::system:
      return "system";
  }
  return "";
}

Actor Actor::system() {
  Actor actor;
  actor.username = "system";
  actor.auth = AuthKind::system;
  return actor;
}

}  // namespace samovar::cluster
