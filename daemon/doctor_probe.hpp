// Who is at an address? TCP, TLS, and the question "who is there?", which a node that waits to be added
// answers with its signed beacon. A member does not answer strangers.
//
// Threading: loop only; the checks are pure.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "daemon/discovery/beacon.hpp"
#include "daemon/doctor.hpp"
#include "daemon/net/join_line.hpp"

namespace samovar::daemon {

// net::dial_join.
using DialJoin =
    std::function<Task<Result<std::unique_ptr<net::JoinLine>>>(std::string address, Duration deadline)>;

struct ProbeResult {
  enum class Step : std::uint8_t { connect, answer, beacon, done };  // the one that failed, or done
  std::string address;
  Step failed = Step::connect;
  std::optional<Error> error;
  std::optional<discovery::Beacon> beacon;  // done: verified
  Bytes datagram;                           // the same as bytes, for Neighbours::note
};

Task<ProbeResult> probe_address(DialJoin dial, std::string address, Duration deadline);

// With what this node knows besides: whether that address was heard, its own version and id.
std::vector<Check> examine_probe(const ProbeResult& result, const DoctorFacts& facts);

}  // namespace samovar::daemon
