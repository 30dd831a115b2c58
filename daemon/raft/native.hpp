// libraft's types, and what this folder keeps beside them. Seen by this folder's .cpp files only.
//
// Threading: loop only.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/loop.hpp"
#include "daemon/raft/members.hpp"
#include "daemon/raft/pieces.hpp"
#include "daemon/raft/raft_handle.hpp"

// libraft's headers have no guard of their own, and its structs share names with its functions.
extern "C" {
#include <raft.h>
#include <raft/uv.h>
}

namespace samovar::raft {

constexpr unsigned kElectionAloneMs = 5000;  // nobody to hear from

// The states of a raft_progress, which libraft keeps to itself.
enum class Progress : unsigned short { probe = 0, pipeline = 1, snapshot = 2 };

// Entries of libraft's log, by index; nullptr and 0: not there (any more).
const raft_entry* entry_at(const struct ::raft& raft, std::uint64_t index);
std::uint64_t term_at(const struct ::raft& raft, std::uint64_t index);

Error error_of_raft(const char* doing, int rc, const std::string& detail);

struct RaftHandle::Native {
  Native(LogHost& ground, RaftEvents& target);

  static Native& of(raft_io* io) {
    return *static_cast<Native*>(static_cast<struct ::raft*>(io->data)->data);
  }
  static Native& of(raft_fsm* fsm) { return *static_cast<Native*>(fsm->data); }

  Result<void> start(const ConsensusOptions& options, std::uint64_t known_committed);
  std::uint64_t now() { return io->time(io); }
  bool is_leader() const { return raft_state(const_cast<struct ::raft*>(&raft)) == RAFT_LEADER; }
  unsigned voters() const;
  bool is_voter() const;
  int place_of(std::uint64_t id) const;  // in the configuration; -1: not there
  raft_progress* progress_of(std::uint64_t id);

  // raft_disk.cpp: what libraft writes.
  void wrap_disk();
  bool apply_known(std::uint64_t index);
  void take_members(const MemberHistory::Entry& entry);
  static int load(raft_io*, raft_term*, raft_id*, raft_snapshot**, raft_index*, raft_entry**, size_t*);
  static void close(raft_io*, raft_io_close_cb);
  static int start_io(raft_io*, unsigned, raft_io_tick_cb, raft_io_recv_cb);
  static int append(raft_io*, raft_io_append*, const raft_entry*, unsigned, raft_io_append_cb);
  static int truncate(raft_io*, raft_index);
  static int snapshot_put(raft_io*, unsigned, raft_io_snapshot_put*, const raft_snapshot*,
                          raft_io_snapshot_put_cb);
  static int snapshot_get(raft_io*, raft_io_snapshot_get*, raft_io_snapshot_get_cb);

  // raft_mail.cpp: what libraft sends and gets.
  static int send(raft_io*, raft_io_send*, const raft_message*, raft_io_send_cb);
  void post(const std::string& to, Bytes message);
  void send_append(const std::string& to, const raft_message& message);
  void complete_sends();
  bool deliver();
  void deliver(const std::string& from, ByteView bytes, bool assembled);
  void receive(const std::string& from, const WireMessage& message);
  bool admit(const AppendMessage& message);
  bool admit(const SnapshotMessage& message);
  bool is_writing(std::uint64_t index, std::uint64_t term) const;
  bool must_wait_for_own_term() const;
  void after_message();

  // raft_elections.cpp: when an election begins, and whether the last leader still counts.
  static int random(raft_io*, int, int);
  void set_timers();
  bool admit(const VoteMessage& message, std::uint64_t from);
  void lost_link(std::uint64_t id);
  void found_link(std::uint64_t id);
  void forget_leader();

  // raft_handle.cpp
  void listen();
  void begin_term();
  std::uint64_t next_tick();
  bool tick();
  void arm();
  void close_now();
  void change(const char* doing, int begun, RaftHandle::Done done);
  void broken(const std::string& why);

  LogHost& host;
  RaftEvents& events;
  Wire* wire = nullptr;
  std::string self;
  unsigned election_ms = 0;  // with other members
  raft_io* io = nullptr;
  raft_io base{};  // the host's functions, behind ours
  raft_fsm fsm{};
  struct ::raft raft {};
  bool raft_ready = false;
  bool closing = false;
  bool closed = false;
  raft_io_close_cb io_closed = nullptr;
  bool muted = false;
  std::function<void()> on_closed;

  // What libraft asked for, at most one of each.
  struct raft_apply apply_request {};
  struct raft_barrier barrier_request {};
  struct raft_change change_request {};
  struct raft_transfer transfer_request {};
  RaftHandle::Done on_change;
  RaftHandle::Done on_transfer;
  std::uint64_t transfer_to = 0;
  std::uint64_t begun_term = 0;  // our barrier is on its way
  std::uint64_t ready_term = 0;  // and applied
  std::uint64_t spread_index = 0;

  // Disk.
  MemberHistory history;
  std::uint64_t installing_index = 0;  // a snapshot of another member is being written
  // A write of entries under way; libraft holds them until it has ended, whatever becomes of its log.
  struct Writing {
    std::uint64_t first = 0;  // index
    std::vector<std::uint64_t> terms;
  };
  std::list<Writing> writing;
  unsigned puts = 0;                 // snapshots being written
  unsigned gets = 0;                 // snapshots being read for others
  std::uint64_t truncate_begun = 0;  // counts
  std::uint64_t truncate_ended = 0;  // a write behind it has ended, so it has

  // Mail.
  struct Sent {
    raft_io_send* request;
    raft_io_send_cb done;
    int status;
  };
  struct Cut {
    std::uint64_t id;
    std::uint64_t libraft_next;
    std::uint64_t next;
  };
  std::vector<Sent> sent;
  std::vector<Cut> cuts;
  struct Mail {
    enum class Kind : std::uint8_t { message, link_down, link_up };
    Kind kind = Kind::message;
    std::string from;
    Bytes bytes;
  };
  std::deque<Mail> inbox;
  std::size_t inbox_bytes = 0;
  std::deque<std::pair<std::string, AppendResult>> held;
  std::map<std::uint64_t, std::uint64_t> heard;  // when, by member
  std::uint64_t delivering_end = 0;              // prev + entries of the append being delivered
  bool delivering_append = false;
  bool answering_another = false;  // a write ended that began under another leader
  std::uint64_t next_transfer = 0;
  PieceSender pieces_out;
  PieceCollector pieces_in;
  bool nudge = false;

  // Elections.
  std::uint64_t lost_leader = 0;  // its connection broke, and nothing was heard of it since
  unsigned tries = 0;             // elections in a row that nobody won

  // Time.
  raft_io_tick_cb tick_cb = nullptr;
  raft_io_recv_cb recv_cb = nullptr;
  std::uint64_t ticked = 0;
  Loop::Id timer = 0;
  std::uint64_t timer_due = 0;
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);
};

}  // namespace samovar::raft
