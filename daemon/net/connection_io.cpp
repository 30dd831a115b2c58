// Bytes in and out of a connection: frames to TLS records and back, in turns that leave time for the others.
#include <algorithm>
#include <boost/asio/post.hpp>

#include "daemon/net/connection.hpp"

namespace samovar::net {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

constexpr std::size_t kRecordBytes = 16 * 1024;       // TLS's largest
constexpr std::size_t kTurnBytes = 256 * 1024;        // then the other connections have theirs
constexpr std::size_t kDiscardMax = 64 * 1024;        // from a stranger
constexpr std::size_t kDiscardMemberMax = 16u << 20;  // a long message may be under way

}  // namespace

void Connection::wait_read() {
  if (waiting_read_ || state_ == State::closed) return;
  waiting_read_ = true;
  tls_->socket().async_wait(Socket::wait_read, [self = shared_from_this()](const error_code& failed) {
    self->waiting_read_ = false;
    if (failed || self->state_ == State::closed) return;
    if (self->state_ == State::handshake) return self->advance_handshake();
    self->pump_read();
  });
}

void Connection::wait_write() {
  if (waiting_write_ || state_ == State::closed) return;
  waiting_write_ = true;
  tls_->socket().async_wait(Socket::wait_write, [self = shared_from_this()](const error_code& failed) {
    self->waiting_write_ = false;
    if (failed || self->state_ == State::closed) return;
    if (self->state_ == State::handshake) return self->advance_handshake();
    self->blocked_ = true;
    self->pump_write();
    self->blocked_ = false;
  });
}

void Connection::turn_read() {
  if (read_turn_) return;
  read_turn_ = true;
  asio::post(context_, [self = shared_from_this()] {
    self->read_turn_ = false;
    self->pump_read();
  });
}

void Connection::turn_write() {
  if (write_turn_) return;
  write_turn_ = true;
  asio::post(context_, [self = shared_from_this()] {
    self->write_turn_ = false;
    self->pump_write();
  });
}

bool Connection::may_read() const {
  return (state_ == State::greeting || state_ == State::open || state_ == State::leaving) && !discard_ &&
         !inflow_->paused.load();
}

void Connection::resume() { pump_read(); }
void Connection::wake() { pump_write(); }

void Connection::pump_read() {
  if (discard_) return pump_discard();
  if (waiting_read_ || read_turn_) return;
  std::size_t got = 0;
  IoStep step;
  while (may_read() && got < kTurnBytes) {
    step = read_some();
    if (step.state != IoState::done) break;
    got += step.bytes;
  }
  if (got > 0) {
    heard_at_ = real_clock().mono();
    if (all_heard_)
      waits_since_.reset();
    else if (waits_since_)
      waits_since_ = heard_at_;
    owner_.moved(*this, 0, got);
  }
  if (state_ == State::closed) return;
  switch (step.state) {
    case IoState::done:
      if (may_read()) turn_read();
      return;
    case IoState::want_read:
      return wait_read();
    case IoState::want_write:
      return wait_write();
    case IoState::closed:
    case IoState::failed:
      return ended();
  }
}

// The other end is gone. While leaving that was what we waited for.
void Connection::ended() { close(state_ == State::leaving ? last_error_ : failure()); }

// One read into the head or the body of the frame at hand; a whole frame is handled.
IoStep Connection::read_some() {
  const bool in_head = head_got_ < head_.size();
  const MutableBytes into =
      in_head ? MutableBytes(head_).subspan(head_got_) : MutableBytes(body_).subspan(body_got_);
  IoStep step;
  if (!into.empty()) {
    step = tls_->read(into);
    if (step.state != IoState::done) return step;
    (in_head ? head_got_ : body_got_) += step.bytes;
  }
  if (in_head && head_got_ == head_.size()) {
    const std::uint32_t message_max = state_ == State::greeting ? 0
                                      : lane_ == Lane::control  ? limits_.control_bytes_max
                                                                : limits_.bulk_bytes_max;
    const auto head = decode_head(head_, message_max);
    if (!head) {
      refuse(ByeReason::trouble, head.error().message());
      return step;
    }
    frame_ = *head;
    all_heard_ = frame_.heard == messages_out_;
    body_.resize(frame_.bytes);
    body_got_ = 0;
  }
  if (head_got_ == head_.size() && body_got_ == frame_.bytes) {
    head_got_ = 0;
    handle(std::exchange(body_, {}));
  }
  return step;
}

void Connection::handle(Bytes body) {
  if (state_ == State::greeting && frame_.kind != FrameKind::hello && frame_.kind != FrameKind::bye)
    return refuse(ByeReason::trouble, "the other end talks before it has greeted");
  switch (frame_.kind) {
    case FrameKind::hello: {
      if (state_ != State::greeting) return refuse(ByeReason::trouble, "the other end greets twice");
      const auto hello = decode_hello(body);
      return hello ? greet(*hello) : refuse(ByeReason::trouble, hello.error().message());
    }
    case FrameKind::message:
      return handle_message(std::move(body));
    case FrameKind::ping:
      if (state_ != State::open) return;
      say(FrameKind::pong, std::move(body));
      return turn_write();
    case FrameKind::pong:
      return ponged(body);
    case FrameKind::bye:
      return handle_bye(body);
  }
}

void Connection::handle_message(Bytes body) {
  used_at_ = heard_at_;
  ++messages_in_;
  const std::size_t unread = inflow_->unread += body.size();
  owner_.received(shared_from_this(), std::move(body));
  if (unread <= limits_.unread_bytes_max) return;
  inflow_->paused = true;
  // The loop may have taken all of it before it could see that we pause.
  if (inflow_->unread.load() <= limits_.unread_bytes_max) inflow_->paused = false;
}

void Connection::handle_bye(ByteView body) {
  const auto bye = decode_bye(body);
  if (!bye) return close(bye.error());
  if (bye->reason != ByeReason::closing && bye->reason != ByeReason::replaced) {
    const std::string who = address_.empty() ? remote_ : address_;
    return close(Error{bye->reason == ByeReason::clone ? Errc::conflict : Errc::denied,
                       who + " refused: " + bye->text});
  }
  if (state_ == State::leaving) return;
  graceful_ = true;
  last_error_ = Error{Errc::unavailable, "the other end does not need the connection any more"};
  state_ = State::leaving;
  close_when_written_ = true;
  arm(std::chrono::seconds(10));
  turn_write();
}

bool Connection::written() const {
  return record_at_ == record_.size() && message_at_ == message_.size() && urgent_.empty();
}

void Connection::pump_write() {
  if (waiting_write_ || !tls_ || state_ == State::handshake || state_ == State::closed) return;
  std::size_t sent = 0;
  IoStep step;
  while (sent < kTurnBytes) {
    const bool straight = record_at_ == record_.size() && message_.size() - message_at_ >= kRecordBytes;
    if (!straight && record_at_ == record_.size() && !fill_record()) break;
    const std::size_t rest = message_.size() - message_at_;
    const ByteView chunk = straight ? ByteView(message_).subspan(message_at_, rest - rest % kRecordBytes)
                                    : ByteView(record_).subspan(record_at_);
    step = tls_->write(chunk);
    if (step.state != IoState::done) break;
    sent += step.bytes;
    (straight ? message_at_ : record_at_) += step.bytes;
    if (message_at_ == message_.size() && message_at_ != 0) {
      message_ = {};
      message_at_ = 0;
    }
  }
  if (sent > 0) {
    if (blocked_) progress_ += sent;
    owner_.moved(*this, sent, 0);
  }
  if (state_ == State::closed) return;
  switch (step.state) {
    case IoState::done:
      // Through the reactor and not by a turn: it tells when the kernel's backlog is short enough.
      if (sent >= kTurnBytes) return wait_write();
      if (close_when_written_ && written()) return close(last_error_);
      if (discard_ && written()) {
        error_code ignored;
        tls_->socket().shutdown(Socket::shutdown_send, ignored);
      }
      return;
    case IoState::want_write:
      return wait_write();
    case IoState::want_read:
      return wait_read();
    case IoState::closed:
    case IoState::failed:
      return ended();
  }
}

void Connection::begin_frame(FrameKind kind, std::size_t bytes) {
  const FrameHeadBytes head = encode_head({kind, static_cast<std::uint32_t>(bytes), messages_in_});
  record_.insert(record_.end(), head.begin(), head.end());
}

// As much of the message at hand as the record takes; true when that was all of it.
bool Connection::add_to_record() {
  const std::size_t part = std::min(message_.size() - message_at_, kRecordBytes - record_.size());
  const auto from = message_.begin() + static_cast<std::ptrdiff_t>(message_at_);
  record_.insert(record_.end(), from, from + static_cast<std::ptrdiff_t>(part));
  message_at_ += part;
  if (message_at_ < message_.size()) return false;
  message_ = {};
  message_at_ = 0;
  return true;
}

// The rest of a message, then what is urgent, then further messages, as far as one record takes them.
bool Connection::fill_record() {
  record_.clear();
  record_at_ = 0;
  record_.reserve(kRecordBytes);
  if (!message_.empty() && !add_to_record()) return true;
  while (!urgent_.empty() && record_.size() + head_.size() + urgent_.front().body.size() <= kRecordBytes) {
    begin_frame(urgent_.front().kind, urgent_.front().body.size());
    record_.insert(record_.end(), urgent_.front().body.begin(), urgent_.front().body.end());
    urgent_.pop_front();
  }
  while (state_ == State::open && urgent_.empty() && record_.size() + head_.size() < kRecordBytes &&
         owner_.next_message(*this, message_)) {
    begin_frame(FrameKind::message, message_.size());
    used_at_ = real_clock().mono();
    if (!waits_since_) waits_since_ = used_at_;
    ++messages_out_;
    all_heard_ = false;
    sent_since_ping_ = true;
    if (!add_to_record()) break;
  }
  return !record_.empty();
}

// Reads and forgets, so that closing does not reset what we said last.
void Connection::pump_discard() {
  if (waiting_read_ || state_ == State::closed) return;
  std::uint8_t scratch[4096];
  for (;;) {
    error_code failed;
    const std::size_t got = tls_->socket().read_some(asio::buffer(scratch), failed);
    if (failed == asio::error::would_block || failed == asio::error::try_again) return wait_discard();
    discarded_ += got;
    if (failed || discarded_ > (opened_at_ == MonoTime{} ? kDiscardMax : kDiscardMemberMax))
      return close(last_error_);
  }
}

void Connection::wait_discard() {
  waiting_read_ = true;
  tls_->socket().async_wait(Socket::wait_read, [self = shared_from_this()](const error_code& failed) {
    self->waiting_read_ = false;
    if (!failed) self->pump_discard();
  });
}

}  // namespace samovar::net
