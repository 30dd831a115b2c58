#include "daemon/api/access.hpp"

namespace samovar::api {

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
  return "viewer";
}

std::optional<Role> role_from(std::string_view name) noexcept {
  for (const Role role : kAllRoles) {
    if (to_string(role) == name) return role;
  }
  return std::nullopt;
}

}  // namespace samovar::api
