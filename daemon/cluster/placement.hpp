// Where copies of sealed files belong, and what must move: pure functions of what is known.
//
// Rendezvous hashing weighted by capacity: each file ranks the nodes by a hash of (file, node); the first R
// that can hold it do. A node that comes or goes moves only the files whose first R it changes. Weights are
// set so that a node's share of all copies is that of its capacity, as far as one copy per file and node
// allows.
//
// Threading: values. The same code runs in the daemon, in the simulation and in unit tests.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/bytes.hpp"

namespace samovar::cluster {

struct StorageNode {
  std::string id;
  std::uint64_t capacity_bytes = 0;  // of its data disk: the weight
  std::uint64_t free_bytes = 0;      // beyond its reserve
  bool reachable = true;
  bool draining = false;  // keeps what it has until others have it; gets nothing new
};

struct StoredFile {
  std::string key;  // "dst_….1/0", "mdl_…/model": unique
  std::uint64_t bytes = 0;
  std::vector<std::string> holders;  // node ids, sorted
  unsigned wanted = 2;               // copies
  Bytes hash = {};  // SHA-256 of it as it lies on the disk; empty: kept before that was known
};

// 2, or 3 from four storage nodes on; never more than there are.
unsigned default_copies(std::size_t storage_nodes);

// Best first, at most `wanted`, only nodes that are reachable, not draining and have room or hold it already.
std::vector<std::string> choose_holders(const StoredFile& file, const std::vector<StorageNode>& nodes);

// The same for many files: what depends on the nodes alone is worked out once.
class Placer {
 public:
  explicit Placer(const std::vector<StorageNode>& nodes);
  std::vector<std::string> choose(const StoredFile& file);
  // Indices into the nodes: all that may get something new, best first.
  std::vector<std::size_t> rank(const std::string& key, unsigned wanted);

 private:
  const std::vector<double>& weights(unsigned wanted);

  std::vector<StorageNode> nodes_;
  std::vector<std::size_t> takers_;                  // reachable and not draining
  std::vector<std::uint64_t> hashes_;                // of the takers' ids
  std::vector<double> capacities_;                   // of the takers
  std::map<unsigned, std::vector<double>> weights_;  // of the takers, by copies wanted
};

struct Transfer {
  std::string key;
  std::uint64_t bytes = 0;
  std::vector<std::string> from;  // holders that can give it, best first
  std::string to;
};
struct Removal {
  std::string key;
  std::string node;  // holds more than is wanted
};
struct RepairPlan {
  std::vector<Transfer> transfers;  // most endangered first: fewest reachable copies
  std::vector<Removal> removals;    // only of files that have their copies without it
  std::uint64_t lost = 0;           // files without any copy that could be reached
};
// What to do next. `limit` transfers at most; a node that was unreachable for less than the grace period
// still counts as a holder (the caller leaves `reachable` true for it): a reboot must not move a terabyte.
RepairPlan plan_repair(const std::vector<StoredFile>& files, const std::vector<StorageNode>& nodes,
                       std::size_t limit);

// What a removal of `node` now would mean.
struct DrainPreview {
  std::uint64_t files = 0;  // it holds
  std::uint64_t bytes = 0;
  std::uint64_t last_copies = 0;   // files whose only reachable copy it has
  std::uint64_t below_wanted = 0;  // files that would have fewer copies than wanted
  bool fits_elsewhere = true;
};
DrainPreview preview_drain(const std::vector<StoredFile>& files, const std::vector<StorageNode>& nodes,
                           const std::string& node);

}  // namespace samovar::cluster
