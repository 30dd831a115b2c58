// An upload over HTTPS on loopback, sealed, hashed and synced to the disk, against raw TLS into nothing: the
// same client, the same cipher, the same bytes, in one run.
//
// Time of the processor is that of all threads, the client's too, so that a busy neighbour changes little.
#include <arpa/inet.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "base/asio_loop.hpp"
#include "base/pool.hpp"
#include "base/rng.hpp"
#include "base/thread_name.hpp"
#include "bench/bench.hpp"
#include "daemon/api/server.hpp"
#include "daemon/jobs/uploads.hpp"
#include "security/init.hpp"

namespace {

using namespace samovar;
using namespace samovar::bench;

void check(bool good, const char* what) {
  if (!good) fail(std::string(what) + " failed");
}

struct Pem {
  std::string chain;
  std::string key;
};

Pem make_certificate() {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* leaf = X509_new();
  ASN1_INTEGER_set(X509_get_serialNumber(leaf), 1);
  X509_gmtime_adj(X509_getm_notBefore(leaf), -3600);
  X509_gmtime_adj(X509_getm_notAfter(leaf), 86400);
  X509_set_pubkey(leaf, key);
  X509_sign(leaf, key, EVP_sha256());
  const auto text = [](auto write) {
    BIO* bio = BIO_new(BIO_s_mem());
    write(bio);
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio, &data);
    std::string out(data, static_cast<std::size_t>(size));
    BIO_free(bio);
    return out;
  };
  Pem pem{text([&](BIO* bio) { PEM_write_bio_X509(bio, leaf); }),
          text([&](BIO* bio) { PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr); })};
  X509_free(leaf);
  EVP_PKEY_free(key);
  return pem;
}

std::uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t total = 0;
  std::uint64_t resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// Connects, sends `head` and then `bytes` of body; the caller reads the answer.
class Client {
 public:
  explicit Client(std::uint16_t port)
      : context_(SSL_CTX_new(TLS_client_method())), fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    check(::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0, "connect");
    ssl_ = SSL_new(context_);
    SSL_set_fd(ssl_, fd_);
    check(SSL_connect(ssl_) == 1, "TLS handshake");
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() {
    SSL_shutdown(ssl_);
    SSL_free(ssl_);
    SSL_CTX_free(context_);
    ::close(fd_);
  }
  void send(std::string_view head, const Bytes& piece, std::uint64_t bytes) {
    if (!head.empty()) check(SSL_write(ssl_, head.data(), static_cast<int>(head.size())) > 0, "sending");
    while (bytes > 0) {
      const int part = static_cast<int>(std::min<std::uint64_t>(bytes, piece.size()));
      check(SSL_write(ssl_, piece.data(), part) == part, "sending");
      bytes -= static_cast<std::uint64_t>(part);
    }
  }
  std::string answer() {
    char text[512] = {};
    const int got = SSL_read(ssl_, text, sizeof text);
    return {text, static_cast<std::size_t>(std::max(got, 0))};
  }

 private:
  SSL_CTX* context_;
  SSL* ssl_ = nullptr;
  int fd_;
};

struct Taken {
  double cpu = 0;
  double wall = 0;
  double switches = 0;  // of threads

  static Taken now() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    return {cpu_seconds(), wall_seconds(), static_cast<double>(used.ru_nvcsw + used.ru_nivcsw)};
  }
  Taken since(const Taken& begin) const {
    return {cpu - begin.cpu, wall - begin.wall, switches - begin.switches};
  }
  // The best of each.
  void keep(const Taken& other) {
    cpu = std::min(cpu, other.cpu);
    wall = std::min(wall, other.wall);
    switches = std::min(switches, other.switches);
  }
};

// TLS into nothing: what there is to reach.
Taken raw(const Pem& pem, const Bytes& piece, std::uint64_t bytes) {
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  BIO* chain = BIO_new_mem_buf(pem.chain.data(), static_cast<int>(pem.chain.size()));
  BIO* key = BIO_new_mem_buf(pem.key.data(), static_cast<int>(pem.key.size()));
  X509* leaf = PEM_read_bio_X509(chain, nullptr, nullptr, nullptr);
  EVP_PKEY* secret = PEM_read_bio_PrivateKey(key, nullptr, nullptr, nullptr);
  check(SSL_CTX_use_certificate(context, leaf) == 1 && SSL_CTX_use_PrivateKey(context, secret) == 1,
        "certificate");
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof here;
  check(::bind(listener, reinterpret_cast<const sockaddr*>(&here), size) == 0 && ::listen(listener, 1) == 0 &&
            ::getsockname(listener, reinterpret_cast<sockaddr*>(&here), &size) == 0,
        "listen");
  std::thread sink([&] {
    const int fd = ::accept(listener, nullptr, nullptr);
    SSL* ssl = SSL_new(context);
    SSL_set_fd(ssl, fd);
    check(SSL_accept(ssl) == 1, "TLS handshake");
    Bytes buffer(256 * 1024);
    for (std::uint64_t got = 0; got < bytes;) {
      const int count = SSL_read(ssl, buffer.data(), static_cast<int>(buffer.size()));
      check(count > 0, "receiving");
      got += static_cast<std::uint64_t>(count);
    }
    check(SSL_write(ssl, "done", 4) == 4, "answering");
    SSL_free(ssl);
    ::close(fd);
  });
  Taken taken;
  {
    Client client(ntohs(here.sin_port));
    const Taken begin = Taken::now();
    client.send("", piece, bytes);
    client.answer();
    taken = Taken::now().since(begin);
  }
  sink.join();
  ::close(listener);
  X509_free(leaf);
  EVP_PKEY_free(secret);
  BIO_free(chain);
  BIO_free(key);
  SSL_CTX_free(context);
  return taken;
}

// The engine and the uploads of the daemon, with their threads; only the guard is left out.
class Box {
 public:
  explicit Box(const Pem& pem) {
    const char* base = std::getenv("TMPDIR");
    folder_ = std::string(base != nullptr ? base : "/var/tmp") + "/samovar-bench-XXXXXX";
    check(mkdtemp(folder_.data()) != nullptr, "making a folder");
    store::SpaceRules rules;
    rules.ballast_bytes = 0;
    rules.full_share = 1;
    dir_ = std::make_unique<store::DataDir>(need(store::DataDir::open(real_disk(), folder_, rules)));
    uploads_ = need(jobs::Uploads::open(loop_, system_rng(), real_disk(), io_, *dir_, wrap_key_));
    call_.actor.user_id = "usr_1";
    const api::Handler take = [this](api::Request& request) -> Task<api::Response> {
      jobs::NewUpload wanted{"bench", *request.stream->content_length()};
      auto made = co_await uploads_->create(call_, std::move(wanted));
      api::Response response;
      response.status = 500;
      if (!made) co_return response;
      std::shared_ptr<api::BodyReader> body = request.stream;
      jobs::DataService::NextPiece next = [body]() -> Task<Result<Bytes>> { return body->read(); };
      std::string id = made->id;
      auto done = co_await uploads_->append(call_, std::move(id), 0, std::move(next));
      if (done && done->complete() && !done->sha256.empty()) response.status = 204;
      std::string again = made->id;
      ignore(co_await uploads_->remove(call_, std::move(again)), "the folder is removed anyway");
      co_return response;
    };
    std::vector<api::Route> routes;
    routes.push_back({api::Method::put, "/u", api::Access::anyone(), api::Body::stream, take, 1ULL << 40});
    server_ = need(api::Server::create(loop_, {}, need(api::Router::create(std::move(routes))), nullptr,
                                       api::StaticFiles::embedded(), {pem.chain, pem.key}));
    port_ = need(server_->listen({"127.0.0.1"}, 0));
    thread_ = std::thread([this] {
      set_thread_name("loop");
      loop_.run();
    });
  }
  Box(const Box&) = delete;
  Box& operator=(const Box&) = delete;
  ~Box() {
    server_.reset();
    loop_.stop();
    thread_.join();
    uploads_.reset();
    std::error_code ignored;
    check(std::system(("rm -rf '" + folder_ + "'").c_str()) == 0, "cleaning up");
  }

  Taken upload(const Bytes& piece, std::uint64_t bytes) {
    Client client(port_);
    const Taken begin = Taken::now();
    client.send("PUT /u HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(bytes) + "\r\n\r\n",
                piece, bytes);
    check(client.answer().rfind("HTTP/1.1 204", 0) == 0, "the upload");
    return Taken::now().since(begin);
  }

 private:
  std::string folder_;
  AsioLoop loop_;
  Pool io_{"io", 3, 1024};
  std::unique_ptr<store::DataDir> dir_;
  const security::SecretBytes wrap_key_ = security::SecretBytes::random(32);
  std::unique_ptr<jobs::Uploads> uploads_;
  cluster::Call call_;
  std::unique_ptr<api::Server> server_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace

int main(int argc, char** argv) {
  check(static_cast<bool>(security::init({false, false})), "libsodium");
  const bool quick = has_flag(argc, argv, "--quick");
  const bool alone = has_flag(argc, argv, "--alone");  // for a profile: without the peer
  const std::uint64_t bytes = quick ? 128ULL << 20 : 1ULL << 30;
  const int rounds = quick ? 2 : 3;
  Bytes piece(1 << 20);
  system_rng().fill(piece);
  const Pem pem = make_certificate();
  Box box(pem);
  box.upload(piece, 32 << 20);  // pools, caches and arenas are as they stay
  const std::uint64_t memory_before = resident_bytes();
  Taken ours{1e9, 1e9, 1e9};
  Taken peer{1e9, 1e9, 1e9};
  for (int i = 0; i < rounds; ++i) {
    ours.keep(box.upload(piece, bytes));
    if (!alone) peer.keep(raw(pem, piece, bytes));
  }
  if (alone) peer = {};
  const std::uint64_t memory_after = resident_bytes();
  const double megabytes = static_cast<double>(bytes) / 1e6;
  print({"upload", "https_to_synced_disk_wall", "MB/s", megabytes / ours.wall,
         alone ? 0 : megabytes / peer.wall, "raw TLS to nothing"});
  print({"upload", "https_to_synced_disk_cpu", "MB per CPU second", megabytes / ours.cpu,
         alone ? 0 : megabytes / peer.cpu, "raw TLS to nothing"});
  print({"upload", "https_to_synced_disk_switches", "context switches per MB", ours.switches / megabytes,
         peer.switches / megabytes, "raw TLS to nothing"});
  const double grown = memory_after > memory_before ? static_cast<double>(memory_after - memory_before) : 0;
  print({"upload", "resident_growth", "MB", grown / 1e6});
}
