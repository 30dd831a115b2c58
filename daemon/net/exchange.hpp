// Questions and answers over a Transport: topics, request ids, deadlines.
//
// Every message names its topic. `tell` is one-way and may be lost; `ask` gets exactly one result: the
// answer, the peer's error, Errc::unavailable (no way to it, or the way was cut: the outcome is unknown) or
// Errc::timeout. Nothing is repeated here: only who knows that a question is safe to repeat may repeat it.
//
// Threading: loop only. Ownership: borrows Loop and Transport, which outlive it.
// Format:    docs/formats/exchange.md
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/bytes.hpp"
#include "base/loop.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "base/transport.hpp"

namespace samovar::net {

// What a message is about. The numbers are on the wire: never reuse one.
enum class Topic : std::uint8_t {
  raft = 1,         // tell: a message of the consensus log (daemon/raft/wire.hpp)
  propose = 2,      // ask: a command for the leader
  node_report = 3,  // ask: what a node says of itself (sample, space, version, clock, links)
  blob_read = 4,    // ask, bulk: a piece of a sealed file
  blob_fetch = 5,   // ask: "fetch this file from one of these nodes, keep it durably"
  blob_check = 6,   // ask: which of these files do you hold, whole
  link_probe = 7,   // ask, either lane: the throughput meter's test
  farewell = 8,     // tell: "you were removed"
  job = 9,          // trainings over several nodes
};

struct AskOptions {
  Duration deadline = std::chrono::seconds(5);
  Lane lane = Lane::control;
};

struct ExchangeOptions {
  std::size_t open_max = 4096;  // our questions without a result yet, then Errc::busy
  std::size_t open_per_peer_max = 1024;
  std::size_t served_per_peer_max =
      512;  // a peer's questions we are still working on, then it gets Errc::busy
  std::uint64_t first_request =
      0;  // 0: drawn, so that answers to an earlier life fit no question of this one
};

class Exchange {
 public:
  using OnTell = std::function<void(const std::string& from, Bytes body)>;
  using OnAsk = std::function<Task<Result<Bytes>>(std::string from, Bytes body)>;

  // Takes the transport's on_message and on_lost for itself.
  Exchange(Loop& loop, Transport& transport, ExchangeOptions options = {});
  ~Exchange();  // open questions get Errc::unavailable
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  const std::string& self() const;
  // To ourselves works as well, without the transport.
  Result<void> tell(const std::string& to, Topic topic, Bytes body, Lane lane = Lane::control);
  Task<Result<Bytes>> ask(std::string to, Topic topic, Bytes body, AskOptions options = {});
  // One handler each; a topic without one answers Errc::unsupported (an older version asks or is asked).
  void on_tell(Topic topic, OnTell handler);
  void on_ask(Topic topic, OnAsk handler);
  // The way to a peer is gone: its open questions end with Errc::unavailable now instead of at their
  // deadline. A transport that notices by itself has said so already.
  void lost(const std::string& peer);
  std::size_t open_questions() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // shared: work under way ends after us
};

}  // namespace samovar::net
