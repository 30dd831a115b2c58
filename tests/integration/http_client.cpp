#include "tests/integration/http_client.hpp"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <utility>

namespace samovar::test {
namespace {

template <auto fn>
struct Free {
  template <class T>
  void operator()(T* p) const noexcept {
    fn(p);
  }
};

int open_socket(std::uint16_t port, const ClientOptions& options) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  const timeval limit{30, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  if (options.receive_buffer > 0) {
    ::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &options.receive_buffer, sizeof options.receive_buffer);
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  ::inet_pton(AF_INET, options.source.c_str(), &address.sin_addr);
  bool fine = ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  ::inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
  address.sin_port = htons(port);
  fine = fine && ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  if (fine) return fd;
  ::close(fd);
  return -1;
}

}  // namespace

struct Client::Impl {
  ClientOptions options;
  int fd = -1;
  std::unique_ptr<SSL_CTX, Free<&SSL_CTX_free>> context;
  std::unique_ptr<SSL, Free<&SSL_free>> ssl;
  std::string in;
};

Client::Client(std::uint16_t port, ClientOptions options) : impl_(std::make_unique<Impl>()) {
  // OpenSSL writes without MSG_NOSIGNAL, and the server may have closed already: an error, not the end.
  std::signal(SIGPIPE, SIG_IGN);
  impl_->options = std::move(options);
  impl_->fd = open_socket(port, impl_->options);
}

Client::~Client() {
  if (impl_) close();
}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&& other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}

void Client::close() {
  impl_->ssl.reset();
  if (impl_->fd >= 0) ::close(impl_->fd);
  impl_->fd = -1;
}

bool Client::connected() const { return impl_->fd >= 0; }

bool Client::handshake() {
  const ClientOptions& options = impl_->options;
  impl_->context.reset(SSL_CTX_new(TLS_client_method()));
  SSL_CTX* context = impl_->context.get();
  if (options.weak) SSL_CTX_set_security_level(context, 0);
  if (options.tls_min != 0) SSL_CTX_set_min_proto_version(context, options.tls_min);
  if (options.tls_max != 0) SSL_CTX_set_max_proto_version(context, options.tls_max);
  if (!options.ciphers.empty() && SSL_CTX_set_cipher_list(context, options.ciphers.c_str()) != 1)
    return false;
  impl_->ssl.reset(SSL_new(context));
  if (!options.alpn.empty()) {
    std::string list(1, static_cast<char>(options.alpn.size()));
    list += options.alpn;
    SSL_set_alpn_protos(impl_->ssl.get(), reinterpret_cast<const unsigned char*>(list.data()),
                        static_cast<unsigned>(list.size()));
  }
  SSL_set_fd(impl_->ssl.get(), impl_->fd);
  const bool done = connected() && SSL_connect(impl_->ssl.get()) == 1;
  ERR_clear_error();
  if (!done) impl_->ssl.reset();
  return done;
}

std::string Client::tls_version() const { return impl_->ssl ? SSL_get_version(impl_->ssl.get()) : ""; }
std::string Client::cipher() const { return impl_->ssl ? SSL_get_cipher_name(impl_->ssl.get()) : ""; }
std::string Client::alpn() const {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(impl_->ssl.get(), &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}
std::string Client::certificate_name() const {
  const std::unique_ptr<X509, Free<&X509_free>> leaf(SSL_get1_peer_certificate(impl_->ssl.get()));
  char name[256] = {};
  X509_NAME_get_text_by_NID(X509_get_subject_name(leaf.get()), NID_commonName, name, sizeof name);
  return name;
}

bool Client::send(std::string_view bytes) {
  while (impl_->ssl && !bytes.empty()) {
    const int sent = SSL_write(impl_->ssl.get(), bytes.data(),
                               static_cast<int>(std::min<std::size_t>(bytes.size(), 1 << 20)));
    if (sent <= 0) {
      ERR_clear_error();
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return impl_->ssl != nullptr;
}

bool Client::send_plain(std::string_view bytes) {
  return ::send(impl_->fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

std::string Client::receive_plain() {
  std::string all;
  char piece[4096];
  for (ssize_t got = 0; (got = ::recv(impl_->fd, piece, sizeof piece, 0)) > 0;)
    all.append(piece, static_cast<std::size_t>(got));
  return all;
}

std::string Client::read_some() {
  if (!impl_->in.empty()) return std::exchange(impl_->in, {});
  if (!impl_->ssl) return {};
  char piece[16384];
  const int got = SSL_read(impl_->ssl.get(), piece, sizeof piece);
  ERR_clear_error();
  return got > 0 ? std::string(piece, static_cast<std::size_t>(got)) : std::string();
}

bool Client::closed() {
  while (!read_some().empty()) {
  }
  if (impl_->ssl && (SSL_get_shutdown(impl_->ssl.get()) & SSL_RECEIVED_SHUTDOWN) != 0) return true;
  char byte = 0;
  const ssize_t got = impl_->fd < 0 ? 0 : ::recv(impl_->fd, &byte, 1, MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno != EAGAIN);
}

Reply Client::read_reply(bool head_only) {
  Reply reply;
  std::size_t end = 0;
  std::string& in = impl_->in;
  while ((end = in.find("\r\n\r\n")) == std::string::npos) {
    std::string kept = std::exchange(in, {});
    const std::string more = read_some();
    in = std::move(kept) + more;
    if (more.empty()) return reply;
  }
  std::string head = in.substr(0, end + 2);
  in.erase(0, end + 4);
  reply.status = std::stoi(head.substr(9, 3));
  for (std::size_t line = head.find("\r\n") + 2; line < head.size();) {
    const std::size_t stop = head.find("\r\n", line);
    const std::size_t colon = head.find(": ", line);
    std::string name = head.substr(line, colon - line);
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    reply.headers[name] = head.substr(colon + 2, stop - colon - 2);
    line = stop + 2;
  }
  if (head_only || reply.headers.count("content-length") == 0) return reply;
  const std::size_t length = std::stoul(reply.headers["content-length"]);
  while (in.size() < length) {
    std::string kept = std::exchange(in, {});
    const std::string more = read_some();
    in = std::move(kept) + more;
    if (more.empty()) break;
  }
  reply.body = in.substr(0, length);
  in.erase(0, length);
  return reply;
}

Reply Client::request(std::string_view method, std::string_view target, std::string_view body,
                      std::string_view more_headers) {
  if (!impl_->ssl && !handshake()) return {};
  std::string bytes = std::string(method) + " " + std::string(target) + " HTTP/1.1\r\nHost: localhost\r\n";
  if (!body.empty()) {
    bytes += "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  }
  bytes += std::string(more_headers) + "\r\n" + std::string(body);
  send(bytes);
  return read_reply(method == "HEAD");
}

}  // namespace samovar::test
