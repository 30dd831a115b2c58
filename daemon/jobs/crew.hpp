// The workers of one training over several nodes: who takes part, on which blocks, from when on. Events in,
// orders out; nothing here waits, sends or reads a clock.
//
//   gather   nodes are chosen, each prepares (brings its shards, starts its worker); with all of them ready
//            the first epoch begins
//   work     one that is lost is left out at once, in an epoch of its own; its blocks go to others as soon as
//            those have the shards, in the next one. A node that comes, or whose worker died, prepares and
//            joins while the lead trains
//   over     nobody is left, or too few: the caller saves what there is and begins again when there are more
//
// Threading: values; loop only in the daemon.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "daemon/jobs/scheduler.hpp"

namespace samovar::jobs {

struct CrewRules {
  enum class Lost : std::uint8_t { go_on, replace, pause };
  unsigned nodes_min = 1;
  unsigned nodes_max = 0;  // 0: all
  Lost on_lost = Lost::go_on;
  bool together = true;                             // else one worker, and nobody joins
  std::optional<Rounds> rotate;                     // blocks go round between passes
  Duration silence_max = std::chrono::seconds(10);  // a worker's node that says nothing is lost
  Duration silence_cut = std::chrono::seconds(3);   // likewise when it cannot be reached
  Duration prepare_max = std::chrono::minutes(30);  // shards are brought meanwhile
  Duration rejoin_first = std::chrono::seconds(1);  // doubles with each death
  Duration rejoin_max = std::chrono::seconds(8);
  Duration gather_wait = std::chrono::seconds(1);  // for others, before too few begin
};

class Crew {
 public:
  enum class State : std::uint8_t { preparing, ready, working, done, lost };
  struct Worker {
    std::uint32_t number = 0;
    std::string node;
    State state = State::preparing;
    std::vector<std::uint32_t> blocks;  // of the current epoch
    std::set<std::uint32_t> shards;     // it was told to prepare
    std::uint64_t turn = 0;             // of the last order to prepare
    std::uint64_t ready_turn = 0;
    bool joined = false;  // after the first epoch
    MonoTime heard{};
    MonoTime since{};
    std::string error;
  };
  struct Prepare {
    std::uint32_t number = 0;
    std::uint64_t turn = 0;
    std::vector<std::uint32_t> shards;
  };
  struct Note {  // for people
    std::string kind;
    std::string node;
    std::string text;
  };
  struct Orders {
    std::vector<Prepare> prepare;
    std::vector<std::uint32_t> kill;  // they may not hear it
    bool announce = false;            // a new epoch: commit plan(), then tell everybody who works
    bool over = false;                // nobody works any more, or the rest is to save and stop
    std::vector<Note> notes;
  };

  // `plan`: of the run before; numbers and parts go on from there.
  Crew(BlockMap map, CrewRules rules, std::string home, const Plan& plan, std::uint64_t epoch);

  // Names for notes.
  void set_names(std::map<std::string, std::string> names) { names_ = std::move(names); }
  // Nodes that may take part now.
  void set_up(std::vector<std::string> up) { up_ = {up.begin(), up.end()}; }

  void ready(std::uint32_t number, std::uint64_t turn, MonoTime now);
  void heard(std::uint32_t number, MonoTime now);
  void ended(std::uint32_t number, bool good, std::string error, MonoTime now);
  // Its node has no room for it: likewise, and people are told why. That node is not up for the time being.
  void no_room(std::uint32_t number, std::string error, MonoTime now);
  // After each event and now and then. `trains`: the lead is in the phase in which others may join.
  Orders next(MonoTime now, bool trains);
  // Nobody is hired or given work any more; who falls silent is still noticed.
  void stop() { over_ = true; }

  bool begun() const noexcept { return begun_; }
  bool finished() const;  // somebody was done, and nobody works any more
  std::uint64_t epoch() const noexcept { return epoch_; }
  const std::map<std::uint32_t, Worker>& workers() const noexcept { return workers_; }
  const Worker* find(std::uint32_t number) const;
  std::vector<std::uint32_t> working() const;
  std::uint32_t lead() const;  // 0: nobody works
  const BlockMap& map() const noexcept { return map_; }
  Plan plan() const;
  // By node: who reads what in each pass of this epoch; none: the same in all.
  std::vector<Assignment> turns() const;
  std::string waiting_for() const { return waiting_for_; }
  std::string last_error() const { return last_error_; }

 private:
  std::string name(const std::string& node) const;
  Worker& hire(const std::string& node, MonoTime now);
  void lose(Worker& worker, std::string error, MonoTime now);
  void look_for_silence(MonoTime now, Orders& orders);
  void gather(MonoTime now, Orders& orders);
  void work(MonoTime now, bool trains, Orders& orders);
  void order_shards(Worker& worker, const std::vector<std::uint32_t>& blocks, Orders& orders, MonoTime now);
  std::vector<std::string> newcomers(MonoTime now) const;
  bool orphans() const;
  Assignment current() const;
  bool is_active(const Worker& worker) const;

  BlockMap map_;
  CrewRules rules_;
  std::string home_;
  std::map<std::string, std::string> names_;
  std::set<std::string> up_;
  std::map<std::uint32_t, Worker> workers_;
  std::uint32_t next_number_ = 1;
  std::uint64_t epoch_ = 0;
  std::uint64_t turn_ = 0;
  bool begun_ = false;
  bool over_ = false;
  bool left_ = false;                  // somebody was lost since the last announcement
  std::optional<Assignment> pending_;  // what is being prepared
  std::optional<MonoTime> gathering_since_;
  struct Deaths {
    unsigned count = 0;
    MonoTime last{};
  };
  std::map<std::string, Deaths> deaths_;  // by node
  std::vector<Note> notes_;
  std::string waiting_for_;
  std::string last_error_;
};

}  // namespace samovar::jobs
