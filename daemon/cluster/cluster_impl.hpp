// The inside of Cluster, shared by its files.
#pragma once
#include <memory>
#include <string>

#include "daemon/cluster/cluster.hpp"
#include "daemon/cluster/cluster_clock.hpp"
#include "daemon/cluster/command.hpp"
#include "daemon/cluster/forwarder.hpp"
#include "daemon/cluster/log_wire.hpp"
#include "daemon/cluster/rows.hpp"
#include "daemon/cluster/state_machine.hpp"

namespace samovar::cluster {

// Of commands that are refused when what they rely on has gone meanwhile.
inline constexpr unsigned kHeldLevel = 7;

struct Cluster::Impl {
  Impl(Loop& the_loop, Rng& the_rng) : loop(the_loop), rng(the_rng) {}

  // Proposes, and resumes with the decoded reply once it is durable and applied.
  Task<Result<Fields>> execute(Call call, std::string type, Fields body);
  // The same without a request id and for the node itself: done twice is done once, and is not recorded.
  Task<Result<Fields>> execute_quietly(std::string type, Fields body);
  Task<Result<Fields>> run(Call call, std::string type, Fields body);
  void connect();
  // And with the data set, job or model it was about.
  Task<Result<Dataset>> change_dataset(Call call, std::string type, Fields body);
  Task<Result<JobRecord>> change_job(Call call, std::string type, Fields body);
  Task<Result<NodeRecord>> change_node(Call call, std::string type, Fields body);
  Task<Result<Model>> change_model(Call call, std::string type, Fields body);
  std::string new_id(std::string_view prefix);
  // Of commands that every member understands.
  unsigned level() const { return level_of(machine->nodes()); }
  // Who carries it out: this node when nobody is named.
  void set_carrier(Fields& body, const std::string& named) const;
  WallTime now() const;
  std::optional<Duration> skew() const;  // of our clock against cluster time
  std::size_t members() const;           // with ourselves
  Result<void> may_ask(const std::string& node_id) const;
  Result<void> may_propose(const Command& command) const;
  // Nodes that this one has a way to, with itself: all, and those that vote.
  struct Sight {
    std::size_t here = 0;
    std::size_t all = 0;
    std::size_t voters_here = 0;
    std::size_t voters = 0;
    bool in_minority() const { return voters > 0 && voters_here <= voters / 2; }
  };
  Sight sight() const;
  bool votes(const std::string& which) const;
  Task<Result<void>> take_vote(Call call, std::string which);
  Task<Result<void>> until_voteless(std::string which);
  Error no_leader() const;
  Db& db() const { return machine->db(); }

  // Constant after construction.
  Loop& loop;
  Rng& rng;
  std::string cluster_id;
  std::string node_id;
  ClusterLinks links;
  // Loop only. The log is destroyed before the machine it drives and the wire it sends through.
  std::unique_ptr<ClusterMachine> machine;
  std::unique_ptr<LogWire> wire;
  std::unique_ptr<raft::ConsensusLog> log;
  std::unique_ptr<LogPort> port;
  std::unique_ptr<Forwarder> forwarder;                        // none: a box alone
  mutable ClusterClock clock;                                  // remembers what it saw last
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);  // for work posted to the loop
};

}  // namespace samovar::cluster
