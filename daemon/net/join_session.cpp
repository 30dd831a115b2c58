#include "daemon/net/join_session.hpp"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>

#include "base/assert.hpp"
#include "daemon/net/join_line.hpp"

namespace samovar::net {

using boost::system::error_code;

namespace {

constexpr std::size_t kUntakenMax = 8;
constexpr Duration kFlushMax = std::chrono::seconds(5);

// A person may take minutes to type a code; a line to a machine that is gone should not last as long.
void keep_alive(TlsSocket::Socket& socket) {
  const int on = 1;
  const int idle_s = 10;
  const int every_s = 5;
  const int probes = 3;
  const int fd = socket.native_handle();
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every_s, sizeof every_s);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

}  // namespace

JoinSession::JoinSession(boost::asio::io_context& context, std::shared_ptr<ssl_ctx_st> tls,
                         std::string remote)
    : tls_context_(std::move(tls)), remote_(std::move(remote)), deadline_(context) {}

void JoinSession::start(Socket socket, TlsRole role, Duration handshake_max, Events events) {
  events_ = std::move(events);
  tune_socket(socket);
  keep_alive(socket);
  arm(handshake_max,
      Error{Errc::timeout, remote_ + " took the connection, but did not finish the handshake"});
  tls_ = std::make_unique<TlsSocket>(std::move(socket), tls_context_.get(), role, PeerCheck{});
  advance();
}

void JoinSession::arm(Duration after, const Error& why) {
  deadline_.expires_after(after);
  deadline_.async_wait([self = shared_from_this(), why](const error_code& cancelled) {
    if (!cancelled) self->abort(why);
  });
}

void JoinSession::wait(Socket::wait_type what) {
  const auto which = static_cast<std::size_t>(what);
  if (ended_ || waiting_[which]) return;
  waiting_[which] = true;
  tls_->socket().async_wait(what, [self = shared_from_this(), which](const error_code& failed) {
    self->waiting_[which] = false;
    if (failed || self->ended_) return;
    if (!self->ready_) return self->advance();
    self->pump_write();
    self->pump_read();
  });
}

void JoinSession::advance() {
  const IoStep step = tls_->handshake();
  if (step.state == IoState::want_read) return wait(Socket::wait_read);
  if (step.state == IoState::want_write) return wait(Socket::wait_write);
  if (step.state != IoState::done) return fail(step);
  ready_ = true;
  deadline_.cancel();
  const auto told = events_.ready;
  if (told) told();
  pump_write();
  pump_read();
}

void JoinSession::fail(const IoStep& step) {
  Error why = tls_->failure();
  // Whoever talks with somebody else hangs up at once.
  if (!ready_ && why.code() == Errc::unavailable)
    return abort(
        Error{Errc::busy, remote_ + " hung up at once: it talks with another member now, or takes nobody"});
  abort(step.state == IoState::closed ? why : std::move(why).within(remote_));
}

void JoinSession::pump_read() {
  while (!ended_ && ready_ && untaken_ < kUntakenMax) {
    const bool in_head = head_got_ < head_.size();
    const MutableBytes into =
        in_head ? MutableBytes(head_).subspan(head_got_) : MutableBytes(body_).subspan(body_got_);
    if (!into.empty()) {
      const IoStep step = tls_->read(into);
      if (step.state == IoState::want_read) return wait(Socket::wait_read);
      if (step.state == IoState::want_write) return wait(Socket::wait_write);
      if (step.state != IoState::done) return fail(step);
      (in_head ? head_got_ : body_got_) += step.bytes;
      if (in_head && head_got_ < head_.size()) continue;
    }
    if (in_head) {
      const std::size_t size =
          head_[0] | std::size_t{head_[1]} << 8 | std::size_t{head_[2]} << 16 | std::size_t{head_[3]} << 24;
      if (size > kJoinMessageBytesMax)
        return abort(Error{Errc::corrupt, remote_ + " sends longer messages than a join has"});
      body_.resize(size);
      body_got_ = 0;
      if (size > 0) continue;
    }
    if (body_got_ < body_.size()) continue;
    head_got_ = 0;
    ++untaken_;
    const auto give = events_.message;  // a copy: the line may be closed meanwhile
    if (give) give(std::exchange(body_, {}));
  }
}

void JoinSession::taken() {
  SAMOVAR_ASSERT(untaken_ > 0);
  --untaken_;
  pump_read();
}

void JoinSession::send(Bytes message) {
  if (ended_ || finishing_) return;
  const std::size_t size = message.size();
  Bytes framed;
  framed.reserve(size + 4);
  for (unsigned shift = 0; shift < 32; shift += 8) framed.push_back(static_cast<std::uint8_t>(size >> shift));
  framed.insert(framed.end(), message.begin(), message.end());
  out_.push_back(std::move(framed));
  pump_write();
}

void JoinSession::pump_write() {
  while (!ended_ && ready_ && !out_.empty()) {
    const IoStep step = tls_->write(ByteView(out_.front()).subspan(out_at_));
    if (step.state == IoState::want_write) return wait(Socket::wait_write);
    if (step.state == IoState::want_read) return wait(Socket::wait_read);
    if (step.state != IoState::done) return fail(step);
    out_at_ += step.bytes;
    if (out_at_ < out_.front().size()) continue;
    out_.pop_front();
    out_at_ = 0;
  }
  if (finishing_ && out_.empty()) abort(Error{Errc::unavailable, "the line was closed here"});
}

void JoinSession::finish(std::shared_ptr<void> keep) {
  events_ = {};
  if (ended_ || finishing_) return;
  keep_ = std::move(keep);
  finishing_ = true;
  const Error why{Errc::unavailable, "the line was closed here"};
  if (!ready_) return abort(why);
  arm(kFlushMax, why);
  pump_write();
}

void JoinSession::abort(const Error& why) {
  if (std::exchange(ended_, true)) return;
  deadline_.cancel();
  if (tls_) {
    error_code ignored;
    tls_->socket().shutdown(Socket::shutdown_send, ignored);
    tls_->close();
  }
  const Events events = std::exchange(events_, {});
  if (events.end) events.end(why);
  keep_.reset();
}

}  // namespace samovar::net
