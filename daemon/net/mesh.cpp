// The mesh's half on the loop.
#include "daemon/net/mesh.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <map>
#include <thread>

#include "base/assert.hpp"
#include "base/log.hpp"
#include "base/thread_name.hpp"
#include "daemon/net/engine.hpp"

namespace samovar::net {

namespace asio = boost::asio;

namespace {

// What the loop takes in one turn, so that a flood of messages leaves time for timers and requests.
constexpr std::size_t kNewsPerTurn = 256;
constexpr std::size_t kBytesPerTurn = 4u << 20;

}  // namespace

struct Mesh::Impl {
  Impl(Loop& on, MeshOptions with, std::string self, security::Certificate ca, TlsContext tls);
  ~Impl();
  void take_news();
  void take(News& news);
  void taken(const News& news, std::size_t bytes);
  template <class Work>
  void on_net(Work work) {
    asio::post(engine->context(), std::move(work));
  }

  // Constant after open().
  Loop& loop;
  const MeshOptions options;
  const std::string self;
  std::vector<std::uint16_t> ports;

  // Loop only.
  struct Alive {};  // gone with us: what is posted to the loop asks for it
  std::shared_ptr<Alive> alive = std::make_shared<Alive>();
  std::map<std::string, PeerSharePtr> peers;
  std::vector<News> backlog;  // taken from the hub, oldest at `next_news`
  std::size_t next_news = 0;
  OnMessage on_message;
  OnLost on_lost;
  std::function<void(const LinkState&)> on_link;
  std::function<void(const std::string&, const std::string&)> on_clone;

  // Both.
  Hub hub;
  std::unique_ptr<Engine> engine;
  std::thread thread;
};

Mesh::Impl::Impl(Loop& on, MeshOptions with, std::string id, security::Certificate ca, TlsContext tls)
    : loop(on),
      options(std::move(with)),
      self(std::move(id)),
      hub(
          [this, weak = std::weak_ptr<Alive>(alive)] {
            // On the net thread, which ends before we do.
            loop.post([this, weak] {
              if (weak.lock()) take_news();
            });
          },
          [this] { on_net([this] { engine->carry_out(); }); }),
      engine(std::make_unique<Engine>(hub, options, self, std::move(ca), std::move(tls))) {}

Mesh::Impl::~Impl() {
  alive.reset();
  if (!thread.joinable()) return;
  on_net([this] { engine->stop(); });
  thread.join();
}

void Mesh::Impl::take_news() {
  const std::weak_ptr<Alive> weak = alive;
  if (next_news == backlog.size()) {
    backlog = hub.take_news();
    next_news = 0;
  }
  std::size_t bytes = 0;
  for (std::size_t turn = 0; next_news < backlog.size() && turn < kNewsPerTurn && bytes < kBytesPerTurn;
       ++turn) {
    News news = std::move(backlog[next_news++]);
    bytes += news.message.size();
    take(news);
    if (weak.expired()) return;  // a handler ended us
  }
  // What is left, and what came meanwhile without waking us, gets a turn of its own.
  if (next_news < backlog.size())
    loop.post([this, weak] {
      if (weak.lock()) take_news();
    });
}

void Mesh::Impl::take(News& news) {
  switch (news.kind) {
    case News::Kind::message: {
      taken(news, news.message.size());
      // Between the socket and here it may have been removed.
      if (!peers.contains(news.peer)) return;
      const auto handler = on_message;  // a copy: it may replace itself or destroy us
      if (handler) handler(news.peer, std::move(news.message));
      return;
    }
    case News::Kind::link: {
      const auto listener = on_link;
      if (listener && peers.contains(news.peer)) listener(news.link);
      return;
    }
    case News::Kind::lost: {
      const auto listener = on_lost;
      if (listener) listener(news.peer, news.lane);
      return;
    }
    case News::Kind::clone: {
      const auto listener = on_clone;
      if (listener) listener(news.peer, news.address);
      return;
    }
  }
}

void Mesh::Impl::taken(const News& news, std::size_t bytes) {
  news.inflow->unread -= bytes;
  if (news.inflow->unread.load() > options.unread_bytes_max / 2 || !news.inflow->paused.exchange(false))
    return;
  on_net([connection = news.connection] {
    if (const ConnectionPtr still = connection.lock()) still->resume();
  });
}

Mesh::Mesh(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Mesh::~Mesh() = default;

Result<std::unique_ptr<Mesh>> Mesh::open(Loop& loop, MeshOptions options,
                                         const security::NodeIdentity& identity, security::Certificate own,
                                         security::Certificate ca) {
  if (options.control_bytes_max > kFrameBytesMax || options.bulk_bytes_max > kFrameBytesMax)
    return Error{Errc::invalid, "messages of the mesh are shorter than 16 MiB"};
  const std::string name = identity.node_id + std::string(security::kNodeDomain);
  constexpr WallTime kGoodTime{std::chrono::sys_days{std::chrono::year{2035} / 1 / 1}};
  if (auto chain = security::verify_chain(own, ca, {security::PeerKind::server, name, kGoodTime}); !chain)
    return std::move(chain).error().within("this node's certificate is not of its cluster");
  SAMOVAR_TRY(TlsContext tls, make_mesh_context(identity.tls_key, own));
  auto impl =
      std::make_unique<Impl>(loop, std::move(options), identity.node_id, std::move(ca), std::move(tls));
  SAMOVAR_TRY(impl->ports, impl->engine->listen());
  impl->thread = std::thread([engine = impl->engine.get()] {
    set_thread_name("net");
    engine->start();
    const auto guard = asio::make_work_guard(engine->context());
    for (;;) {
      try {
        engine->context().run();
        return;
      } catch (const std::exception& e) {
        SAMOVAR_LOG(error, net, "work on the net thread threw", kv("what", e.what()));
      }
    }
  });
  return std::unique_ptr<Mesh>(new Mesh(std::move(impl)));
}

const std::string& Mesh::self() const { return impl_->self; }

Result<void> Mesh::send(const std::string& to, Bytes message, Lane lane) {
  SAMOVAR_ASSERT(impl_->loop.in_loop());
  const auto found = impl_->peers.find(to);
  if (found == impl_->peers.end()) return Error{Errc::unavailable, "node " + to + " is not a member"};
  const std::size_t bytes_max =
      lane == Lane::control ? impl_->options.control_bytes_max : impl_->options.bulk_bytes_max;
  if (message.size() > bytes_max) return Error{Errc::invalid, "the message is too long for its lane"};
  PeerShare::Lane& share = found->second->of(lane);
  if (share.down)
    return Error{Errc::unavailable, "node " + to + " cannot be reached now: " + impl_->hub.trouble(to)};
  const std::size_t cost = queue_cost(message);
  if (share.queued.fetch_add(cost) + cost > impl_->options.queue_bytes_max) {
    share.queued -= cost;
    return Error{Errc::busy, "too much waits to be sent to node " + to};
  }
  impl_->hub.to_net({to, lane, std::move(message)});
  return {};
}

void Mesh::on_message(OnMessage handler) { impl_->on_message = std::move(handler); }
void Mesh::on_lost(OnLost handler) { impl_->on_lost = std::move(handler); }
void Mesh::on_link(std::function<void(const LinkState&)> listener) { impl_->on_link = std::move(listener); }
void Mesh::on_clone(std::function<void(const std::string&, const std::string&)> listener) {
  impl_->on_clone = std::move(listener);
}

void Mesh::set_peers(std::vector<Peer> peers) {
  SAMOVAR_ASSERT(impl_->loop.in_loop());
  std::map<std::string, PeerSharePtr> shares;
  std::vector<Member> members;
  for (Peer& peer : peers) {
    if (peer.node_id == impl_->self || shares.contains(peer.node_id)) continue;
    const auto known = impl_->peers.find(peer.node_id);
    const PeerSharePtr share = known != impl_->peers.end() ? known->second : std::make_shared<PeerShare>();
    shares[peer.node_id] = share;
    members.push_back({std::move(peer), share});
  }
  // Who is gone has lost everything that waited for it.
  for (const auto& [id, share] : impl_->peers) {
    if (shares.contains(id)) continue;
    for (const Lane lane : {Lane::control, Lane::bulk}) {
      News news;
      news.kind = News::Kind::lost;
      news.peer = id;
      news.lane = lane;
      impl_->hub.to_loop(std::move(news));
    }
  }
  impl_->peers = std::move(shares);
  impl_->hub.to_net(std::move(members));
}

void Mesh::hint(const std::string& node_id, const std::string& address) {
  impl_->on_net([engine = impl_->engine.get(), node_id, address] { engine->hint(node_id, address); });
}

std::vector<LinkState> Mesh::links() const { return impl_->hub.links(); }
bool Mesh::up(const std::string& node_id) const { return impl_->hub.up(node_id); }
std::vector<std::uint16_t> Mesh::ports() const { return impl_->ports; }

}  // namespace samovar::net
