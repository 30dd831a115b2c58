// A cluster in one process, in virtual time, under one seed: the real replicated state, log, libraft,
// stewards, forwarding and copies of files of three to seven nodes, on simulated disks and a simulated
// network.
//
// A run has three parts. First a cluster is founded. Then, for a while, people write and bring data while
// nodes join and leave, crash and come back, disks fail, clocks jump, and the network loses, repeats, delays
// and splits. At last everything is mended, and what must hold then is looked at: see Verdict.
//
// Threading: one thread. Everything that is drawn comes from the seed: a run is repeated exactly.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/pool.hpp"
#include "base/sim/sim_disk.hpp"
#include "base/sim/sim_loop.hpp"
#include "base/sim/sim_transport.hpp"
#include "base/task.hpp"
#include "daemon/cluster/cluster.hpp"
#include "daemon/cluster/steward.hpp"
#include "daemon/jobs/replicas.hpp"
#include "daemon/net/exchange.hpp"

namespace samovar::test {

// Bugs that a run must find.
enum class Plant : std::uint8_t {
  none,
  ack_before_commit,  // the leader answers before anybody else has the change
  forget_shard,       // repair overlooks a file
  apply_twice,        // who asks again does not say that it is the same question
};

struct Verdict {
  std::uint64_t seed = 0;
  std::vector<std::string> violations;  // sentences; none: all is well
  std::uint64_t trace = 0;              // two runs of a seed agree
  // What happened, to see that a sweep hurts.
  std::uint64_t acknowledged = 0;
  std::uint64_t unknown = 0;  // writes whose outcome nobody was told
  std::uint64_t datasets = 0;
  std::uint64_t crashes = 0;
  std::uint64_t splits = 0;
  std::uint64_t disk_errors = 0;
  std::uint64_t joins = 0;
  std::uint64_t removals = 0;
  double seconds = 0;  // simulated
};

class ClusterWorld {
 public:
  ClusterWorld(std::uint64_t seed, Plant plant, bool talk = false);
  ~ClusterWorld();
  ClusterWorld(const ClusterWorld&) = delete;
  ClusterWorld& operator=(const ClusterWorld&) = delete;

  Verdict run();

 private:
  struct Node;
  struct Kept {  // a data set somebody was told is there
    std::string id;
    std::map<std::string, Bytes> hashes;  // by key
  };

  // cluster_world.cpp
  void in(Duration delay, std::function<void()> act);
  void pass(Duration time);
  void say(const std::string& what);
  void wrong(const std::string& what);
  Node& make_node();
  void start(Node& node, bool bootstrap, bool join);
  void bring_up(Node& node, bool bootstrap, bool join);
  // Something a node does: on its own loop, if it still lives then.
  void on(Node& node, std::function<void()> act);
  void crash(Node& node);
  bool together(const std::string& a, const std::string& b) const;
  bool found();
  void admit();
  Task<void> admit_through(Node& by, Node& fresh);
  void remove_one();
  Task<void> remove_through(Node& by, std::string id);
  std::vector<Node*> living();
  Node* any_member();
  Node* leader();
  void tell();
  std::vector<cluster::StorageNode> storage_nodes(const Node& self);

  // cluster_faults.cpp
  void people();
  Task<void> write(Node& node, std::string what);
  Task<void> bring_data(Node& node);
  Task<void> make_data(Node& node, Kept kept);
  void fate();
  void strike();
  void look_after();
  void mend_everything();

  // cluster_checks.cpp
  bool settled();
  void check_members();
  void check_writes();
  void check_states();
  void check_files();

  const std::uint64_t seed_;
  const Plant plant_;
  const bool talk_;
  SimScheduler scheduler_;
  SimRng rng_;
  SimNetwork network_;
  // People and fate: they act between events, on nobody's loop.
  std::multimap<MonoTime, std::function<void()>> agenda_;
  Pool io_{"io", 0, 1};
  std::vector<std::unique_ptr<Node>> nodes_;
  std::set<std::string> side_;  // of a split
  bool storm_ = true;           // things still happen
  std::string owner_;
  std::uint64_t writes_ = 0;
  std::set<std::string> acknowledged_;
  std::set<std::string> asked_;
  std::vector<Kept> kept_;
  std::map<std::string, std::pair<Node*, std::uint64_t>> making_;  // data sets, by whom, in which life
  unsigned wanted_nodes_ = 0;
  unsigned names_ = 0;
  MonoTime admitted_at_{};
  Verdict verdict_;
};

}  // namespace samovar::test
