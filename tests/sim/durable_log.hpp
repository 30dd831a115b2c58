// A toy cluster for the simulator's own test: a client appends numbers to five nodes, each node
// writes them to its disk, syncs in batches and acknowledges; three acknowledgements make a number
// durable. Small enough to see through, and wrong in one well-known way when asked to be.
//
// Everything runs on the one thread of the simulation, under one seed.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/sim/sim_disk.hpp"
#include "base/sim/sim_loop.hpp"
#include "base/sim/sim_transport.hpp"

namespace samovar::test {

enum class Ack : std::uint8_t { after_sync, before_sync };  // the second is the planted bug

// Lives from boot to crash; only its disk remains.
class LogNode {
 public:
  LogNode(SimScheduler& world, SimNetwork& network, Disk& disk, const std::string& name, Ack ack);

 private:
  struct Waiting {
    std::string client;
    std::uint64_t number;
  };
  void on_message(const std::string& from, ByteView message);
  void sync();
  void acknowledge(const Waiting& to);

  SimLoop loop_;
  std::unique_ptr<SimTransport> transport_;
  const Ack ack_;
  std::unique_ptr<File> file_;
  std::uint64_t end_ = 0;
  std::set<std::uint64_t> stored_;  // also those not synced yet
  std::vector<Waiting> waiting_;    // for the next sync
  bool sync_armed_ = false;
};

// What a node finds on its disk when it boots.
std::set<std::uint64_t> recover(Disk& disk, std::uint64_t* end = nullptr);

class LogClient {
 public:
  LogClient(SimScheduler& world, SimNetwork& network, std::vector<std::string> nodes, std::uint64_t numbers);
  const std::set<std::uint64_t>& durable() const { return durable_; }
  bool done() const { return durable_.size() == numbers_; }

 private:
  void tick();

  SimScheduler& world_;
  SimLoop loop_;
  std::unique_ptr<SimTransport> transport_;
  const std::vector<std::string> nodes_;
  const std::uint64_t numbers_;
  std::uint64_t next_ = 1;
  std::map<std::uint64_t, std::set<std::string>> acks_;
  std::set<std::uint64_t> durable_;
};

struct Outcome {
  std::uint64_t trace = 0;
  std::uint64_t acknowledged = 0;
  std::uint64_t crashes = 0;
  bool finished = false;            // every number became durable in the end
  std::vector<std::uint64_t> lost;  // acknowledged, but not on three disks any more
};

// Five nodes and a client under one seed, with crashes, loss, duplication and partitions.
Outcome run_durable_log(std::uint64_t seed, Ack ack);

}  // namespace samovar::test
