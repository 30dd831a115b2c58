#include "daemon/api/server.hpp"

#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <future>

#include "base/log.hpp"
#include "base/metrics.hpp"
#include "base/thread_name.hpp"
#include "daemon/api/session.hpp"
#include "daemon/api/tls_context.hpp"

// After session.hpp, which includes <utility> for Asio's coroutines.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace samovar::api {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr Duration kAcceptPause = std::chrono::milliseconds(50);  // after a failed accept
constexpr int kUserTimeoutMs = 30'000;

std::string own_host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

// Each connection is a file descriptor, and the usual soft limit of 1,024 is for everything together.
void raise_descriptor_limit(std::size_t connections) {
  rlimit limit{};
  const rlim_t wanted = connections + 512;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min<rlim_t>(wanted, limit.rlim_max);
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < wanted) {
    SAMOVAR_LOG(warn, api, "the limit of open files is low; raise LimitNOFILE", kv("limit", limit.rlim_cur),
                kv("wanted", wanted));
  }
}

Error bind_error(const error_code& error, std::string_view address, std::uint16_t port) {
  const std::string where = fmt::format("{} port {}", address, port);
  if (error == asio::error::address_in_use) {
    return {Errc::conflict,
            fmt::format("{} is already in use; 'ss -ltnp sport = :{}' names the program. Stop it, or choose "
                        "another port with listen in the configuration, or with --listen",
                        where, port)};
  }
  if (error == asio::error::access_denied) {
    return {Errc::denied,
            fmt::format("not allowed to listen on {}; ports below 1024 need CAP_NET_BIND_SERVICE, "
                        "choose a higher one",
                        where)};
  }
  return {Errc::invalid,
          fmt::format("cannot listen on {}: {}; give an address of this machine", where, error.message())};
}

Result<tcp::acceptor> bind(asio::io_context& context, const std::string& address, std::uint16_t port) {
  error_code error;
  const asio::ip::address parsed = asio::ip::make_address(address, error);
  if (error) return Error{Errc::invalid, fmt::format("'{}' is not an IP address to listen on", address)};
  const tcp::endpoint endpoint(parsed, port);
  tcp::acceptor acceptor(context);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  // So that "0.0.0.0" and "::" can share a port.
  if (!error && parsed.is_v6()) acceptor.set_option(asio::ip::v6_only(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return bind_error(error, address, port);
  return acceptor;
}

void tune(tcp::socket& socket) {
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  // Session::read_now takes what is there and does not wait.
  socket.non_blocking(true, ignored);
  // A laptop that went to sleep holds no event stream for hours.
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_USER_TIMEOUT, &kUserTimeoutMs, sizeof kUserTimeoutMs);
}

std::string address_text(const tcp::socket& socket) {
  error_code error;
  asio::ip::address address = socket.remote_endpoint(error).address();
  if (error) return {};
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  }
  return address.to_string();
}

}  // namespace

Engine::Engine(Loop& on, ServerOptions options, Router routes, Guard before, StaticFiles pages)
    : loop(on),
      limits(options.limits),
      router(std::move(routes)),
      guard(std::move(before)),
      files(std::move(pages)),
      names_help(std::move(options.names_help)),
      host_name(own_host_name()),
      names(host_name, options.names),
      hsts(options.hsts),
      table(limits.connections_max, limits.connections_per_address_max),
      limiter(limits.requests_per_second, limits.request_burst) {}

struct Server::Impl {
  Impl(Loop& loop, ServerOptions options, Router router, Guard guard, StaticFiles files)
      : engine(std::make_shared<Engine>(loop, std::move(options), std::move(router), std::move(guard),
                                        std::move(files))),
        work(asio::make_work_guard(engine->context)),
        stop_timer(engine->context) {}

  asio::awaitable<void> accept(std::shared_ptr<tcp::acceptor> acceptor);
  void admit(tcp::socket socket);
  void evict(ConnectionTable::Id id);
  void end_all();
  void begin_stop(std::function<void()> done);
  // Runs `task` on the http thread and waits for it.
  void on_thread(const std::function<void()>& task);

  std::shared_ptr<Engine> engine;
  asio::executor_work_guard<asio::io_context::executor_type> work;
  std::thread thread;
  // http thread only.
  std::vector<std::shared_ptr<tcp::acceptor>> acceptors;  // shared with their coroutines
  asio::steady_timer stop_timer;
};

void Server::Impl::on_thread(const std::function<void()>& task) {
  std::promise<void> ran;
  asio::post(engine->context, [&] {
    task();
    ran.set_value();
  });
  ran.get_future().wait();
}

asio::awaitable<void> Server::Impl::accept(std::shared_ptr<tcp::acceptor> acceptor) {
  asio::steady_timer pause(engine->context);
  while (acceptor->is_open()) {
    error_code error;
    tcp::socket socket = co_await acceptor->async_accept(asio::redirect_error(asio::use_awaitable, error));
    if (!error) {
      admit(std::move(socket));
      continue;
    }
    if (!acceptor->is_open()) break;
    // Out of descriptors: make room at the cost of who has shown least, rather than turn everybody away.
    if (error == asio::error::no_descriptors) {
      if (const auto victim = engine->table.pick_victim()) evict(*victim);
    }
    pause.expires_after(kAcceptPause);
    co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, error));
  }
}

void Server::Impl::evict(ConnectionTable::Id id) {
  static metrics::Counter& evicted = metrics::counter("samovar_api_connections_evicted_total",
                                                      "Idle or slow connections closed for newer ones.");
  evicted.add();
  if (const auto found = engine->sessions.find(id); found != engine->sessions.end()) found->second->close();
}

void Server::Impl::admit(tcp::socket socket) {
  const std::string address = address_text(socket);
  if (address.empty() || engine->stopping) return;  // it left already, or we are leaving
  const ConnectionTable::Verdict verdict = engine->table.admit(address);
  if (verdict.evict) evict(*verdict.evict);
  if (!verdict.admitted) {
    static metrics::Counter& refused = metrics::counter("samovar_api_connections_refused_total",
                                                        "Connections closed at once as all were busy.");
    refused.add();
    return;
  }
  tune(socket);
  std::make_shared<Session>(*engine, std::move(socket), *verdict.admitted, address)->start();
}

// close() may end a session and so change the map.
void Server::Impl::end_all() {
  std::vector<std::weak_ptr<Session>> all;
  for (const auto& [id, session] : engine->sessions) all.push_back(session->weak_from_this());
  for (const auto& weak : all) {
    if (const auto session = weak.lock()) session->close();
  }
}

void Server::Impl::begin_stop(std::function<void()> done) {
  for (const auto& acceptor : acceptors) {
    error_code ignored;
    acceptor->close(ignored);
  }
  engine->stopping = true;
  // Once: the last session and the timer may both come here.
  const auto finish = [this, done = std::move(done), called = std::make_shared<bool>(false)] {
    if (std::exchange(*called, true)) return;
    stop_timer.cancel();
    if (done) engine->loop.post(done);
  };
  if (engine->sessions.empty()) return finish();
  engine->on_empty = finish;
  stop_timer.expires_after(engine->limits.stop_time_max);
  stop_timer.async_wait([this](const error_code& error) {
    if (!error) end_all();
  });
  std::vector<std::weak_ptr<Session>> all;
  for (const auto& [id, session] : engine->sessions) all.push_back(session->weak_from_this());
  for (const auto& weak : all) {
    if (const auto session = weak.lock()) session->drain();
  }
}

Result<std::unique_ptr<Server>> Server::create(Loop& loop, ServerOptions options, Router router, Guard guard,
                                               StaticFiles files, Certificate certificate) {
  SAMOVAR_TRY(auto tls, make_tls_context(certificate.chain_pem, certificate.key_pem));
  raise_descriptor_limit(options.limits.connections_max);
  auto impl =
      std::make_unique<Impl>(loop, std::move(options), std::move(router), std::move(guard), std::move(files));
  impl->engine->tls = std::move(tls);
  impl->thread = std::thread([engine = impl->engine.get()] {
    set_thread_name("http");
    engine->context.run();
  });
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

// Every coroutine is ended, not dropped: run() returns once the last one has.
Server::~Server() {
  asio::post(impl_->engine->context, [impl = impl_.get()] {
    impl->engine->on_empty = nullptr;
    impl->begin_stop(nullptr);
    impl->stop_timer.cancel();
    impl->end_all();
    impl->work.reset();
  });
  impl_->thread.join();
  // What handlers posted meanwhile: their sessions are gone, and a waiting body reader is told so.
  impl_->engine->on_empty = nullptr;
  {
    const MutexLock lock(impl_->engine->post_mutex);
    impl_->engine->ended = true;
  }
  impl_->engine->context.restart();
  impl_->engine->context.poll();
}

Result<std::uint16_t> Server::listen(const std::vector<std::string>& addresses, std::uint16_t port) {
  std::vector<std::shared_ptr<tcp::acceptor>> bound;
  for (const std::string& address : addresses) {
    auto acceptor = bind(impl_->engine->context, address, port);
    if (!acceptor) {
      const bool no_ipv6 =
          address == "::" && addresses.size() > 1 && acceptor.error().code() == Errc::invalid;
      if (!no_ipv6) return std::move(acceptor).error();
      SAMOVAR_LOG(warn, api, "IPv6 is not available; serving IPv4 only",
                  kv("reason", acceptor.error().message()));
      continue;
    }
    // With port 0 the first address chooses for all.
    error_code error;
    port = acceptor->local_endpoint(error).port();
    bound.push_back(std::make_shared<tcp::acceptor>(std::move(*acceptor)));
  }
  if (bound.empty()) return Error{Errc::invalid, "no address to listen on; configure at least one"};
  impl_->on_thread([&] {
    for (const auto& acceptor : bound) {
      impl_->acceptors.push_back(acceptor);
      asio::co_spawn(impl_->engine->context, impl_->accept(acceptor), asio::detached);
    }
  });
  return port;
}

Result<void> Server::set_certificate(Certificate certificate) {
  SAMOVAR_TRY(auto tls, make_tls_context(certificate.chain_pem, certificate.key_pem));
  impl_->on_thread([&] { impl_->engine->tls = std::move(tls); });
  return {};
}

void Server::set_names(std::vector<std::string> names) {
  impl_->on_thread([&] { impl_->engine->names = HostNames(impl_->engine->host_name, names); });
}

void Server::set_hsts(bool on) {
  impl_->on_thread([&] { impl_->engine->hsts = on; });
}

void Server::stop(std::function<void()> done) {
  asio::post(impl_->engine->context,
             [impl = impl_.get(), done = std::move(done)]() mutable { impl->begin_stop(std::move(done)); });
}

ServerStats Server::stats() const {
  const Engine& engine = *impl_->engine;
  return {engine.connections, engine.event_streams, engine.requests_running};
}

}  // namespace samovar::api
