// May a node with this id be added? Pure.
//
// Once a row is committed, the node may still not have heard of it: it was restarted at the last step, its
// disk failed, its line was lost for good. Then approving it again must find the row and go on, or there
// would be a half member for ever. But a node that has had a vote and has forgotten must not come back under
// its id: it could vote twice in one term.
//
// Threading: any thread.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "daemon/cluster/types.hpp"

namespace samovar::daemon {

// What the cluster knows of an id.
struct KnownNode {
  std::optional<cluster::NodeRecord> row;
  bool voter = false;  // in the log's configuration, now
  bool up = false;     // connected to this member just now
};

enum class Admission : std::uint8_t {
  fresh,  // commit its row
  again,  // its row is there already, and nobody behind it
};

// Errc::denied with the reason and the remedy. The keys are those the node shows now; empty ones are not
// compared.
Result<Admission> may_be_admitted(const KnownNode& known, const Bytes& sign_public, const Bytes& box_public);

}  // namespace samovar::daemon
