// Who was heard: beacons sent and received on every suitable interface, and seed addresses asked in turn.
//
// Sends every 3 s while unclaimed and for a minute after a change, every 30 s as a settled member (members
// know each other). Interfaces come and go: looked at every 10 s; loopback, docker*, veth*, br-*, virbr* and
// tun* are left out unless named in the configuration. A seed gets a beacon that asks for an answer. At most
// 64 rows, and a flood costs nothing but its packets: neighbour_table.hpp.
//
// Threading: loop only. Ownership: borrows the Loop and the identity.
// Format:    docs/formats/beacon.md
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/loop.hpp"
#include "base/result.hpp"
#include "daemon/discovery/beacon.hpp"
#include "daemon/discovery/neighbour_table.hpp"

namespace samovar::discovery {

struct NeighbourOptions {
  std::vector<std::string> interfaces;  // empty: all suitable ones
  std::vector<std::string> seeds;       // "10.0.0.7" or "10.0.0.7:7446": beacons go there as unicast, too
  std::string group = kGroup;
  std::uint16_t port = kPort;
  bool loopback = false;  // also on lo: several nodes on one machine
  TableLimits limits;
};

struct InterfaceReport {  // for the doctor
  std::string name;
  std::vector<std::string> addresses;
  bool used = false;
  std::string why_not;  // when not used: "loopback", "container bridge", "down", "no IPv4 address"
  unsigned mtu = 0;
  std::uint64_t sent = 0;
  std::uint64_t heard = 0;      // good beacons of others
  std::uint64_t heard_own = 0;  // our own came back from the group: this computer's side of multicast works
  std::uint64_t bad = 0;
  std::uint64_t later = 0;  // of a later version of Samovar
  std::string trouble;      // the last error of sending
};

class Neighbours {
 public:
  static Result<std::unique_ptr<Neighbours>> open(Loop& loop, const security::NodeIdentity& identity,
                                                  NeighbourOptions options);
  ~Neighbours();
  Neighbours(const Neighbours&) = delete;
  Neighbours& operator=(const Neighbours&) = delete;

  // What we say of ourselves from now on; node_id, keys, boot and sequence are filled in. Sends at once.
  void announce(Beacon beacon);
  void set_seeds(std::vector<std::string> seeds);
  std::vector<Neighbour> list() const;  // heard within 90 s
  std::vector<InterfaceReport> interfaces() const;
  // What we send now, signed: the answer to "who is there?" at the join door. Empty before announce().
  const Bytes& datagram() const;
  // An answer that came another way, such as a "here" at the join door of an address somebody typed.
  // Errc::invalid when it is no good beacon.
  Result<Neighbour> note(ByteView datagram, const std::string& address);
  // A row came, changed, or went; at most once a second.
  void on_change(std::function<void()> listener);

 private:
  struct Impl;
  explicit Neighbours(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace samovar::discovery
