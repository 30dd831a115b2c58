// The rows behind Neighbours: pure, with the bounds that a flood meets.
//
// At most 64 rows. A sender address gets 20 datagrams a second, all together 100 signature checks a second;
// what is above is dropped unread. A row's bytes are verified once: the same again is compared. When the
// table is full, a new node takes the place of one from the address that fills most rows, or of one long
// silent.
//
// Threading: values; one thread.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/clock.hpp"
#include "daemon/discovery/beacon.hpp"
#include "security/hash.hpp"

namespace samovar::discovery {

struct Neighbour {
  Beacon beacon;
  std::string address;     // "10.0.0.7": where it came from
  std::string interface;   // on which it was heard
  bool multicast = false;  // or unicast, from a seed
  MonoTime first_seen{};
  MonoTime last_seen{};
  bool duplicate_id = false;      // two senders claim this id: a cloned disk
  std::string duplicate_address;  // where the other one is
};

struct TableLimits {
  std::size_t rows_max = 64;
  std::size_t sources_max = 256;
  unsigned datagrams_per_second = 20;  // of one address
  unsigned checks_per_second = 100;    // of all
  Duration row_kept = std::chrono::seconds(90);
  Duration silent = std::chrono::seconds(20);         // another address or another start may take its place
  Duration duplicate_kept = std::chrono::minutes(2);  // after the last sign of it
};

enum class Heard : std::uint8_t {
  fresh,    // a new row, or one with new content
  same,     // known bytes
  own,      // our own beacon
  bad,      // no beacon, or its signature does not fit
  later,    // of a later format: another version of Samovar
  stale,    // older than what is known
  dropped,  // above a limit
};

class NeighbourTable {
 public:
  struct Source {
    std::string address;
    std::string interface;
    bool multicast = false;
  };

  NeighbourTable(std::string own_id, std::uint64_t own_boot, TableLimits limits = {});

  Heard hear(MonoTime now, ByteView datagram, const Source& source);
  // Of what hear() accepted last: does the sender want an answer? At most one per address and second.
  bool answer_wanted(MonoTime now, const Source& source);
  // Forgets what was not heard any more; true when a row went or changed.
  bool expire(MonoTime now);
  std::vector<Neighbour> list(MonoTime now) const;  // by first_seen
  std::size_t size() const { return rows_.size(); }
  std::uint64_t checks() const { return checks_; }  // signatures looked at so far
  std::size_t sources() const { return sources_.size(); }

 private:
  struct Row {
    Neighbour shown;
    std::vector<security::Hash256> verified;  // of this content: with and without the wish for an answer
    // The start that was there before, for telling a restart from a second sender.
    std::uint64_t other_boot = 0;
    std::string other_place;
    MonoTime other_seen{};
    MonoTime duplicate_until{};
  };
  struct Bucket {
    double tokens = 0;
    MonoTime filled{};
    MonoTime answered{};
  };

  bool admit_source(MonoTime now, const std::string& address);
  bool admit_check(MonoTime now);
  bool make_room(MonoTime now, const std::string& address);
  Heard hear_known(MonoTime now, Row& row, Beacon beacon, const Source& source);

  const std::string own_id_;
  const std::uint64_t own_boot_;
  const TableLimits limits_;
  std::map<std::string, Row> rows_;  // by node id
  std::map<std::string, Bucket> sources_;
  Bucket check_bucket_;
  std::uint64_t checks_ = 0;
  bool last_asked_ = false;
};

}  // namespace samovar::discovery
