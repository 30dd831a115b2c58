#include "daemon/join_rules.hpp"

namespace samovar::daemon {

Result<Admission> may_be_admitted(const KnownNode& known, const Bytes& sign_public, const Bytes& box_public) {
  if (!known.row) return Admission::fresh;
  const cluster::NodeRecord& row = *known.row;
  const std::string name = row.name.empty() ? "a node" : row.name;
  if (row.state == cluster::NodeState::removed)
    return Error{Errc::denied, "this node was removed from this cluster (as " + name +
                                   "): reset it to its factory state first (samovard --factory-reset), then "
                                   "add it under its new id"};
  if (known.up)
    return Error{Errc::denied,
                 "the member " + name +
                     " has this id and is connected: this machine has a copy of its disk. Reset this one "
                     "to its factory state (samovard --factory-reset), then add it under its new id"};
  const bool other_keys =
      (!sign_public.empty() && !row.sign_public.empty() && row.sign_public != sign_public) ||
      (!box_public.empty() && !row.box_public.empty() && row.box_public != box_public);
  if (known.voter || other_keys)
    return Error{Errc::denied, "the member " + name +
                                   " has this id, and this machine has forgotten that it is one: remove " +
                                   name +
                                   " under Nodes, reset the machine to its factory state (samovard "
                                   "--factory-reset), then add it under its new id"};
  return Admission::again;
}

}  // namespace samovar::daemon
