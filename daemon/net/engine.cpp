// Who may talk to us: listening, certificates, and which of several connections is the link.
#include "daemon/net/engine.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>

#include "base/log.hpp"
#include "base/rng.hpp"
#include "base/wall_difference.hpp"
#include "daemon/net/address.hpp"

namespace samovar::net {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr Duration kAcceptPause = std::chrono::milliseconds(50);  // when there are no descriptors left
constexpr Duration kCloneTold = std::chrono::minutes(1);
constexpr std::size_t kClonesMax = 64;

// In the middle of what node certificates span: a board's clock may say 1970, and membership, not expiry,
// revokes.
constexpr WallTime kGoodTime{std::chrono::sys_days{std::chrono::year{2035} / 1 / 1}};

metrics::Counter& refused_counter() {
  static metrics::Counter& counter = metrics::counter(
      "samovar_link_refused_total", "Connections whose certificate or greeting was not accepted.");
  return counter;
}
metrics::Gauge& half_open_gauge() {
  static metrics::Gauge& gauge =
      metrics::gauge("samovar_link_half_open", "Accepted connections that have not greeted yet.");
  return gauge;
}

// The id in the one name that a node's certificate carries.
Result<std::string> id_in(const security::CertificateInfo& info) {
  std::string id;
  for (const std::string& name : info.dns_names) {
    if (!name.ends_with(security::kNodeDomain)) continue;
    if (!id.empty()) return Error{Errc::denied, "the certificate names two nodes"};
    id = name.substr(0, name.size() - security::kNodeDomain.size());
  }
  if (id.empty()) return Error{Errc::denied, "the certificate is not a node's"};
  return id;
}

}  // namespace

Engine::Link::Link(asio::io_context& context, Member member)
    : id(member.peer.node_id),
      share(std::move(member.share)),
      addresses(std::move(member.peer.addresses)),
      control(context),
      bulk(context),
      challenge(context),
      up_gauge(metrics::gauge("samovar_link_up", "1 while the other node is connected.", {{"peer", id}})),
      rtt_gauge(metrics::gauge("samovar_link_rtt_seconds", "Smoothed round trip to the other node.",
                               {{"peer", id}})),
      sent_counter(
          metrics::counter("samovar_link_sent_bytes_total", "Bytes sent to the other node.", {{"peer", id}})),
      received_counter(metrics::counter("samovar_link_received_bytes_total",
                                        "Bytes received from the other node.", {{"peer", id}})),
      lost_counter(metrics::counter("samovar_link_lost_total",
                                    "Times that connections to the other node broke.", {{"peer", id}})) {
  state.node_id = id;
}

Engine::Engine(Hub& hub, MeshOptions options, std::string self, security::Certificate ca, TlsContext tls)
    : hub_(hub),
      options_(std::move(options)),
      self_(std::move(self)),
      ca_(std::move(ca)),
      tls_(std::move(tls)),
      ticker_(context_) {
  limits_.control_bytes_max = static_cast<std::uint32_t>(options_.control_bytes_max);
  limits_.bulk_bytes_max = static_cast<std::uint32_t>(options_.bulk_bytes_max);
  limits_.unread_bytes_max = options_.unread_bytes_max;
  limits_.handshake_max = options_.handshake_max;
  limits_.silence_max = options_.silence_max;
  dial_options_.port_default = kMeshPort;
  system_rng().fill(boot_);
}

Engine::~Engine() = default;

Result<std::vector<std::uint16_t>> Engine::listen() {
  std::vector<std::uint16_t> ports;
  for (const std::string& address : options_.listen) {
    auto acceptor = listen_on(context_, address);
    if (!acceptor) {
      // A kernel without IPv6 is no reason not to start.
      if (acceptor.error().code() != Errc::unsupported || options_.listen.size() == 1)
        return std::move(acceptor).error();
      SAMOVAR_LOG(warn, net, "not listening", kv("why", acceptor.error().message()));
      ports.push_back(0);
      continue;
    }
    ports.push_back(acceptor->local_endpoint().port());
    if (port_ == 0) port_ = ports.back();
    if (options_.listen.size() == 1) dial_options_.source = acceptor->local_endpoint().address();
    acceptors_.push_back(*std::move(acceptor));
  }
  return ports;
}

void Engine::start() {
  for (tcp::acceptor& acceptor : acceptors_) accept_next(acceptor);
  tick();
}

void Engine::stop() {
  stopped_ = true;
  error_code ignored;
  for (tcp::acceptor& acceptor : acceptors_) acceptor.close(ignored);
  ticker_.cancel();
  const Error why{Errc::unavailable, "this node is stopping"};
  for (auto& [id, link] : links_) cut(link, why);
  links_.clear();
  const auto half_open = std::exchange(half_open_, {});
  for (const auto& connection : half_open) connection->close(why);
  context_.stop();
}

void Engine::accept_next(tcp::acceptor& acceptor) {
  acceptor.async_accept([this, &acceptor](const error_code& failed, tcp::socket socket) {
    if (stopped_ || failed == asio::error::operation_aborted) return;
    if (!failed) {
      admit(std::move(socket));
      return accept_next(acceptor);
    }
    // Shared: the wait owns its timer.
    const auto pause = std::make_shared<asio::steady_timer>(context_, kAcceptPause);
    pause->async_wait([this, &acceptor, pause](const error_code& cancelled) {
      if (!cancelled && !stopped_) accept_next(acceptor);
    });
  });
}

// Who floods us with half-open connections pushes out his own oldest ones: a member needs milliseconds.
void Engine::admit(tcp::socket socket) {
  if (half_open_.size() >= options_.half_open_max) {
    half_open_.front()->close(Error{Errc::busy, "too many unfinished handshakes"});
    half_open_.pop_front();
  }
  const ConnectionPtr connection = make_connection();
  half_open_.push_back(connection);
  half_open_gauge().set(static_cast<double>(half_open_.size()));
  connection->accept(std::move(socket));
}

ConnectionPtr Engine::make_connection() {
  return std::make_shared<Connection>(*this, context_, tls_.get(), limits_);
}

Engine::LinkPtr Engine::find(const std::string& node_id) const {
  const auto found = links_.find(node_id);
  return found == links_.end() ? nullptr : found->second;
}

Result<std::string> Engine::judge(const Connection& connection, const security::Certificate& leaf,
                                  const std::string& dialled) {
  SAMOVAR_TRY(const security::CertificateInfo info, security::inspect(leaf));
  SAMOVAR_TRY(const std::string id, id_in(info));
  const std::string name = id + std::string(security::kNodeDomain);
  const security::ChainCheck check{
      connection.dialled() ? security::PeerKind::server : security::PeerKind::client, name, kGoodTime};
  if (const auto chain = security::verify_chain(leaf, ca_, check); !chain)
    return Error{Errc::denied, "its certificate is not of this cluster (" + chain.error().message() + ")"};
  if (security::node_id_of(info.public_key) != id)
    return Error{Errc::denied, "its certificate names a node that does not own its key"};
  if (id == self_ && connection.from_here())
    return Error{Errc::denied, "this node itself answers there: the address is not the other's any more"};
  if (id == self_) {
    report_clone(id, connection.remote());
    return Error{Errc::denied, "another machine shows this node's own certificate: a cloned disk"};
  }
  if (!dialled.empty() && id != dialled)
    return Error{Errc::denied, "node " + security::short_node_id(id) + " answers where node " +
                                   security::short_node_id(dialled) + " was expected"};
  if (!links_.contains(id))
    return Error{Errc::denied, "node " + security::short_node_id(id) + " is not a member"};
  return id;
}

Hello Engine::our_hello(Lane lane) {
  Hello hello;
  hello.lane = lane;
  hello.node_id = self_;
  hello.boot = boot_;
  hello.wall = real_clock().wall();
  hello.port = port_;
  hello.version = SAMOVAR_VERSION;
  return hello;
}

void Engine::greeted(const ConnectionPtr& connection) {
  half_open_.remove(connection);
  half_open_gauge().set(static_cast<double>(half_open_.size()));
  const LinkPtr link = find(connection->node_id());
  if (!link || stopped_) return connection->refuse(ByeReason::not_member, "not a member any more");
  const bool other_start = link->boot && *link->boot != connection->hello().boot;
  const auto elsewhere = [&](const LaneState& lane) {
    return std::any_of(lane.live.begin(), lane.live.end(), [&](const ConnectionPtr& live) {
      return live->open() && live->remote_ip() != connection->remote_ip();
    });
  };
  if (other_start && (elsewhere(link->control) || elsewhere(link->bulk))) return challenge(link, connection);
  adopt(link, connection);
}

// The same identity, started twice, at two addresses: either it moved, or its disk was cloned. Whoever was
// there first is asked for a sign of life.
void Engine::challenge(const LinkPtr& link, const ConnectionPtr& connection) {
  if (link->challenger)
    return connection->refuse(ByeReason::clone, "this identity is being used from several addresses");
  link->challenger = connection;
  for (LaneState* lane : {&link->control, &link->bulk}) {
    for (const ConnectionPtr& live : lane->live) live->ping();
  }
  link->challenge.expires_after(std::min<Duration>(options_.handshake_max / 2, std::chrono::seconds(2)));
  link->challenge.async_wait([this, weak = std::weak_ptr(link)](const error_code& cancelled) {
    const LinkPtr still = weak.lock();
    if (!cancelled && still) end_challenge(still, false);
  });
}

void Engine::end_challenge(const LinkPtr& link, bool clone) {
  const ConnectionPtr challenger = std::exchange(link->challenger, {});
  link->challenge.cancel();
  if (!challenger || challenger->state() != Connection::State::judged) return;
  if (!clone) return adopt(link, challenger);
  const std::string text = "a machine with the identity of node " + security::short_node_id(link->id) +
                           " is connected already from another address: one of the two has a cloned disk; "
                           "reset one of them to factory state";
  link->state.trouble =
      challenger->remote() + " shows the identity of this node, too: one of the two has a cloned disk";
  publish(*link, true);
  report_clone(link->id, challenger->remote());
  const std::string address = challenger->dial_address();
  // Our own list of addresses led to the clone: it is not tried again.
  if (!address.empty()) std::erase(link->hints, address);
  challenger->refuse(ByeReason::clone, text);
}

void Engine::report_clone(const std::string& node_id, const std::string& address) {
  const MonoTime now = real_clock().mono();
  const auto host = parse_host_port(address);
  const std::string key = node_id + "@" + (host ? host->host : address);
  std::erase_if(clones_told_, [&](const auto& told) { return now - told.second >= kCloneTold; });
  if (clones_told_.contains(key) || clones_told_.size() >= kClonesMax) return;
  clones_told_[key] = now;
  SAMOVAR_LOG(error, net, "two machines have one identity: a cloned disk; reset one of them to factory state",
              kv("node", node_id), kv("refused", address));
  News news;
  news.kind = News::Kind::clone;
  news.peer = node_id;
  news.address = address;
  hub_.to_loop(std::move(news));
}

void Engine::adopt(const LinkPtr& link, const ConnectionPtr& connection) {
  const Lane which = connection->lane();
  LaneState& lane = link->of(which);
  const Hello& hello = connection->hello();
  if (link->boot && *link->boot != hello.boot) {
    const Error restarted{Errc::unavailable, "the other end was restarted"};
    for (LaneState* each : {&link->control, &link->bulk}) {
      for (const ConnectionPtr& live : each->live) live->close(restarted);
    }
  }
  link->boot = hello.boot;
  std::erase(lane.dialling, connection);
  lane.live.push_back(connection);
  // Of two calls that cross, the smaller id's stays: the other side stops its own on the same grounds.
  if (connection->dialled() || link->id < self_) stop_dialling(lane, false);
  lane.backoff = {};
  link->working = connection->dialled() ? connection->dial_address()
                                        : format_host_port({connection->remote_ip().to_string(), hello.port});
  link->state.version = hello.version;
  link->state.clock_ahead = wall_difference(hello.wall, real_clock().wall());
  connection->go();
  link->share->of(which).down = false;
  if (which == Lane::control) {
    link->share->of(Lane::bulk).down = false;
    set_up(*link, true);  // whoever sees it up may send
    if (!link->bulk.queue.empty()) kick(link, Lane::bulk);
  }
  kick(link, which);
}

bool Engine::next_message(Connection& connection, Bytes& message) {
  const LinkPtr link = find(connection.node_id());
  if (!link) return false;
  LaneState& lane = link->of(connection.lane());
  if (lane.queue.empty() || preferred(lane) != &connection) return false;
  message = std::move(lane.queue.front());
  lane.queue.pop_front();
  link->share->of(connection.lane()).queued -= queue_cost(message);
  return true;
}

void Engine::received(const ConnectionPtr& connection, Bytes message) {
  News news;
  news.peer = connection->node_id();
  news.lane = connection->lane();
  news.message = std::move(message);
  news.inflow = connection->inflow();
  news.connection = connection;
  hub_.to_loop(std::move(news));
}

void Engine::moved(Connection& connection, std::size_t sent, std::size_t received) {
  const LinkPtr link = find(connection.node_id());
  if (!link) return;
  link->state.rates.sent_bytes += sent;
  link->state.rates.received_bytes += received;
  link->sent_counter.add(sent);
  link->received_counter.add(received);
}

void Engine::measured(Connection& connection, Duration round_trip) {
  const LinkPtr link = find(connection.node_id());
  if (!link) return;
  if (connection.lane() == Lane::control) {
    const double ms = std::chrono::duration<double, std::milli>(round_trip).count();
    // As TCP smoothes its own (RFC 6298).
    link->state.rtt_ms = link->state.rtt_ms ? *link->state.rtt_ms * 0.875 + ms * 0.125 : ms;
    link->rtt_gauge.set(*link->state.rtt_ms / 1000);
  }
  if (link->challenger && connection.hello().boot != link->challenger->hello().boot)
    end_challenge(link, true);
}

void Engine::closed(const ConnectionPtr& connection, const Error& why) {
  half_open_.remove(connection);
  half_open_gauge().set(static_cast<double>(half_open_.size()));
  if (why.code() == Errc::denied) {
    refused_counter().add();
    SAMOVAR_LOG(debug, net, "connection refused", kv("remote", connection->remote()),
                kv("why", why.message()));
  }
  const LinkPtr link = stopped_ ? nullptr : find(connection->node_id());
  if (!link) return;
  const Lane which = connection->lane();
  LaneState& lane = link->of(which);
  if (link->challenger == connection) {
    link->challenger.reset();
    link->challenge.cancel();
  }
  if (std::erase(lane.live, connection) > 0) return live_ended(link, which, connection, why);
  if (std::erase(lane.dialling, connection) > 0) dial_failed(link, which, why);
}

// Nothing more is taken from it; what was already being written still goes, with the reason behind it.
void Engine::cut(const LinkPtr& link, const Error& why) {
  link->challenge.cancel();
  if (link->challenger) link->challenger->refuse(ByeReason::not_member, why.message());
  for (LaneState* lane : {&link->control, &link->bulk}) {
    lane->timer.cancel();
    stop_dialling(*lane, true);
    for (const ConnectionPtr& live : lane->live) {
      if (stopped_)
        live->close(why);
      else
        live->refuse(ByeReason::not_member, why.message());
    }
    lane->live.clear();
    for (const Bytes& message : lane->queue)
      link->share->of(lane == &link->control ? Lane::control : Lane::bulk).queued -= queue_cost(message);
    lane->queue.clear();
  }
  link->up_gauge.set(0);
}

}  // namespace samovar::net
