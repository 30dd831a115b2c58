// A file's bytes from one node to another over the mesh, beside a bare OpenSSL TLS 1.3 stream over the same
// loopback; and how long a small question takes while they flow. Both ends are in this process, with threads
// of their own.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "base/asio_loop.hpp"
#include "base/log.hpp"
#include "bench/bench.hpp"
#include "daemon/net/exchange.hpp"
#include "daemon/net/mesh.hpp"
#include "security/init.hpp"
#include "security/openssl_handles.hpp"

namespace samovar::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kBench = "channel";
constexpr std::size_t kPiece = 1u << 20;  // as files are read from another node

struct Ca {
  security::PrivateKey key = need(security::PrivateKey::generate());
  security::Certificate certificate = need(security::make_cluster_ca(key, "clu_bench"));
};

struct Speed {
  double wall = 0;  // bytes per second
  double cpu = 0;   // bytes per second of processor time, both ends together
};

// A node with its loop on a thread of its own.
class Node {
 public:
  explicit Node(const Ca& ca)
      : identity_(need(security::make_identity())),
        own_(need(security::issue_node_certificate(ca.certificate, ca.key, identity_.tls_key.public_key(),
                                                   identity_.node_id))) {
    net::MeshOptions options;
    options.listen = {"127.0.0.1:0"};
    mesh_ = need(net::Mesh::open(loop_, options, identity_, own_, ca.certificate));
    exchange_ = std::make_unique<net::Exchange>(loop_, *mesh_);
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~Node() {
    std::promise<void> closed;
    loop_.post([&] {
      exchange_.reset();
      mesh_.reset();
      closed.set_value();
    });
    closed.get_future().wait();
    loop_.stop();
    thread_.join();
  }
  const std::string& id() const { return identity_.node_id; }
  net::Peer peer() const { return {id(), {"127.0.0.1:" + std::to_string(mesh_->ports().front())}}; }
  Loop& loop() { return loop_; }
  net::Exchange& exchange() { return *exchange_; }
  net::Mesh& mesh() { return *mesh_; }
  template <class Work>
  void on_loop(Work work) {
    std::promise<void> done;
    loop_.post([&] {
      work();
      done.set_value();
    });
    done.get_future().wait();
  }

 private:
  security::NodeIdentity identity_;
  security::Certificate own_;
  AsioLoop loop_;
  std::unique_ptr<net::Mesh> mesh_;
  std::unique_ptr<net::Exchange> exchange_;
  std::thread thread_;
};

// Reads pieces of a file that the other node has, a few at a time, as a copy is made.
class Copy {
 public:
  Copy(Node& to, Node& from) : to_(to), from_(from.id()) {}
  // `done` is called on the loop of the reader.
  void run(std::uint64_t bytes, std::function<void()> done) {
    to_.on_loop([&] {
      left_ = bytes;
      open_ = kInFlight;
      done_ = std::move(done);
      for (unsigned i = 0; i < kInFlight; ++i) spawn(work());
    });
  }
  void stop() { left_ = 0; }
  std::uint64_t got() const { return got_; }

 private:
  static constexpr unsigned kInFlight = 8;

  Task<void> work() {
    while (left_ > 0) {
      left_ -= kPiece;
      net::AskOptions options;
      options.deadline = 30s;
      options.lane = Lane::bulk;
      auto asked = to_.exchange().ask(from_, net::Topic::blob_read, Bytes{}, options);
      const Result<Bytes> piece = co_await std::move(asked);
      if (!piece) fail(piece.error().message());
      keep(piece->front());
      got_ += piece->size();
    }
    if (--open_ == 0) done_();
  }

  Node& to_;
  const std::string from_;
  std::atomic<std::uint64_t> left_{0};
  std::atomic<std::uint64_t> got_{0};
  unsigned open_ = 0;
  std::function<void()> done_;
};

Speed mesh_speed(Node& a, Node& b, std::uint64_t bytes) {
  std::promise<void> arrived;
  Copy copy(b, a);
  const double wall = wall_seconds();
  const double cpu = cpu_seconds();
  copy.run(bytes, [&] { arrived.set_value(); });
  arrived.get_future().wait();
  return {static_cast<double>(bytes) / (wall_seconds() - wall),
          static_cast<double>(bytes) / (cpu_seconds() - cpu)};
}

struct Pair {
  int client = -1;
  int server = -1;
};

Pair tcp_pair() {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof here;
  if (::bind(listener, reinterpret_cast<sockaddr*>(&here), size) != 0 || ::listen(listener, 1) != 0 ||
      ::getsockname(listener, reinterpret_cast<sockaddr*>(&here), &size) != 0)
    fail("no socket on loopback");
  Pair pair;
  pair.client = ::socket(AF_INET, SOCK_STREAM, 0);
  if (::connect(pair.client, reinterpret_cast<sockaddr*>(&here), size) != 0)
    fail("no connection on loopback");
  pair.server = ::accept(listener, nullptr, nullptr);
  ::close(listener);
  const int on = 1;
  for (const int fd : {pair.client, pair.server}) ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return pair;
}

// Blocking sockets, one thread each, one large buffer: what a program would do that does nothing else.
Speed bare_speed(const Ca& ca, std::uint64_t bytes) {
  const auto identity = need(security::make_identity());
  const auto own = need(security::issue_node_certificate(ca.certificate, ca.key,
                                                         identity.tls_key.public_key(), identity.node_id));
  const auto certificate = need(security::parse_x509(own.der));
  const auto make = [&] {
    SSL_CTX* context = SSL_CTX_new(TLS_method());
    SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
    SSL_CTX_use_certificate(context, certificate.get());
    SSL_CTX_use_PrivateKey(context, security::PrivateKeyAccess::get(identity.tls_key));
    return context;
  };
  const Pair pair = tcp_pair();
  double wall = 0;
  double cpu = 0;
  std::thread server([&] {
    SSL_CTX* context = make();
    SSL* ssl = SSL_new(context);
    SSL_set_fd(ssl, pair.server);
    if (SSL_accept(ssl) != 1) fail("the bare stream's server failed");
    std::vector<char> buffer(256 * 1024);
    std::uint64_t got = 0;
    while (got < bytes) {
      const int n = SSL_read(ssl, buffer.data(), static_cast<int>(buffer.size()));
      if (n <= 0) fail("the bare stream ended early");
      got += static_cast<std::uint64_t>(n);
    }
    wall = wall_seconds() - wall;
    cpu = cpu_seconds() - cpu;
    SSL_free(ssl);
    SSL_CTX_free(context);
  });
  SSL_CTX* context = make();
  SSL* ssl = SSL_new(context);
  SSL_set_fd(ssl, pair.client);
  if (SSL_connect(ssl) != 1) fail("the bare stream's client failed");
  const std::vector<char> buffer(kPiece, 0x5a);
  wall = wall_seconds();
  cpu = cpu_seconds();
  for (std::uint64_t sent = 0; sent < bytes; sent += kPiece) {
    if (SSL_write(ssl, buffer.data(), static_cast<int>(kPiece)) <= 0) fail("the bare stream does not write");
  }
  server.join();
  SSL_free(ssl);
  SSL_CTX_free(context);
  ::close(pair.client);
  ::close(pair.server);
  return {static_cast<double>(bytes) / wall, static_cast<double>(bytes) / cpu};
}

// Small questions, one every two milliseconds, for `seconds`: milliseconds until the answer, sorted.
std::vector<double> round_trips(Node& a, Node& b, double seconds) {
  std::vector<double> times;
  std::atomic<unsigned> open{0};
  std::atomic<bool> over{false};
  const double end = wall_seconds() + seconds;
  std::function<void()> ask = [&] {
    if (wall_seconds() >= end) {
      over = true;
      return;
    }
    ++open;
    const double start = wall_seconds();
    spawn<Result<Bytes>>(a.exchange().ask(b.id(), net::Topic::propose, Bytes(100, 1), {.deadline = 30s}),
                         [&, start](Result<Bytes> answer) {
                           if (answer) times.push_back((wall_seconds() - start) * 1e3);
                           --open;
                         });
    a.loop().after(2ms, ask);
  };
  a.loop().post(ask);
  while (!over || open > 0) ::usleep(1000);
  std::sort(times.begin(), times.end());
  if (times.empty()) fail("no question was answered");
  return times;
}

double share(const std::vector<double>& sorted, double part) {
  return sorted[std::min(sorted.size() - 1,
                         static_cast<std::size_t>(static_cast<double>(sorted.size()) * part))];
}

void run(bool quick) {
  const Ca ca;
  Node a(ca);
  Node b(ca);
  a.on_loop([&] {
    a.mesh().set_peers({b.peer()});
    a.exchange().on_ask(net::Topic::blob_read, [](std::string, Bytes) -> Task<Result<Bytes>> {
      Bytes piece;
      piece.reserve(kPiece + 64);  // room for the envelope
      piece.resize(kPiece, 0x5a);
      co_return piece;
    });
  });
  b.on_loop([&] {
    b.mesh().set_peers({a.peer()});
    b.exchange().on_ask(net::Topic::propose,
                        [](std::string, Bytes body) -> Task<Result<Bytes>> { co_return body; });
  });
  const std::uint64_t bytes = std::uint64_t{quick ? 128u : 1024u} * kPiece;
  mesh_speed(a, b, 16 * kPiece);  // the connections are made
  Speed ours;
  Speed peer;
  // By turns, so that a busy neighbour hits both; the best of each.
  for (int round = 0; round < (quick ? 3 : 7); ++round) {
    const Speed bare = bare_speed(ca, bytes);
    const Speed mesh = mesh_speed(a, b, bytes);
    peer = {std::max(peer.wall, bare.wall), std::max(peer.cpu, bare.cpu)};
    ours = {std::max(ours.wall, mesh.wall), std::max(ours.cpu, mesh.cpu)};
  }
  constexpr std::string_view kPeer = "bare OpenSSL TLS 1.3 stream";
  print({kBench, "bulk", "MB/s", ours.wall / 1e6, peer.wall / 1e6, kPeer});
  print({kBench, "bulk_cpu", "MB/s cpu", ours.cpu / 1e6, peer.cpu / 1e6, kPeer});

  const double seconds = quick ? 2 : 10;
  const auto quiet = round_trips(a, b, seconds);
  print({kBench, "control_round_trip_p50_quiet", "ms", share(quiet, 0.5)});
  print({kBench, "control_round_trip_p99_quiet", "ms", share(quiet, 0.99)});
  Copy copy(b, a);
  std::promise<void> ended;
  copy.run(std::uint64_t{1} << 60, [&] { ended.set_value(); });
  while (copy.got() < 16 * kPiece) ::usleep(1000);
  const std::uint64_t before = copy.got();
  const double start = wall_seconds();
  const auto busy = round_trips(a, b, seconds);
  const double rate = static_cast<double>(copy.got() - before) / (wall_seconds() - start);
  copy.stop();
  ended.get_future().wait();
  print({kBench, "control_round_trip_p50_under_bulk", "ms", share(busy, 0.5)});
  print({kBench, "control_round_trip_p99_under_bulk", "ms", share(busy, 0.99)});
  print({kBench, "control_round_trip_max_under_bulk", "ms", busy.back()});
  print({kBench, "bulk_meanwhile", "MB/s", rate / 1e6});
}

}  // namespace
}  // namespace samovar::bench

int main(int argc, char** argv) {
  if (!samovar::security::init()) return 1;
  samovar::log::set_level(samovar::log::Level::warn);
  samovar::bench::run(samovar::bench::has_flag(argc, argv, "--quick"));
  return 0;
}
