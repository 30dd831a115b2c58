#include "daemon/jobs/peer_relay.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/log.hpp"
#include "base/metrics.hpp"

namespace samovar::jobs {
namespace {

using ingest::Descriptor;
using ingest::MessageType;

// A worker may be busy for long before it reads; a node that is gone ends its questions at once.
constexpr std::chrono::minutes kTakenWithin{10};

metrics::Counter& carried_bytes() {
  static metrics::Counter& counter =
      metrics::counter("samovar_job_peer_bytes_total", "Bytes that workers here sent to workers elsewhere.");
  return counter;
}
metrics::Counter& dropped() {
  static metrics::Counter& counter = metrics::counter(
      "samovar_job_peer_dropped_total", "Messages between workers that did not arrive: the other was gone.");
  return counter;
}

// The file is the worker's: it may be shorter than it said.
Result<Bytes> read_at(const Descriptor& file, std::uint32_t offset, std::uint32_t length) {
  Bytes out(length);
  for (std::size_t at = 0; at < length;) {
    const ssize_t got = ::pread(file.get(), out.data() + at, length - at,
                                static_cast<off_t>(offset) + static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Error{Errc::corrupt, "a worker's message ends early"};
    at += static_cast<std::size_t>(got);
  }
  return out;
}

bool write_at(const Descriptor& file, std::uint32_t offset, ByteView bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t put = ::pwrite(file.get(), bytes.data() + at, bytes.size() - at,
                                 static_cast<off_t>(offset) + static_cast<off_t>(at));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    at += static_cast<std::size_t>(put);
  }
  return true;
}

}  // namespace

PeerRelay::~PeerRelay() {
  *alive_ = false;
  while (!ends_.empty()) {
    const WorkerRef worker = ends_.begin()->first;
    detach(worker);
  }
}

void PeerRelay::attach(const WorkerRef& worker, std::shared_ptr<WorkerLine> line) {
  auto end = std::make_shared<End>();
  end->line = std::move(line);
  ends_[worker] = std::move(end);
}

void PeerRelay::set_members(const WorkerRef& worker,
                            const std::vector<std::pair<std::uint32_t, std::string>>& members) {
  const auto found = ends_.find(worker);
  if (found == ends_.end()) return;
  End& end = *found->second;
  end.nodes = {members.begin(), members.end()};
  for (auto way = end.ways.begin(); way != end.ways.end();) {
    if (end.nodes.contains(way->first)) {
      ++way;
      continue;
    }
    for (const auto& message : way->second.waiting) {
      message->failed = true;  // of one that is partly on its way, the answers are waited for
      if (message->open == 0) done(end, *message);
    }
    way = end.ways.erase(way);
  }
  std::erase_if(end.arriving, [&end](const auto& one) { return !end.nodes.contains(one.first); });
}

void PeerRelay::begun(const WorkerRef& worker) {
  const auto found = ends_.find(worker);
  if (found == ends_.end()) return;
  const EndPtr end = found->second;
  end->begun = true;
  hand_over(*end);
}

void PeerRelay::detach(const WorkerRef& worker) {
  const auto found = ends_.find(worker);
  if (found == ends_.end()) return;
  const EndPtr end = found->second;
  ends_.erase(found);
  end->line.reset();
  end->ways.clear();
  for (auto& one : std::exchange(end->arrived, {})) one.delivered(false);
}

PeerRelay::Traffic PeerRelay::traffic(const WorkerRef& worker) const {
  const auto found = ends_.find(worker);
  return found == ends_.end() ? Traffic{} : found->second->traffic;
}

// ---- out ----

void PeerRelay::send(const WorkerRef& worker, PeerFrame frame, Descriptor body) {
  const auto found = ends_.find(worker);
  if (found == ends_.end()) return;
  const EndPtr end = found->second;
  // One that does not wait for its turn is not in order: what it sends so holds memory and descriptors.
  if (end->unsent >= kPeerUnsentMax) {
    dropped().add();
    return;
  }
  ++end->unsent;
  auto message = std::make_shared<Outgoing>();
  message->epoch = frame.epoch;
  message->message = end->next_message++;
  message->bytes = frame.bytes;
  message->body = std::move(frame.body);
  message->file = std::move(body);
  const bool whole = message->body.size() == message->bytes || message->file;
  if (!whole || !end->nodes.contains(frame.peer)) {
    dropped().add();
    done(*end, *message);
    return;
  }
  end->ways[frame.peer].waiting.push_back(std::move(message));
  pump(worker, end, frame.peer);
}

void PeerRelay::pump(const WorkerRef& worker, const EndPtr& end, std::uint32_t to) {
  for (;;) {
    const auto way = end->ways.find(to);
    const auto node = end->nodes.find(to);
    if (way == end->ways.end() || node == end->nodes.end()) return;
    if (way->second.waiting.empty() || way->second.open >= kPeerWindow) return;
    const auto message = way->second.waiting.front();
    JobPiece piece;
    piece.job_id = worker.job_id;
    piece.run = worker.run;
    piece.from = worker.number;
    piece.to = to;
    piece.epoch = message->epoch;
    piece.message = message->message;
    piece.total = message->bytes;
    piece.offset = message->given;
    const auto length =
        static_cast<std::uint32_t>(std::min<std::size_t>(message->bytes - message->given, kJobPieceBytesMax));
    if (message->body.size() == message->bytes) {
      piece.bytes = std::move(message->body);
    } else {
      auto read = read_at(message->file, message->given, length);
      if (!read) {
        way->second.waiting.pop_front();
        message->failed = true;
        if (message->open == 0) done(*end, *message);
        continue;
      }
      piece.bytes = std::move(*read);
    }
    message->given += length;
    ++message->open;
    ++way->second.open;
    if (message->given == message->bytes) way->second.waiting.pop_front();
    end->traffic.sent += length;
    carried_bytes().add(length);
    spawn(carry(worker, end, to, message, encode(piece), node->second));
  }
}

Task<void> PeerRelay::carry(WorkerRef worker, EndPtr end, std::uint32_t to, std::shared_ptr<Outgoing> message,
                            Bytes piece, std::string node) {
  const auto alive = alive_;
  net::AskOptions how;
  how.deadline = kTakenWithin;
  how.lane = Lane::bulk;
  auto answer = co_await exchange_.ask(std::move(node), net::Topic::job, std::move(piece), how);
  if (!*alive) co_return;
  if (!answer && !message->failed) {
    message->failed = true;
    dropped().add();
  }
  --message->open;
  // Given whole, or given up on: the worker may send another one.
  if (message->open == 0 && (message->given == message->bytes || message->failed)) done(*end, *message);
  const auto way = end->ways.find(to);
  if (way == end->ways.end()) co_return;
  if (way->second.open > 0) --way->second.open;
  if (message->failed && !way->second.waiting.empty() && way->second.waiting.front() == message)
    way->second.waiting.pop_front();
  pump(worker, end, to);
}

void PeerRelay::done(End& end, const Outgoing&) {
  --end.unsent;
  if (end.line) end.line->send(MessageType::peer_sent, encode(PeerCredit{1}));
}

// ---- in ----

Task<Result<Bytes>> PeerRelay::on_piece(std::string from, JobPiece piece) {
  const auto found = ends_.find({piece.job_id, piece.run, piece.to});
  if (found == ends_.end()) co_return Error{Errc::not_found, "this worker is not here"};
  const EndPtr end = found->second;
  // One whose number we have not heard of yet is a member, too; one with another's number is not.
  const auto known = end->nodes.find(piece.from);
  if (known != end->nodes.end() && known->second != from)
    co_return Error{Errc::denied, "this is another node's worker"};
  Arriving& arriving = end->arriving[piece.from];
  if (piece.offset == 0) {
    arriving = Arriving{};
    arriving.message = piece.message;
    arriving.epoch = piece.epoch;
    arriving.total = piece.total;
    if (piece.total > kPeerInlineBytesMax) {
      arriving.file = Descriptor(::memfd_create("peer", MFD_CLOEXEC));
      if (!arriving.file) co_return Error{Errc::no_space, "no memory for a worker's message"};
    }
  }
  if (arriving.message != piece.message || arriving.came != piece.offset || arriving.total != piece.total)
    co_return Error{Errc::conflict, "the pieces before this one are missing"};
  if (arriving.file) {
    if (!write_at(arriving.file, piece.offset, piece.bytes))
      co_return Error{Errc::no_space, "no memory for a worker's message"};
  } else {
    arriving.body = std::move(piece.bytes);
  }
  arriving.came += static_cast<std::uint32_t>(arriving.file ? piece.bytes.size() : arriving.body.size());
  if (arriving.came < arriving.total) co_return Bytes{};
  end->traffic.received += arriving.total;
  auto taken = [&end, &arriving, from_worker = piece.from](std::function<void(bool)> told) {
    end->arrived.push_back({from_worker, std::move(arriving), std::move(told)});
    end->arriving.erase(from_worker);
    hand_over(*end);
  };
  const bool delivered = co_await from_callback<bool>(std::move(taken));
  if (!delivered) co_return Error{Errc::not_found, "this worker is gone"};
  co_return Bytes{};
}

void PeerRelay::hand_over(End& end) {
  while (!end.arrived.empty() && end.begun && end.unread < kPeerUnreadMax && end.line) {
    Arrived one = std::move(end.arrived.front());
    end.arrived.pop_front();
    PeerFrame frame;
    frame.peer = one.from;
    frame.epoch = one.what.epoch;
    frame.bytes = one.what.total;
    frame.body = std::move(one.what.body);
    const bool sent = end.line->send(MessageType::peer_message, encode(frame), std::move(one.what.file));
    if (sent) ++end.unread;
    one.delivered(sent);
  }
}

void PeerRelay::taken(const WorkerRef& worker, std::uint32_t count) {
  const auto found = ends_.find(worker);
  if (found == ends_.end()) return;
  const EndPtr end = found->second;
  end->unread -= std::min(end->unread, count);
  hand_over(*end);
}

}  // namespace samovar::jobs
