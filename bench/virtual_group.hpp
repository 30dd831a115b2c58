// A group of workers in virtual time: the real trainer, strategies and codecs on as many nodes as memory
// allows, whatever the machine has.
//
// Workers are threads that take turns: the one that is least far in virtual time runs, the others stand
// still. What it computes costs it the processor seconds that the process spent meanwhile (its reader's too);
// what it sends arrives when sender's and receiver's links, full duplex and one message after the other, have
// carried it. A worker that waits for a message is set forward to when it comes. So a run tells how long it
// would have taken on nodes that each have such a core, however busy this machine is.
//
// A worker whose turn begins finds the cache full of the others' models, as it would not on a node of its
// own. So it keeps its turn when it only looks whether something has come, until it is kTurnSeconds ahead of
// the one that is least far: that much later than modelled a message may be heard. That does not help against
// eight models that do not fit into one cache. With `step_seconds` a step costs what it is said to, by
// somebody who measured it of one worker that has the machine to itself, and turns are as short as a step;
// all else (what is said to others and heard of them, with its codec) still costs what it takes here. A step
// is what lies between a word with the others and the next look for one of theirs.
//
// Threading: begin, end and the member's PeerGroup from the member's thread; the rest when all have ended.
#pragma once
#include <condition_variable>
#include <limits>
#include <map>
#include <memory>
#include <mutex>

#include "trainer/sync/peer_group.hpp"

namespace samovar::bench {

struct VirtualLink {
  double bytes_per_second = 117e6;  // 1 Gbit/s without its headers
  double latency_seconds = 0.0002;
};

class VirtualGroup {
 public:
  // `rotate`: a member has in each pass the blocks that the next one had in the pass before; all are here.
  // `step_seconds`: see above; 0: what it takes here.
  VirtualGroup(const std::vector<std::vector<std::uint32_t>>& blocks, VirtualLink link, bool rotate = false,
               double step_seconds = 0);
  ~VirtualGroup();
  VirtualGroup(const VirtualGroup&) = delete;
  VirtualGroup& operator=(const VirtualGroup&) = delete;

  trainer::PeerGroup& member(std::uint32_t number);
  // First and last call of a member's thread. It begins when all have.
  void begin(std::uint32_t number);
  // Failed: all others are asked to stop.
  void end(std::uint32_t number, bool failed);

  // Of the member, in its turn.
  double seconds(std::uint32_t number);
  double waited(std::uint32_t number) const;
  // What its steps took here, of the processor.
  double stepped(std::uint32_t number) const;
  std::uint64_t messages_sent(std::uint32_t number) const;

 private:
  class End;
  static constexpr double kTurnSeconds = 0.008;
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  // Counts what was spent in this turn: on what was in between, or on a step.
  void charge(End& end, bool step = false);
  // Lets the one that is least far go on, and comes back when it is this one's turn. The lock is held.
  void hand_over(End& end, std::unique_lock<std::mutex>& lock);
  void wake_next();
  double turn_seconds() const { return step_seconds_ > 0 ? 0 : kTurnSeconds; }
  // Of those but this one, that which is least far.
  double others_least(const End& end) const;

  const VirtualLink link_;
  const double step_seconds_;
  std::mutex mutex_;
  // Under the mutex.
  std::vector<std::unique_ptr<End>> ends_;
  std::size_t begun_ = 0;
  bool stop_ = false;
  double turn_began_ = 0;  // of the process's processor seconds
};

}  // namespace samovar::bench
