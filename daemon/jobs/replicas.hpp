// Copies of sealed files over the nodes: given, fetched, spread before they count, brought where they are
// used, repaired when they are lost, mended when they rot.
//
//   replicas.cpp         birth, answering other nodes, what is here
//   replicas_fetch.cpp   one file from one of several nodes
//   replicas_spread.cpp  new files to those who shall hold them; asking others to fetch
//   replicas_bring.cpp   files to be read here; mending a damaged copy; what is no longer wanted here
//   replicas_repair.cpp  the leader's loop: what must move, and its pace
//   replicas_world.cpp   what the replicated state says
//
// A node holds a file when its record says so, which is only after the file is durable there. Beside those
// it may have copies that do not count: brought for work, or fetched before their manifest. Deleting is
// each node's own act: what the record does not name and nobody uses goes at the next look.
//
// Threading: loop only; disk work runs on the io pool.
// Ownership: borrows Loop, Rng, Exchange, Disk and the io pool, which outlive it. After stop() its tasks end
//            by themselves: destroy it when the exchange has ended its questions, or the loop stands still.
// Format:    docs/formats/blob.md
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/disk.hpp"
#include "base/loop.hpp"
#include "base/pool.hpp"
#include "base/result.hpp"
#include "base/rng.hpp"
#include "base/task.hpp"
#include "daemon/cluster/dataset_types.hpp"
#include "daemon/cluster/placement.hpp"
#include "daemon/jobs/blob_message.hpp"
#include "daemon/jobs/turns.hpp"
#include "daemon/net/exchange.hpp"
#include "daemon/store/blobs.hpp"

namespace samovar::cluster {
class Cluster;
}

namespace samovar::jobs {

// What it must know of the rest of the world. In the daemon: of the replicated state, and the nodes' reports.
struct ReplicaWorld {
  // All members but the removed ones, this one among them; `reachable` as of now.
  std::function<std::vector<cluster::StorageNode>()> nodes;
  std::function<std::vector<cluster::StoredFile>()> files;
  std::function<std::optional<cluster::StoredFile>(const std::string& key)> file;
  std::function<Task<Result<void>>(std::vector<cluster::CopyChange>)> change_copies;
  // After it the state here is at least as new as the leader's was when it began.
  std::function<Task<Result<void>>()> catch_up;
  std::function<bool()> leads;
  // Is something being made whose files come before their record? By "dst_…" or "mdl_…".
  std::function<bool(const std::string& id)> in_making;
  std::function<bool()> training;  // anywhere: repair gives way
};
ReplicaWorld world_of(cluster::Cluster& cluster, std::function<std::vector<cluster::StorageNode>()> nodes);

struct ReplicasOptions {
  std::string root;  // the data folder
  std::string node_id;
  store::SpaceRules space;
  std::size_t piece_bytes = kBlobPieceBytesMax;
  unsigned reads_at_once = 6;    // of one fetch
  unsigned fetches_at_once = 4;  // of this node
  Duration read_deadline = std::chrono::seconds(10);
  Duration answer_within = std::chrono::seconds(8);  // a fetch under way is answered so
  Duration grace = std::chrono::seconds(60);         // a node that went away still counts so long
  Duration repair_every = std::chrono::seconds(5);
  unsigned repairs_at_once = 3;
  std::uint64_t repair_bytes_per_second = 64u << 20;       // of all repairs together
  std::uint64_t repair_bytes_per_second_busy = 16u << 20;  // while trainings run
  Duration sweep_every = std::chrono::minutes(2);
  Duration unused_kept = std::chrono::hours(1);      // copies that do not count
  Duration unnamed_kept = std::chrono::minutes(15);  // files that come before their record
};

struct RepairStatus {
  std::uint64_t files = 0;
  std::uint64_t under_replicated = 0;  // fewer copies within reach than wanted
  std::uint64_t lost = 0;              // none within reach
  std::uint64_t moving = 0;            // files on their way now; known on the leader
  std::uint64_t bytes_left = 0;        // to be copied until all is well
};

class Replicas {
 public:
  // Without an exchange the box is alone for good.
  static Result<std::unique_ptr<Replicas>> open(Loop& loop, Rng& rng, net::Exchange* exchange, Disk& disk,
                                                Pool& io, ReplicaWorld world, ReplicasOptions options);
  ~Replicas();
  Replicas(const Replicas&) = delete;
  Replicas& operator=(const Replicas&) = delete;

  // Answers the other nodes from now on, looks after copies.
  void start();
  void stop();
  // Nodes, files or the leader changed: look soon, not at the next turn of the clock.
  void changed();

  bool alone() const;  // no other members
  Task<Result<void>> catch_up() const { return world_.catch_up(); }
  // How many copies a new file gets; `chosen` 0: as many as the box keeps by default.
  unsigned wanted(unsigned chosen) const;
  std::string self() const { return options_.node_id; }

  // Before a manifest: has the files, which lie here durably, copied to those who shall hold them. Per file,
  // in the same order, who has it for sure, sorted: fewer than wanted when there is no room or nobody to be
  // reached, at least this node. `holders` of the files is ignored.
  Task<std::vector<std::vector<std::string>>> spread(std::vector<cluster::StoredFile> files);

  // While one is held, the files stay readable here.
  class Hold;
  using HoldPtr = std::shared_ptr<Hold>;  // shared: streams and work on pools are copied
  // Makes files readable here. Errc::unavailable: no node that has one can be reached; Errc::corrupt: no
  // good copy is left; Errc::no_space.
  Task<Result<HoldPtr>> bring(std::vector<std::string> keys);

  enum class Mended : std::uint8_t {
    good,    // nothing was wrong
    mended,  // replaced by a good copy
    later,   // those who may have a good one cannot be reached now; this one is not given to anybody
    lost,    // no good copy is left
  };
  // This node's copy is said to be damaged: reads it, and replaces it.
  Task<Mended> mend(std::string key);
  // Known to be damaged here.
  bool damaged(const std::string& key) const { return damaged_.contains(key); }

  const RepairStatus& status() const { return status_; }
  // Removes now what is not wanted here, if the leader can be reached. The timer does it, too.
  Task<void> sweep();
  store::BlobDir& blobs() { return blobs_; }

 private:
  struct Fetch;
  using FetchPtr = std::shared_ptr<Fetch>;  // shared: its readers, who waits for it and the table have it
  struct Pull;
  struct Spreading;

  Replicas(Loop& loop, Rng& rng, net::Exchange* exchange, Pool& io, ReplicaWorld world,
           ReplicasOptions options, store::BlobDir blobs);

  // replicas.cpp
  bool is_member(const std::string& node);
  Task<Result<Bytes>> on_read(std::string from, Bytes body);
  Task<Result<Bytes>> on_fetch(std::string from, Bytes body);
  Task<Result<Bytes>> on_check(std::string from, Bytes body);
  // What is here of them, by length (0: any).
  Task<Result<std::vector<bool>>> look(std::vector<BlobCheck::File> files);
  // From the state: what to fetch, and from whom but us.
  Result<BlobFetch> wish_for(const std::string& key) const;

  // replicas_fetch.cpp
  FetchPtr begin_fetch(BlobFetch asked, bool replace);
  Task<Result<void>> fetch(BlobFetch asked, bool replace);
  Task<Result<BlobFetched>> wait_for(FetchPtr fetch, Duration limit);
  Task<void> run_fetch(FetchPtr fetch);
  Task<Result<void>> carry_out(FetchPtr fetch);
  Task<Result<bool>> is_here(FetchPtr fetch);
  Task<Result<void>> open_arrival(FetchPtr fetch, const std::string& source);
  Task<Result<void>> pull(FetchPtr fetch, std::string source);
  Task<Result<void>> read_pieces(FetchPtr fetch, std::string source, std::shared_ptr<Pull> pull);
  Task<Result<BlobPiece>> ask_piece(std::string source, const std::string& key, std::uint64_t offset,
                                    std::uint64_t length);
  Task<Result<void>> write_piece(FetchPtr fetch, std::uint64_t offset, Bytes bytes);
  Task<void> keep_pace(Fetch& fetch, std::size_t bytes);
  Task<Result<void>> take(FetchPtr fetch);
  void doubt(const std::string& source, const Fetch& fetch);

  // replicas_spread.cpp
  Task<Result<BlobFetched>> ask_fetch(std::string node, BlobFetch wish);
  Task<void> spread_some(std::shared_ptr<Spreading> work);
  Task<void> spread_one(std::shared_ptr<Spreading> work, std::size_t index);

  // replicas_bring.cpp
  Task<Result<void>> bring_one(std::string key);
  void release(const std::vector<std::string>& keys);
  Task<Mended> mend_now(std::string key);
  struct Known;  // what a sweep knows of the state
  bool wanted_here(const std::string& key, Known& known) const;

  // replicas_repair.cpp
  void arm_repair(Duration delay);
  void arm_sweep();
  void look_at_nodes(std::vector<cluster::StorageNode>& nodes);
  void repair();
  void count(const std::vector<cluster::StoredFile>& files, const std::vector<cluster::StorageNode>& nodes);
  Task<void> move(cluster::Transfer transfer, Bytes hash);
  Task<void> forget(std::vector<cluster::Removal> removals);
  Task<Result<std::vector<bool>>> ask_what_is_there(std::string node, std::vector<BlobCheck::File> files);
  Task<void> check_node(std::string node);

  // Constant after construction.
  Loop& loop_;
  Rng& rng_;
  net::Exchange* const exchange_;
  Pool& io_;
  const ReplicaWorld world_;
  const ReplicasOptions options_;

  // Loop only.
  const std::shared_ptr<Replicas*> alive_ = std::make_shared<Replicas*>(this);  // shared: holds look at it
  store::BlobDir blobs_;
  bool stopping_ = false;
  bool started_ = false;
  std::map<std::string, FetchPtr> fetches_;  // by key
  std::map<std::string, Bytes> whole_;       // files that were read whole since the start, with this hash
  std::map<std::string, unsigned> held_;     // how often, by key
  std::map<std::string, MonoTime> used_;     // copies that may not count: last used
  std::set<std::string> removing_;
  std::set<std::string> damaged_;
  std::map<std::string, std::vector<std::function<void(Mended)>>> mending_;
  std::set<std::string> members_;  // as of members_at_
  std::optional<MonoTime> members_at_;
  Turns fetch_turns_;
  Turns bring_turns_;

  RepairStatus status_;
  bool dirty_ = true;  // something changed since the last look
  bool led_ = false;
  std::map<std::string, MonoTime> away_since_;
  std::map<std::string, bool>
      counted_;                   // nodes that counted at the last look, and whether they were draining
  std::set<std::string> seen_;    // nodes that were within reach at the last look
  std::set<std::string> moving_;  // "key>node"
  std::map<std::string, MonoTime> put_off_;  // likewise: failed, not to be tried before
  std::set<std::string> forgetting_;
  Loop::Id repair_timer_ = 0;
  Loop::Id sweep_timer_ = 0;
};

// May end on any thread, and after the Replicas.
class Replicas::Hold {
 public:
  Hold(Replicas& replicas, std::vector<std::string> keys);
  ~Hold();
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

 private:
  Loop& loop_;
  const std::weak_ptr<Replicas*> replicas_;
  const std::vector<std::string> keys_;
};

}  // namespace samovar::jobs
