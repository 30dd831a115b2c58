// Carries what the workers of a job say to each other: from a worker on this node to the daemon of another,
// and from there into its worker.
//
//   worker ─ socket, shared memory ─▶ this daemon ─ pieces, bulk lane ─▶ other daemon ─▶ worker
//
// A message is answered for when the other worker has room for it, so a slow one slows down those who speak
// to it and nobody else: a worker has at most kPeerUnsentMax messages under way, a pair of workers at most
// kPeerWindow pieces, and a worker at most kPeerUnreadMax messages it has not read. What is said to one that
// is gone is dropped. Messages between two workers keep their order.
//
// Threading: loop only. Ownership: borrows Exchange, which outlives it.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/task.hpp"
#include "daemon/jobs/job_message.hpp"
#include "daemon/jobs/train_runner.hpp"
#include "daemon/net/exchange.hpp"

namespace samovar::jobs {

inline constexpr unsigned kPeerWindow = 8;

class PeerRelay {
 public:
  explicit PeerRelay(net::Exchange& exchange) : exchange_(exchange) {}
  ~PeerRelay();
  PeerRelay(const PeerRelay&) = delete;
  PeerRelay& operator=(const PeerRelay&) = delete;

  // A worker on this node; from now on messages for it are taken.
  void attach(const WorkerRef& worker, std::shared_ptr<WorkerLine> line);
  // Where the others are. Who is not named any more is not sent to.
  void set_members(const WorkerRef& worker,
                   const std::vector<std::pair<std::uint32_t, std::string>>& members);
  // It has begun and can be told what came; until then that waits.
  void begun(const WorkerRef& worker);
  void detach(const WorkerRef& worker);

  // From the worker here.
  void send(const WorkerRef& worker, PeerFrame frame, ingest::Descriptor body);
  void taken(const WorkerRef& worker, std::uint32_t count);
  // From another node.
  Task<Result<Bytes>> on_piece(std::string from, JobPiece piece);

  struct Traffic {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
  };
  Traffic traffic(const WorkerRef& worker) const;

 private:
  struct Outgoing {
    std::uint64_t epoch = 0;
    std::uint64_t message = 0;
    std::uint32_t bytes = 0;
    std::uint32_t given = 0;  // to the network
    unsigned open = 0;        // pieces without an answer
    bool failed = false;
    Bytes body;
    ingest::Descriptor file;
  };
  struct Way {                                      // to one other worker
    std::deque<std::shared_ptr<Outgoing>> waiting;  // shared: their pieces are under way
    unsigned open = 0;                              // pieces without an answer
  };
  struct Arriving {
    std::uint64_t message = 0;
    std::uint64_t epoch = 0;
    std::uint32_t total = 0;
    std::uint32_t came = 0;
    Bytes body;               // small
    ingest::Descriptor file;  // large
  };
  struct Arrived {
    std::uint32_t from = 0;
    Arriving what;
    std::function<void(bool)> delivered;
  };
  struct End {  // a worker here
    std::shared_ptr<WorkerLine> line;
    std::map<std::uint32_t, std::string> nodes;
    std::map<std::uint32_t, Way> ways;
    std::map<std::uint32_t, Arriving> arriving;  // by sender
    std::deque<Arrived> arrived;                 // wait for room in the worker
    bool begun = false;
    unsigned unread = 0;
    unsigned unsent = 0;  // messages of the worker that it was not told of
    std::uint64_t next_message = 1;
    Traffic traffic;
  };
  using EndPtr = std::shared_ptr<End>;  // shared: pieces under way end after it

  void pump(const WorkerRef& worker, const EndPtr& end, std::uint32_t to);
  Task<void> carry(WorkerRef worker, EndPtr end, std::uint32_t to, std::shared_ptr<Outgoing> message,
                   Bytes piece, std::string node);
  static void done(End& end, const Outgoing& message);
  static void hand_over(End& end);

  net::Exchange& exchange_;
  std::map<WorkerRef, EndPtr> ends_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // shared: tasks look at it
};

}  // namespace samovar::jobs
