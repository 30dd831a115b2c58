#include "daemon/worker/peer_link.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace samovar::worker {

using ingest::Descriptor;
using ingest::MessageType;

namespace {

constexpr std::chrono::milliseconds kRoomStep{50};

Error stopped() { return {Errc::conflict, "asked to stop"}; }

Result<Descriptor> in_memory(ByteView body) {
  Descriptor file(::memfd_create("peer", MFD_CLOEXEC));
  if (!file) return Error{Errc::io, "no memory to hand over: " + std::generic_category().message(errno)};
  while (!body.empty()) {
    const ssize_t put = ::write(file.get(), body.data(), body.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return Error{Errc::no_space, "no memory to hand over to samovard"};
    body = body.subspan(static_cast<std::size_t>(put));
  }
  return file;
}

Result<Bytes> from_memory(const Descriptor& file, std::size_t bytes) {
  Bytes body(bytes);
  for (std::size_t at = 0; at < bytes;) {
    const ssize_t got = ::pread(file.get(), body.data() + at, bytes - at, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Error{Errc::corrupt, "a message of another worker ends early"};
    at += static_cast<std::size_t>(got);
  }
  return body;
}

}  // namespace

PeerLink::PeerLink(Exchange& exchange, const jobs::TrainJob& job, Open open, Open open_shards)
    : exchange_(exchange), open_(std::move(open)), open_shards_(std::move(open_shards)) {
  membership_.epoch = job.epoch;
  membership_.self = job.member;
  membership_.members = job.members;
  membership_.blocks = job.blocks;
  membership_.turns = job.turns;
}

// Whether the membership is another one now.
Result<bool> PeerLink::look(Duration wait) {
  auto heard = exchange_.listen(wait);
  if (!heard) return Error{Errc::unavailable, "samovard is gone"};
  unsent_ -= std::min(unsent_, exchange_.take_sent());
  if (exchange_.stopped()) return stopped();
  SAMOVAR_CHECK(hand_over());
  const std::vector<std::uint32_t> come = exchange_.take_shards();
  if (!come.empty() && open_shards_) SAMOVAR_CHECK(open_shards_(come));
  auto told = exchange_.take_membership();
  if (!told || told->epoch <= membership_.epoch) return false;
  SAMOVAR_CHECK(open_(told->blocks));
  membership_.epoch = told->epoch;
  membership_.members = std::move(told->members);
  membership_.blocks = std::move(told->blocks);
  membership_.turns = std::move(told->turns);
  if (!membership_.has(membership_.self))
    return Error{Errc::unavailable, "the others go on without this one"};
  return true;
}

Result<void> PeerLink::give(std::uint32_t to, Bytes body) {
  if (body.size() > jobs::kPeerMessageMax)
    return Error{Errc::invalid, "a message to another worker is too long"};
  if (to == membership_.self || !membership_.has(to)) return {};
  waiting_bytes_ += body.size();
  waiting_.push_back({to, membership_.epoch, std::move(body)});
  SAMOVAR_CHECK(hand_over());
  return waiting_bytes_ <= kWaitingBytesMax ? Result<void>{} : make_room(kWaitingBytesMax);
}

Result<void> PeerLink::hand_over() {
  while (!waiting_.empty() && unsent_ < jobs::kPeerUnsentMax) {
    const Waiting message = std::move(waiting_.front());
    waiting_.pop_front();
    waiting_bytes_ -= message.body.size();
    // One that is gone meanwhile hears nothing.
    if (membership_.has(message.to)) SAMOVAR_CHECK(say(message));
  }
  return {};
}

Result<void> PeerLink::say(const Waiting& message) {
  jobs::PeerFrame frame;
  frame.peer = message.to;
  frame.epoch = message.epoch;
  frame.bytes = static_cast<std::uint32_t>(message.body.size());
  ++unsent_;
  if (message.body.size() <= jobs::kPeerInlineBytesMax) {
    frame.body = message.body;
    return exchange_.say(MessageType::peer_send, encode(frame), -1);
  }
  SAMOVAR_TRY(const Descriptor file, in_memory(message.body));
  return exchange_.say(MessageType::peer_send, encode(frame), file.get());
}

// What comes meanwhile is kept; who takes part is looked at by receive() only.
Result<void> PeerLink::make_room(std::size_t bytes_most) {
  const MonoTime began = real_clock().mono();
  Result<void> made;
  while (made && (waiting_bytes_ > bytes_most || (bytes_most == 0 && !waiting_.empty()))) {
    if (!exchange_.listen(kRoomStep)) return Error{Errc::unavailable, "samovard is gone"};
    unsent_ -= std::min(unsent_, exchange_.take_sent());
    made = exchange_.stopped() ? Result<void>(stopped()) : hand_over();
  }
  blocked_ += std::chrono::duration<double>(real_clock().mono() - began).count();
  return made;
}

Result<void> PeerLink::drain() { return make_room(0); }

Result<std::optional<trainer::PeerMessage>> PeerLink::next() {
  auto& waiting = exchange_.messages();
  while (!waiting.empty()) {
    SAMOVAR_TRY(auto message, jobs::decode_peer_frame(waiting.front().body));
    // The sender heard of an epoch earlier than we did: ours is on its way.
    if (message.epoch > membership_.epoch) break;
    const ingest::Frame frame = std::move(waiting.front());
    waiting.pop_front();
    SAMOVAR_CHECK(exchange_.say(MessageType::peer_taken, jobs::PeerCredit{1}));
    if (!membership_.has(message.peer)) continue;  // gone
    trainer::PeerMessage out;
    out.from = message.peer;
    out.epoch = message.epoch;
    out.body = std::move(message.body);
    if (out.body.empty() && message.bytes > 0) {
      if (!frame.descriptor) return Error{Errc::corrupt, "samovard sent no descriptor"};
      SAMOVAR_TRY(out.body, from_memory(frame.descriptor, message.bytes));
    }
    return std::optional<trainer::PeerMessage>(std::move(out));
  }
  return std::optional<trainer::PeerMessage>();
}

Result<std::optional<trainer::PeerMessage>> PeerLink::receive(std::chrono::milliseconds wait) {
  SAMOVAR_TRY(bool changed, look(Duration::zero()));
  if (changed) return std::optional<trainer::PeerMessage>();
  SAMOVAR_TRY(auto message, next());
  if (message) return message;
  const MonoTime end = real_clock().mono() + wait;
  for (;;) {
    const MonoTime now = real_clock().mono();
    if (now >= end) return std::optional<trainer::PeerMessage>();
    SAMOVAR_TRY(changed, look(end - now));
    if (changed) return std::optional<trainer::PeerMessage>();
    SAMOVAR_TRY(message, next());
    if (message) return message;
  }
}

}  // namespace samovar::worker
