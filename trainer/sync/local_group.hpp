// A group whose workers are threads of one process: for tests, the lab and benches. Members can be cut off,
// added and slowed down while they run.
//
// Threading: LocalGroup from any thread; each member's PeerGroup from the one thread that is that member.
// Ownership: owns the members' ends; it outlives the threads that use them.
#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

#include "trainer/sync/peer_group.hpp"

namespace samovar::trainer {

class LocalGroup {
 public:
  // The members of the first epoch are 0, 1, … with these blocks.
  // Where blocks go round, a member has in each pass those that the next one had in the pass before.
  enum class Blocks : std::uint8_t { stay, go_round };
  explicit LocalGroup(const std::vector<std::vector<std::uint32_t>>& blocks, Blocks how = Blocks::stay);
  ~LocalGroup();
  LocalGroup(const LocalGroup&) = delete;
  LocalGroup& operator=(const LocalGroup&) = delete;

  PeerGroup& member(std::uint32_t number);

  // The member's next call gives Errc::unavailable; for the others a new epoch begins. `heir`, if there is
  // one, has its blocks from then on.
  void cut(std::uint32_t number, std::optional<std::uint32_t> heir = std::nullopt);
  // A new member with the next number; it is told the others, and they of it, in a new epoch. `from`: who
  // gives it the later half of its blocks.
  std::uint32_t add(std::optional<std::uint32_t> from = std::nullopt);
  // What is sent to the member from now on arrives so much later.
  void delay(std::uint32_t number, std::chrono::milliseconds by);
  // The member's next receive gives Errc::conflict.
  void stop(std::uint32_t number);

  std::uint64_t bytes_sent(std::uint32_t number) const;
  std::uint64_t messages_sent(std::uint32_t number) const;

 private:
  class End;
  End& end(std::uint32_t number) const;
  // A new epoch for everybody; the lock is held.
  void tell();

  const Blocks how_;
  mutable std::mutex mutex_;
  // Under the mutex.
  std::uint64_t epoch_ = 1;
  std::map<std::uint32_t, std::unique_ptr<End>> ends_;
};

}  // namespace samovar::trainer
