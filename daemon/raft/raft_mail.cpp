// libraft's network: its messages as ours over the Wire, and what 0.15 gets wrong in them put right.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.hpp"
#include "base/log.hpp"
#include "daemon/raft/log_host.hpp"
#include "daemon/raft/native.hpp"
#include "daemon/raft/wire.hpp"

namespace samovar::raft {
namespace {

// Entries in one message, and in one to a member that may not be there at all.
constexpr std::size_t kAppendBytes = 512 * 1024;
constexpr std::size_t kProbeBytes = 4 * 1024;
constexpr std::size_t kMessageBytes = 1024 * 1024;  // longer ones are cut into pieces
constexpr std::size_t kHeldMax = 1024;

ByteView view(const raft_buffer& buffer) {
  return {static_cast<const std::uint8_t*>(buffer.base), buffer.len};
}

void* copy_of(ByteView bytes) {
  void* copy = raft_malloc(bytes.size());
  SAMOVAR_ASSERT(copy != nullptr);
  std::memcpy(copy, bytes.data(), bytes.size());
  return copy;
}

// libraft frees the array, and one batch that all entries point into.
void fill(raft_append_entries& out, const AppendMessage& in) {
  out.term = in.term;
  out.prev_log_index = in.prev_index;
  out.prev_log_term = in.prev_term;
  out.leader_commit = in.commit;
  out.entries = nullptr;
  out.n_entries = static_cast<unsigned>(in.entries.size());
  if (in.entries.empty()) return;
  std::size_t total = 0;
  for (const RawEntry& entry : in.entries) total += entry.data.size();
  auto* batch = static_cast<std::uint8_t*>(raft_malloc(total));
  out.entries = static_cast<raft_entry*>(raft_calloc(in.entries.size(), sizeof(raft_entry)));
  SAMOVAR_ASSERT(batch != nullptr && out.entries != nullptr);
  std::size_t at = 0;
  for (std::size_t i = 0; i < in.entries.size(); ++i) {
    const RawEntry& entry = in.entries[i];
    std::memcpy(batch + at, entry.data.data(), entry.data.size());
    out.entries[i].term = entry.term;
    out.entries[i].type = static_cast<unsigned short>(entry.type);
    out.entries[i].buf.base = batch + at;
    out.entries[i].buf.len = entry.data.size();
    out.entries[i].batch = batch;
    at += entry.data.size();
  }
}

void fill(raft_install_snapshot& out, const SnapshotMessage& in) {
  out.term = in.term;
  out.last_index = in.last_index;
  out.last_term = in.last_term;
  out.conf_index = in.members_index;
  raft_configuration_init(&out.conf);
  for (const LogServer& server : in.servers) {
    const int rc =
        raft_configuration_add(&out.conf, server.id, server.node_id.c_str(), static_cast<int>(server.role));
    SAMOVAR_ASSERT(rc == 0);
  }
  out.data.base = copy_of(in.data);
  out.data.len = in.data.size();
}

SnapshotMessage snapshot_of(const raft_install_snapshot& in) {
  SnapshotMessage out;
  out.term = in.term;
  out.last_index = in.last_index;
  out.last_term = in.last_term;
  out.members_index = in.conf_index;
  for (unsigned i = 0; i < in.conf.n; ++i) {
    const raft_server& server = in.conf.servers[i];
    out.servers.push_back({server.id, server.address, static_cast<Role>(server.role)});
  }
  out.data = view(in.data);
  return out;
}

// libraft takes entries whose place is behind its snapshot for new ones, and puts them at the end of its log:
// a late message of when the log was empty could do that. What the snapshot holds is agreed on, so that every
// leader since has it, and the message says the same without it.
AppendMessage beyond_snapshot(const struct ::raft& raft, const AppendMessage& message) {
  AppendMessage rest = message;
  const auto& snapshot = raft.log.snapshot;
  if (message.prev_index >= raft.log.offset || message.prev_index >= snapshot.last_index) return rest;
  const std::uint64_t known =
      std::min<std::uint64_t>(snapshot.last_index - message.prev_index, message.entries.size());
  rest.entries.erase(rest.entries.begin(), rest.entries.begin() + static_cast<std::ptrdiff_t>(known));
  rest.prev_index = snapshot.last_index;
  rest.prev_term = snapshot.last_term;
  return rest;
}

}  // namespace

void RaftHandle::Native::post(const std::string& to, Bytes message) {
  if (wire != nullptr && !muted) wire->send(to, std::move(message));
}

// Never fails: libraft frees what it sent twice when a send fails at the wrong moment.
int RaftHandle::Native::send(raft_io* io, raft_io_send* request, const raft_message* message,
                             raft_io_send_cb done) {
  Native& n = of(io);
  if (n.closing) return RAFT_CANCELED;
  const std::string to = message->server_address != nullptr ? message->server_address : "";
  int status = 0;
  bool later = false;
  if (!to.empty() && !n.muted && n.wire != nullptr) {
    switch (message->type) {
      case RAFT_IO_APPEND_ENTRIES:
        n.send_append(to, *message);
        break;
      case RAFT_IO_APPEND_ENTRIES_RESULT: {
        AppendResult m{message->append_entries_result.term, message->append_entries_result.rejected,
                       message->append_entries_result.last_log_index};
        // The leader asks by its next heartbeat, and is told what was compared with its own log.
        if (n.answering_another) break;
        // What lies behind the entries we compared may be of another leader: libraft reports it as well.
        if (n.delivering_append && m.rejected == 0) m.last_index = std::min(m.last_index, n.delivering_end);
        n.post(to, encode(m));
        break;
      }
      case RAFT_IO_REQUEST_VOTE: {
        const raft_request_vote& in = message->request_vote;
        n.post(to, encode(VoteMessage{in.term, in.candidate_id, in.last_log_index, in.last_log_term,
                                      in.disrupt_leader, in.pre_vote}));
        break;
      }
      case RAFT_IO_REQUEST_VOTE_RESULT: {
        const raft_request_vote_result& in = message->request_vote_result;
        n.post(to, encode(VoteResult{in.term, in.vote_granted, in.pre_vote == raft_tribool_true}));
        break;
      }
      case RAFT_IO_INSTALL_SNAPSHOT: {
        if (n.pieces_out.busy()) {
          status = RAFT_BUSY;
          break;
        }
        const SnapshotMessage m = snapshot_of(message->install_snapshot);
        n.pieces_out.start(to, ++n.next_transfer, encode_snapshot_head(m), m.data, n.now(),
                           [&n, request, done](bool arrived) {
                             n.sent.push_back({request, done, arrived ? 0 : RAFT_NOCONNECTION});
                           });
        later = true;
        break;
      }
      case RAFT_IO_TIMEOUT_NOW: {
        const raft_timeout_now& in = message->timeout_now;
        n.post(to, encode(TimeoutNowMessage{in.term, in.last_log_index, in.last_log_term}));
        break;
      }
      default:
        break;
    }
  }
  if (!later) n.sent.push_back({request, done, status});
  return 0;
}

// libraft puts everything a member lacks into one message, and sends it again every second to one that is not
// there. Ours hold a bounded part; the rest follows the answer.
void RaftHandle::Native::send_append(const std::string& to, const raft_message& message) {
  const raft_append_entries& in = message.append_entries;
  const raft_progress* progress = progress_of(message.server_id);
  const bool probe = progress == nullptr || static_cast<Progress>(progress->state) != Progress::pipeline;
  const std::size_t most = probe ? kProbeBytes : kAppendBytes;
  AppendMessage m;
  m.term = in.term;
  m.prev_index = in.prev_log_index;
  m.prev_term = in.prev_log_term;
  std::size_t total = 0;
  for (unsigned i = 0; i < in.n_entries; ++i) {
    const raft_entry& entry = in.entries[i];
    if (total + entry.buf.len > most && (probe || i > 0)) break;
    m.entries.push_back({entry.term, static_cast<EntryType>(entry.type), view(entry.buf)});
    total += entry.buf.len;
  }
  const std::uint64_t end = m.prev_index + m.entries.size();
  if (!probe && m.entries.size() < in.n_entries)
    cuts.push_back({message.server_id, in.prev_log_index + in.n_entries + 1, end + 1});
  // A receiver takes everything it has up to here for agreed on, so it must have got it from us.
  m.commit = std::min<std::uint64_t>(in.leader_commit, end);
  Bytes bytes = encode(m);
  if (bytes.size() <= kMessageBytes) return post(to, std::move(bytes));
  send_in_pieces([this](const std::string& whom, Bytes piece) { post(whom, std::move(piece)); }, to,
                 ++next_transfer, bytes);
}

void RaftHandle::Native::complete_sends() {
  while (!sent.empty()) {
    auto finished = std::exchange(sent, {});
    for (const Sent& one : finished)
      if (one.done != nullptr) one.done(one.request, one.status);
  }
}

bool RaftHandle::Native::deliver() {
  bool any = false;
  // Answers that had to wait for our own term.
  while (!held.empty() && !must_wait_for_own_term()) {
    auto [from, result] = std::move(held.front());
    held.pop_front();
    receive(from, result);
    any = true;
  }
  // A bounded number: others wait for the loop too.
  for (int i = 0; i < 64 && !inbox.empty() && !muted && !closing; ++i) {
    const Mail mail = std::move(inbox.front());
    inbox.pop_front();
    inbox_bytes -= mail.bytes.size();
    any = true;
    if (mail.kind == Mail::Kind::link_down) {
      lost_link(raft_id_of(mail.from));
    } else if (mail.kind == Mail::Kind::link_up) {
      found_link(raft_id_of(mail.from));
    } else {
      deliver(mail.from, mail.bytes, false);
    }
  }
  pieces_out.poll(now());
  pieces_in.poll(now());
  // While pieces arrive, libraft's own timeout must not run out.
  if (pieces_out.busy() && is_leader()) {
    if (raft_progress* progress = progress_of(raft_id_of(pieces_out.to())))
      progress->snapshot_last_send = now();
  }
  return any;
}

void RaftHandle::Native::deliver(const std::string& from, ByteView bytes, bool assembled) {
  auto message = decode(bytes);
  if (!message) {
    SAMOVAR_LOG(warn, raft, "a message of another member makes no sense", kv("from", from),
                kv("why", message.error().message()));
    return;
  }
  heard[raft_id_of(from)] = now();
  if (const auto* piece = std::get_if<PieceMessage>(&*message)) {
    if (assembled) return;
    if (const auto whole = pieces_in.add(from, *piece, now())) deliver(from, *whole, true);
    return;
  }
  if (const auto* ack = std::get_if<PieceAck>(&*message)) return pieces_out.on_ack(from, *ack, now());
  receive(from, *message);
}

// Counting copies of an entry of an older term as agreement is the mistake of Raft's figure 8, and libraft
// makes it until the first entry of its own term is on its disk.
bool RaftHandle::Native::must_wait_for_own_term() const {
  return is_leader() && raft.last_stored > raft.commit_index &&
         term_at(raft, raft.last_stored) != raft.current_term;
}

bool RaftHandle::Native::admit(const AppendMessage& m) {
  if (m.term < raft.current_term) return true;  // refused by libraft, with our term
  if (is_leader() && m.term == raft.current_term) {
    SAMOVAR_LOG(error, raft, "two members lead in one term: is a disk cloned?", kv("term", m.term));
    return false;
  }
  for (const RawEntry& entry : m.entries)
    if (entry.type == EntryType::command && !events.on_foreign_entry(entry.data)) return false;
  std::size_t known = 0;
  while (known < m.entries.size() && term_at(raft, m.prev_index + 1 + known) == m.entries[known].term)
    ++known;
  const bool conflict = known < m.entries.size() && term_at(raft, m.prev_index + 1 + known) != 0;
  // libraft forgets to cut its log when it is asked to while a snapshot or another cut is under way. The
  // leader asks again.
  if (conflict && (puts > 0 || truncate_begun != truncate_ended)) return false;
  // libraft counts by number and term who uses an entry. One that was cut and comes again while its first
  // write is still under way would be counted as two, and freed under the one that stays.
  for (std::size_t i = known; i < m.entries.size(); ++i)
    if (is_writing(m.prev_index + 1 + i, m.entries[i].term)) return false;
  // Changes of members are taken back by truncate.
  raft.configuration_uncommitted_index = 0;
  return true;
}

bool RaftHandle::Native::is_writing(std::uint64_t index, std::uint64_t term) const {
  return std::any_of(writing.begin(), writing.end(), [&](const Writing& one) {
    return index >= one.first && index - one.first < one.terms.size() && one.terms[index - one.first] == term;
  });
}

bool RaftHandle::Native::admit(const SnapshotMessage& m) {
  if (m.term < raft.current_term) return true;
  if (is_leader() && m.term == raft.current_term) return false;
  if (puts > 0 || truncate_begun != truncate_ended) return false;
  // Before libraft gives up what it has for it.
  if (!events.on_foreign_snapshot(m.data)) return false;
  raft.configuration_uncommitted_index = 0;
  return true;
}

void RaftHandle::Native::receive(const std::string& from, const WireMessage& message) {
  raft_message out{};
  out.server_id = raft_id_of(from);
  out.server_address = from.c_str();
  bool was_snapshot = false;
  if (const auto* append = std::get_if<AppendMessage>(&message)) {
    complete_sends();  // they hold entries, as writes do
    const AppendMessage m = beyond_snapshot(raft, *append);
    if (!admit(m)) return;
    found_link(out.server_id);
    out.type = RAFT_IO_APPEND_ENTRIES;
    fill(out.append_entries, m);
    delivering_append = true;
    delivering_end = m.prev_index + m.entries.size();
  } else if (const auto* result = std::get_if<AppendResult>(&message)) {
    if (must_wait_for_own_term()) {
      if (held.size() < kHeldMax) held.emplace_back(from, *result);
      return;
    }
    raft_progress* progress = is_leader() ? progress_of(out.server_id) : nullptr;
    if (progress != nullptr) {
      was_snapshot = static_cast<Progress>(progress->state) == Progress::snapshot;
      // Asking for what comes before must not wait for the next heartbeat.
      if (result->rejected != 0) progress->last_send = 0;
    }
    out.type = RAFT_IO_APPEND_ENTRIES_RESULT;
    out.append_entries_result = {result->term, result->rejected, result->last_index};
  } else if (const auto* vote = std::get_if<VoteMessage>(&message)) {
    if (!admit(*vote, out.server_id)) return;
    out.type = RAFT_IO_REQUEST_VOTE;
    out.request_vote = {vote->term,      vote->candidate, vote->last_index,
                        vote->last_term, vote->disrupt,   vote->pre_vote};
  } else if (const auto* granted = std::get_if<VoteResult>(&message)) {
    out.type = RAFT_IO_REQUEST_VOTE_RESULT;
    out.request_vote_result = {granted->term, granted->granted,
                               granted->pre_vote ? raft_tribool_true : raft_tribool_false};
  } else if (const auto* snapshot = std::get_if<SnapshotMessage>(&message)) {
    if (!admit(*snapshot)) return;
    out.type = RAFT_IO_INSTALL_SNAPSHOT;
    fill(out.install_snapshot, *snapshot);
  } else if (const auto* now_lead = std::get_if<TimeoutNowMessage>(&message)) {
    out.type = RAFT_IO_TIMEOUT_NOW;
    out.timeout_now = {now_lead->term, now_lead->last_index, now_lead->last_term};
  } else {
    return;
  }
  // Who is asked for its vote may not have heard yet that it has one: the candidate's log says so, and is
  // ahead of ours. libraft refuses, and two members could never elect one of them again.
  const int place = out.type == RAFT_IO_REQUEST_VOTE ? place_of(raft.id) : -1;
  const int role = place < 0 ? RAFT_VOTER : raft.configuration.servers[place].role;
  if (place >= 0) raft.configuration.servers[place].role = RAFT_VOTER;
  recv_cb(io, &out);
  if (place >= 0) raft.configuration.servers[place].role = role;
  delivering_append = false;
  if (was_snapshot && is_leader()) {
    raft_progress* progress = progress_of(out.server_id);
    if (progress != nullptr && static_cast<Progress>(progress->state) == Progress::probe) {
      progress->last_send = 0;  // it has the snapshot: what follows it, now
      nudge = true;
    }
  }
  after_message();
}

void RaftHandle::Native::after_message() {
  for (const Cut& cut : std::exchange(cuts, {})) {
    raft_progress* progress = is_leader() ? progress_of(cut.id) : nullptr;
    if (progress != nullptr && static_cast<Progress>(progress->state) == Progress::pipeline &&
        progress->next_index == cut.libraft_next)
      progress->next_index = cut.next;
  }
  if (is_leader() && begun_term != raft.current_term) begin_term();
  if (raft_state(&raft) == RAFT_UNAVAILABLE && !closing && !muted)
    broken(std::string("the log stopped: ") + raft_errmsg(&raft));
}

}  // namespace samovar::raft
