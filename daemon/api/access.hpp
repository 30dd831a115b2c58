// Who may use a route. A route cannot be written down without saying so: Access has no default
// constructor, only named makers, so that forgetting the rights is a compile error.
//
// The engine only carries this; the guard given to the Server (the auth layer) enforces it.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace samovar::api {

enum class Role : std::uint8_t { admin, analyst, viewer, auditor, service };
inline constexpr Role kAllRoles[] = {Role::admin, Role::analyst, Role::viewer, Role::auditor, Role::service};
std::string_view to_string(Role role) noexcept;
std::optional<Role> role_from(std::string_view name) noexcept;

class Access {
 public:
  // No session needed.
  static constexpr Access anyone() { return {Kind::anyone, 0}; }
  // Any logged-in user or valid token, whatever the role.
  static constexpr Access any_user() { return {Kind::users, kEveryRole}; }
  // Only these roles.
  static constexpr Access roles(std::initializer_list<Role> allowed) {
    std::uint8_t bits = 0;
    for (const Role role : allowed) bits = static_cast<std::uint8_t>(bits | bit(role));
    return {Kind::users, bits};
  }

  // The password must have been typed within the last five minutes.
  constexpr Access with_reauth() const {
    Access copy = *this;
    copy.reauth_ = true;
    return copy;
  }
  // Also while the box is not set up or locked (set-up, unlock, session, health).
  constexpr Access in_every_phase() const {
    Access copy = *this;
    copy.every_phase_ = true;
    return copy;
  }
  // While the box is new there is nobody to log in: anyone may.
  constexpr Access open_when_new() const {
    Access copy = *this;
    copy.open_when_new_ = true;
    return copy;
  }
  // A token needs this scope; without one the scope follows from the method (read or write).
  constexpr Access with_scope(std::string_view scope) const {
    Access copy = *this;
    copy.scope_ = scope;
    return copy;
  }

  constexpr bool needs_user() const noexcept { return kind_ == Kind::users; }
  constexpr bool allows(Role role) const noexcept {
    return kind_ == Kind::anyone || (roles_ & bit(role)) != 0;
  }
  constexpr bool needs_reauth() const noexcept { return reauth_; }
  constexpr bool every_phase() const noexcept { return every_phase_; }
  constexpr bool is_open_when_new() const noexcept { return open_when_new_; }
  constexpr std::string_view scope() const noexcept { return scope_; }

 private:
  enum class Kind : std::uint8_t { anyone, users };
  static constexpr std::uint8_t kEveryRole = 0x1f;
  static constexpr std::uint8_t bit(Role role) {
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(role));
  }
  constexpr Access(Kind kind, std::uint8_t roles) : kind_(kind), roles_(roles) {}

  Kind kind_;
  std::uint8_t roles_;
  bool reauth_ = false;
  bool every_phase_ = false;
  bool open_when_new_ = false;
  std::string_view scope_;
};

}  // namespace samovar::api
