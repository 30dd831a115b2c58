#include "daemon/api/services.hpp"

namespace samovar::api {

std::string_view to_string(Phase phase) noexcept {
  switch (phase) {
    case Phase::fresh:
      return "new";
    case Phase::locked:
      return "locked";
    case Phase::starting:
      return "starting";
    case Phase::joining:
      return "joining";
    case Phase::ready:
      return "ready";
    case Phase::removed:
      return "removed";
  }
  return "starting";
}

WallTime Services::now() const {
  cluster::Cluster* state = node.cluster();
  return state != nullptr ? state->now() : loop.clock().wall();
}

}  // namespace samovar::api
