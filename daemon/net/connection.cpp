// Birth, greeting, signs of life and end of a connection. Bytes in and out are in connection_io.cpp.
#include "daemon/net/connection.hpp"

#include <boost/asio/post.hpp>

#include "base/assert.hpp"

namespace samovar::net {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

// On a link that is at rest. Who uses it notices a silent end without these, and every node is noticed by the
// leader: they are for round trip times and for what lies between, which forgets connections nobody uses.
constexpr Duration kIdlePing = std::chrono::seconds(60);
constexpr Duration kLastWords = std::chrono::seconds(2);  // for an alert or a bye to arrive
constexpr Duration kRetireMax = std::chrono::seconds(10);
constexpr std::size_t kUrgentMax = 64;

MonoTime now() { return real_clock().mono(); }

}  // namespace

Connection::Connection(ConnectionOwner& owner, asio::io_context& context, ssl_ctx_st* tls,
                       const ConnectionLimits& limits)
    : owner_(owner),
      context_(context),
      tls_context_(tls),
      limits_(limits),
      inflow_(std::make_shared<Inflow>()),
      deadline_(context) {}

Connection::~Connection() = default;

void Connection::accept(Socket socket) {
  tune_socket(socket);
  arm(limits_.handshake_max);
  start_tls(std::move(socket), TlsRole::server);
}

void Connection::dial(const std::string& address, Lane lane, const std::string& node_id,
                      const DialOptions& options) {
  state_ = State::dialling;
  dialled_ = true;
  lane_ = lane;
  node_id_ = node_id;
  address_ = address;
  arm(limits_.handshake_max);
  dial_ = Dial::start(context_, address, options, [self = shared_from_this()](Result<Socket> socket) {
    self->dial_.reset();
    if (self->state_ != State::dialling) return;
    if (!socket) return self->close(socket.error());
    self->start_tls(*std::move(socket), TlsRole::client);
  });
}

void Connection::arm(Duration after) {
  deadline_.expires_after(after);
  deadline_.async_wait([self = shared_from_this()](const error_code& cancelled) {
    if (!cancelled) self->too_late();
  });
}

void Connection::too_late() {
  switch (state_) {
    case State::dialling:
      return close(timed_out(address_));
    case State::handshake:
    case State::greeting:
    case State::judged:
      return close(Error{Errc::timeout, (address_.empty() ? remote_ : address_) +
                                            " took the connection, but did not finish the handshake"});
    case State::leaving:
      graceful_ = false;
      return close(last_error_);
    case State::open:
    case State::closed:
      return;
  }
}

void Connection::start_tls(Socket socket, TlsRole role) {
  state_ = State::handshake;
  remote_ = remote_text(socket);
  error_code failed;
  remote_ip_ = unmapped(socket.remote_endpoint(failed).address());
  if (failed) return close(Error{Errc::unavailable, "the connection was gone at once"});
  PeerCheck check = [this](const security::Certificate& leaf) -> Result<void> {
    auto who = owner_.judge(*this, leaf, dialled_ ? node_id_ : std::string());
    if (!who) return std::move(who).error();
    node_id_ = *std::move(who);
    return {};
  };
  tls_ = std::make_unique<TlsSocket>(std::move(socket), tls_context_, role, std::move(check));
  advance_handshake();
}

bool Connection::from_here() const {
  error_code failed;
  return tls_ && unmapped(tls_->socket().local_endpoint(failed).address()) == remote_ip_;
}

void Connection::advance_handshake() {
  const IoStep step = tls_->handshake();
  switch (step.state) {
    case IoState::done:
      state_ = State::greeting;
      heard_at_ = now();
      if (dialled_) say(FrameKind::hello, encode_hello(owner_.our_hello(lane_)));
      pump_write();
      return pump_read();
    case IoState::want_read:
      return wait_read();
    case IoState::want_write:
      return wait_write();
    case IoState::closed:
    case IoState::failed:
      return leave(failure());
  }
}

Error Connection::failure() const {
  Error error = tls_->failure();
  return address_.empty() ? error : std::move(error).within(address_);
}

void Connection::greet(const Hello& hello) {
  if (hello.node_id != node_id_)
    return refuse(ByeReason::trouble, "the greeting names another node than the certificate");
  if (dialled_ && hello.lane != lane_) return refuse(ByeReason::trouble, "the greeting is for another lane");
  hello_ = hello;
  lane_ = hello.lane;
  state_ = State::judged;
  owner_.greeted(shared_from_this());
}

void Connection::go() {
  SAMOVAR_ASSERT(state_ == State::judged);
  deadline_.cancel();
  if (!dialled_) say(FrameKind::hello, encode_hello(owner_.our_hello(lane_)));
  if (lane_ == Lane::bulk) tls_->expect_bulk();
  state_ = State::open;
  opened_at_ = heard_at_ = used_at_ = now();
  // The first round trip is measured at once.
  ping();
  turn_read();
}

void Connection::refuse(ByeReason reason, const std::string& text) {
  if (state_ == State::closed || state_ == State::leaving) return;
  say(FrameKind::bye, encode_bye({reason, text}));
  leave(Error{Errc::denied, text});
}

void Connection::retire() {
  if (state_ != State::open) return;
  say(FrameKind::bye, encode_bye({ByeReason::closing, ""}));
  graceful_ = true;
  state_ = State::leaving;
  last_error_ = Error{Errc::unavailable, "not needed any more"};
  arm(kRetireMax);
  pump_write();
}

// Says what is left to say and closes once the other end had a chance to read it: closing with unread bytes
// would reset the connection, and the other end would never see why.
void Connection::leave(const Error& why) {
  if (state_ == State::closed || state_ == State::leaving) return;
  last_error_ = why;
  const bool spoke = state_ != State::handshake;
  state_ = State::leaving;
  discard_ = true;
  arm(kLastWords);
  if (spoke) pump_write();
  if (state_ != State::leaving) return;
  error_code ignored;
  if (!spoke || written()) tls_->socket().shutdown(Socket::shutdown_send, ignored);
  pump_discard();
}

void Connection::close(const Error& why) {
  if (state_ == State::closed) return;
  state_ = State::closed;
  if (dial_) std::exchange(dial_, {})->cancel();
  deadline_.cancel();
  if (tls_) tls_->close();
  asio::post(context_, [self = shared_from_this(), why] { self->owner_.closed(self, why); });
}

void Connection::say(FrameKind kind, Bytes body) {
  if (urgent_.size() >= kUrgentMax)
    return close(Error{Errc::io, "the other end asks and does not read our answers"});
  urgent_.push_back({kind, std::move(body)});
}

void Connection::ping() {
  if (state_ != State::open) return;
  pinged_at_ = now();
  sent_since_ping_ = false;
  if (!waits_since_) waits_since_ = pinged_at_;
  Bytes body;
  for (unsigned shift = 0; shift < 64; shift += 8)
    body.push_back(static_cast<std::uint8_t>(static_cast<std::uint64_t>(pinged_at_.count()) >> shift));
  say(FrameKind::ping, std::move(body));
  pump_write();
}

void Connection::ponged(ByteView body) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < body.size(); ++i) value |= std::uint64_t{body[i]} << (8 * i);
  if (value != static_cast<std::uint64_t>(pinged_at_.count())) return;  // of an earlier ping
  owner_.measured(*this, now() - pinged_at_);
}

void Connection::tick(MonoTime at) {
  if (state_ != State::open) return;
  if (inflow_->paused) {
    // We are the one who does not listen.
    if (waits_since_) waits_since_ = at;
    return;
  }
  if (waits_since_ && waiting_write_ && progress_ != progress_seen_)
    waits_since_ = at;  // it still takes bytes
  progress_seen_ = progress_;
  // Longer than from one heartbeat of the consensus log to the next: they do for each other's answer.
  const Duration patience = limits_.silence_max * 5 / 9;
  if (waits_since_) {
    if (at - *waits_since_ >= limits_.silence_max)
      return close(Error{Errc::timeout, remote_ + " gave no sign of life for " +
                                            std::to_string(limits_.silence_max / std::chrono::seconds(1)) +
                                            " s: cut off, switched off or stuck"});
    if (at - *waits_since_ >= patience && at - pinged_at_ >= patience) ping();
  } else if (lane_ == Lane::control && at - pinged_at_ >= kIdlePing &&
             (sent_since_ping_ || at - heard_at_ >= kIdlePing)) {
    ping();
  }
}

}  // namespace samovar::net
