// The node that wants to be added: what happens at its door, and the limits that make six digits enough.
//
// One handshake at a time, at most five in ten minutes, each counts whether it led to anything or not, and
// none begins while a code is on the console: somebody between the two sides, who could try codes in silence,
// gets five guesses in a million per ten minutes, and each of them is shown.
//
//   waiting ──J1──▶ handshake ──J3──▶ code ──J4──▶ finishing ──J6──▶ done
//      ▲                │               │              │
//      └── line lost, refused, a check failed, late ◀──┘ (J5 was sent: the grant of J4 is remembered for ten
//                                                         minutes, for a J6 that comes over a new line)
//
// Nothing is kept before J6, which says that the cluster has committed the row. So a cut at any step leaves
// this node unclaimed, and once the row is committed the member goes on bringing J6.
//
// Threading: loop only. Ownership: borrows the loop and the identity.
// Format:    docs/formats/join.md
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/loop.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "daemon/net/join_line.hpp"
#include "security/identity.hpp"
#include "security/join.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::daemon {

struct JoinGuestLimits {
  unsigned handshakes_max = 5;
  Duration handshakes_window = std::chrono::minutes(10);
  Duration first_message = std::chrono::seconds(5);
  Duration step = std::chrono::seconds(15);        // the next message of the member's machine
  Duration code_shown = std::chrono::minutes(10);  // the person's turn
  Duration commit = std::chrono::seconds(45);      // from J5 to J6: the cluster agrees
  Duration grant_kept = std::chrono::minutes(10);  // for a J6 over a new line
  Duration linger = std::chrono::seconds(2);       // for the last message to leave
  unsigned lines_max = 4;
  unsigned words_failures_max = 5;
};

enum class GuestState : std::uint8_t { waiting, handshake, code, finishing, done };

struct GuestStatus {
  GuestState state = GuestState::waiting;
  std::string code;          // "418 902", in state code
  std::string cluster_name;  // who asks, or took us
  std::string remote;        // from where
  unsigned unfinished = 0;   // handshakes of the last ten minutes that led to nothing: for the console
  std::string trouble;       // how the last one ended; empty when all is well
  bool words = false;        // words were typed here: an invitation is waited for
};

struct JoinGuestHooks {
  std::function<security::JoinFacts()> facts;
  // This node's beacon, signed: the answer to "who is there?".
  std::function<Bytes()> who;
  // False while somebody sets this node up as a cluster of its own. Empty: always.
  std::function<bool()> may_begin;
  // Makes the grant durable. Once it is, this node is a member, whatever happens to the line.
  std::function<Task<Result<void>>(security::JoinGrant grant)> keep;
  // The status is another one.
  std::function<void()> changed;
  // After `keep`, when the member was told: close the door and go on as a member. From a post: the guest may
  // be destroyed in it.
  std::function<void()> joined;
};

class JoinGuest {
 public:
  JoinGuest(Loop& loop, const security::NodeIdentity& identity, JoinGuestHooks hooks,
            JoinGuestLimits limits = {});
  ~JoinGuest();  // ends all lines
  JoinGuest(const JoinGuest&) = delete;
  JoinGuest& operator=(const JoinGuest&) = delete;

  // A JoinDoor's OnLine.
  void take(std::unique_ptr<net::JoinLine> line);
  GuestStatus status() const;
  // A member may take this node without a code when it knows the same words. `ca_digest` (join_words.hpp) is
  // that of the cluster's authority, or empty. For `window`, once, at most five failures.
  void expect_words(security::SecretBytes words_key, std::string ca_digest, Duration window);
  void forget_words();
  // From now on every handshake is refused: this node was set up as a cluster of its own.
  void close();

 private:
  struct Impl;
  // Shared with the coroutines of its lines, which end a moment after the guest.
  std::shared_ptr<Impl> impl_;
};

}  // namespace samovar::daemon
