// One worker's way to the other workers of its job: who they are, and messages to and from them.
//
// The trainer owns what is said; whoever implements this only carries it: the daemon between nodes, memory
// between threads.
//
// Who takes part changes while a job runs. Every change is an epoch, with a number above those before it. A
// member that is lost is no longer among the members of the next epoch; one that joins has a number that was
// never used before.
//
// Threading: one thread uses a group.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace samovar::trainer {

struct Membership {
  std::uint64_t epoch = 0;
  std::uint32_t self = 0;
  std::vector<std::uint32_t> members;  // ascending, self included
  // Of the data set: those whose rows are this worker's in this epoch. Every row belongs to one worker.
  std::vector<std::uint32_t> blocks;
  // Where blocks go round: those to train on, by pass, over and over; the first ones are `blocks`. In each of
  // them every row belongs to one worker. Empty: the same in every pass.
  std::vector<std::vector<std::uint32_t>> turns = {};

  // Merges what the others found, saves, and delivers the model.
  std::uint32_t lead() const noexcept { return members.empty() ? self : members.front(); }
  bool leads() const noexcept { return lead() == self; }
  bool has(std::uint32_t member) const noexcept {
    return std::binary_search(members.begin(), members.end(), member);
  }
};

// A longer body may be refused by those who carry it.
inline constexpr std::size_t kPeerMessageBytesMax = 4u << 20;

struct PeerMessage {
  std::uint32_t from = 0;
  std::uint64_t epoch = 0;  // of the sender, when it sent
  Bytes body;
};

class PeerGroup {
 public:
  virtual ~PeerGroup() = default;

  // As of the last receive(): it does not change in between.
  virtual const Membership& membership() const = 0;
  // Does not wait for the other. Messages of one sender come in their order; what is sent to one that is gone
  // is lost without an error.
  virtual Result<void> send(std::uint32_t to, ByteView body) = 0;
  // The same, for one that has no more use for the body.
  virtual Result<void> give(std::uint32_t to, Bytes body) { return send(to, body); }
  // Of the clock, that send() and give() were held up in all: what is under way must not fill the memory.
  virtual double seconds_blocked() const { return 0; }
  // A message; or nothing, when the time ran out or membership() is another one now. Errc::conflict: asked to
  // stop. Any other error: this worker is cut off and ends.
  virtual Result<std::optional<PeerMessage>> receive(std::chrono::milliseconds wait) = 0;
};

}  // namespace samovar::trainer
