#include "daemon/api/session.hpp"

#include <sys/socket.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "base/metrics.hpp"
#include "daemon/api/text.hpp"

namespace samovar::api {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

constexpr std::string_view kPlainHttpAnswer =
    "HTTP/1.1 400 Bad Request\r\n"
    "Content-Type: text/plain; charset=utf-8\r\n"
    "Connection: close\r\n"
    "\r\n"
    "This port speaks HTTPS only. Use https:// in the address.\n";

// The client may still be sending when we part; closing at once would make its system throw away our
// last answer. So read on, within these bounds.
constexpr Duration kLingerTimeMax = std::chrono::seconds(1);
constexpr std::size_t kLingerBytesMax = 4 << 20;

metrics::Gauge& connections_gauge() {
  static metrics::Gauge& gauge = metrics::gauge("samovar_api_connections", "Open HTTPS connections.");
  return gauge;
}

}  // namespace

Session::Session(Engine& engine, Socket socket, ConnectionTable::Id id, std::string address)
    : engine_(engine),
      id_(id),
      address_(std::move(address)),
      stream_(std::move(socket), engine.tls->native_handle()),
      deadline_(engine.context),
      event_(engine.context) {
  engine_.sessions.emplace(id_, this);
  engine_.connections = engine_.sessions.size();
  connections_gauge().add(1);
}

Session::~Session() {
  engine_.table.remove(id_);
  engine_.sessions.erase(id_);
  engine_.connections = engine_.sessions.size();
  connections_gauge().add(-1);
  if (engine_.stopping && engine_.sessions.empty() && engine_.on_empty) engine_.on_empty();
}

void Session::start() {
  asio::co_spawn(
      engine_.context, [self = shared_from_this()]() -> Awaitable<void> { return self->run(); },
      asio::detached);
}

void Session::close() {
  if (closed_) return;
  closed_ = true;
  error_code ignored;
  stream_.next_layer().close(ignored);
  deadline_.cancel();
  notify();
}

void Session::drain() {
  draining_ = true;
  if (idle_) return close();
  if (sink_) end_events();
}

Session::Awaitable<void> Session::run() {
  const auto self = shared_from_this();  // until every path below has ended
  if (co_await greet()) {
    while (co_await serve_one()) {
    }
  }
  if (sink_) sink_->finish();
  if (body_wish_) {
    engine_.loop.post([done = std::move(body_wish_)] { done(Error{Errc::io, "the client has left"}); });
  }
  if (!closed_) co_await part();
  close();
}

// The deadline covers the first byte and the handshake together.
Session::Awaitable<bool> Session::greet() {
  Socket& socket = stream_.next_layer();
  arm(engine_.limits.handshake_time_max);
  error_code error;
  co_await socket.async_wait(Socket::wait_read, asio::redirect_error(asio::use_awaitable, error));
  if (error || expired_ || closed_) co_return false;
  char first = 0;
  if (::recv(socket.native_handle(), &first, 1, MSG_PEEK | MSG_DONTWAIT) == 1 && is_alpha(first)) {
    co_await refuse_plain_http();
    co_return false;
  }
  error = co_await stream_.handshake();
  if (error || expired_ || closed_) {
    static metrics::Counter& failed =
        metrics::counter("samovar_api_handshakes_failed_total", "TLS handshakes refused or given up.");
    failed.add();
    co_return false;
  }
  handshaken_ = true;
  disarm();
  co_return true;
}

Session::Awaitable<void> Session::refuse_plain_http() {
  error_code error;
  co_await asio::async_write(stream_.next_layer(),
                             asio::buffer(kPlainHttpAnswer.data(), kPlainHttpAnswer.size()),
                             asio::redirect_error(asio::use_awaitable, error));
  unread_body_ = true;
}

// Says goodbye in TLS, then lets the client read our last answer before the socket goes.
Session::Awaitable<void> Session::part() {
  parting_ = true;
  arm(kLingerTimeMax);
  error_code error;
  if (handshaken_ && !unread_body_) {
    error = co_await stream_.shutdown();
  }
  Socket& socket = stream_.next_layer();
  socket.shutdown(Socket::shutdown_send, error);
  std::size_t drained = 0;
  char scratch[4096];
  while (unread_body_ && !error && !expired_ && !closed_ && drained < kLingerBytesMax) {
    drained += co_await socket.async_read_some(asio::buffer(scratch),
                                               asio::redirect_error(asio::use_awaitable, error));
  }
  disarm();
}

}  // namespace samovar::api
