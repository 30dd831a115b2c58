// Virtual time: a scheduler for the whole simulated world, and one loop per simulated node.
//
// Nothing waits: time jumps to the next event. Work of one loop runs in the order a real loop would
// run it; which of several loops goes first at the same instant is drawn from the seed. Destroying a
// SimLoop is the node's crash: what it had pending never runs.
//
// Threading: one thread for everything.
// Ownership: the scheduler outlives its loops.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/loop.hpp"
#include "base/sim/sim_clock.hpp"
#include "base/sim/sim_rng.hpp"

namespace samovar {

class SimLoop;

class SimScheduler {
 public:
  explicit SimScheduler(std::uint64_t seed) : rng_(seed) {}

  SimClock& clock() { return clock_; }
  SimRng& rng() { return rng_; }

  // Runs one event; false when nothing is pending.
  bool step();
  // Runs what is due within `span`, then stands at its end.
  void run_for(Duration span);
  // Until `done` holds; false when it did not within `limit` or nothing is pending any more.
  bool run_until(const std::function<bool()>& done, Duration limit);

  // A hash of every event run and everything noted: two runs of one seed must agree.
  std::uint64_t trace_hash() const { return trace_; }
  void note(std::string_view what);

 private:
  friend class SimLoop;
  bool next_time(MonoTime& when);
  void mix(std::uint64_t value);

  SimClock clock_;
  SimRng rng_;
  std::vector<SimLoop*> loops_;  // in order of birth
  const SimLoop* running_ = nullptr;
  std::uint64_t born_ = 0;
  std::uint64_t trace_ = 0xcbf29ce484222325;
};

struct SimLoopOptions {
  Duration timer_late_max{};  // each timer is late by 0 to this, drawn from the seed
};

class SimLoop : public Loop {
 public:
  explicit SimLoop(SimScheduler& scheduler, SimLoopOptions options = {});
  ~SimLoop() override;
  SimLoop(const SimLoop&) = delete;
  SimLoop& operator=(const SimLoop&) = delete;

  SimClock& clock() override { return clock_; }
  bool in_loop() const override;
  void post(Work work) override { post_in(Duration::zero(), std::move(work)); }
  // What reaches the loop from outside after a while, such as a message on its way.
  void post_in(Duration delay, Work work);
  Id after(Duration delay, Work work) override;
  void cancel(Id timer) override;
  // A real fd, looked at between events: deterministic when the simulation itself writes to it.
  Id watch(int fd, Work readable) override;
  void unwatch(Id watch) override;

  std::size_t pending() const { return events_.size(); }

 private:
  friend class SimScheduler;
  using Due = std::pair<MonoTime, Id>;
  struct Watch {
    int fd;
    Work readable;
  };
  void poll_watches();

  SimScheduler& scheduler_;
  const SimLoopOptions options_;
  const std::uint64_t number_;  // in order of birth, for the trace
  SimClock clock_;              // this node's view: its own wall clock
  Id last_id_ = 0;
  std::map<Due, Work> events_;
  std::map<Id, MonoTime> timers_;
  std::map<Id, Watch> watches_;
  const std::thread::id thread_ = std::this_thread::get_id();
};

}  // namespace samovar
