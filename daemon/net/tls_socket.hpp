// A non-blocking socket under TLS 1.3, driven by whoever owns it: each step does what it can now and says
// what it waits for. No buffers between the cipher and the kernel but OpenSSL's own.
//
// Threading: one thread, that of the socket's io_context. Ownership: owns the socket; borrows the check.
#pragma once
#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <string>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "security/certificates.hpp"

struct ssl_st;
struct ssl_ctx_st;
struct x509_store_ctx_st;

namespace samovar::net {

struct FreeTls {
  void operator()(ssl_st* p) const noexcept;
  void operator()(ssl_ctx_st* p) const noexcept;
};
using TlsContext = std::unique_ptr<ssl_ctx_st, FreeTls>;

// Both ends show a certificate, and nothing of OpenSSL decides about it: PeerCheck does, in the handshake.
Result<TlsContext> make_mesh_context(const security::PrivateKey& key, const security::Certificate& own);
// A throw-away certificate, and none is asked for: it hides, it proves nothing.
Result<TlsContext> make_join_context();

// The other end's leaf. An error refuses the handshake.
using PeerCheck = std::function<Result<void>(const security::Certificate& leaf)>;

enum class TlsRole : std::uint8_t { client, server };
enum class IoState : std::uint8_t { done, want_read, want_write, closed, failed };
struct IoStep {
  IoState state = IoState::done;
  std::size_t bytes = 0;
};

class TlsSocket {
 public:
  using Socket = boost::asio::ip::tcp::socket;

  // `check` is empty when nothing is verified. The context must outlive it.
  TlsSocket(Socket socket, ssl_ctx_st* context, TlsRole role, PeerCheck check);
  ~TlsSocket();
  TlsSocket(const TlsSocket&) = delete;
  TlsSocket& operator=(const TlsSocket&) = delete;

  Socket& socket() { return socket_; }
  IoStep handshake();
  IoStep read(MutableBytes into);
  // Takes a part. After want_write the same bytes must be offered again.
  IoStep write(ByteView from);
  // Much will be read at once: larger buffers, kept.
  void expect_bulk();
  // Of the last step that failed.
  const Error& failure() const { return failure_; }
  // What the check said against the other end's certificate, if it did.
  const std::string& refused() const { return refused_; }
  void close();

 private:
  friend int verify_by_owner(x509_store_ctx_st* store, void* argument);
  IoStep after(int result);
  void classify();

  Socket socket_;
  std::unique_ptr<ssl_st, FreeTls> ssl_;
  PeerCheck check_;
  Error failure_{Errc::io, "no failure"};
  std::string refused_;
  std::uint64_t written_ = 0;  // under the present key
};

// OpenSSL's hook: asks the PeerCheck of the connection at hand.
int verify_by_owner(x509_store_ctx_st* store, void* argument);

// Sets what every connection between nodes wants: no delays, no blocking, a bounded backlog in the kernel.
void tune_socket(boost::asio::ip::tcp::socket& socket);

}  // namespace samovar::net
