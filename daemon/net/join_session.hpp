// The socket's half of a join line: TLS without names, then messages with their length before them.
//
// Threading: the context's thread, but for Events, which are called there and post to where they belong.
// Ownership: shared, because its own waits keep it alive.
// Format:    docs/formats/join.md
#pragma once
#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "daemon/net/tls_socket.hpp"

namespace samovar::net {

class JoinSession : public std::enable_shared_from_this<JoinSession> {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  struct Events {
    std::function<void()> ready;            // TLS is done
    std::function<void(Bytes)> message;     // one whole message
    std::function<void(const Error&)> end;  // once, also after a failed handshake
  };

  JoinSession(boost::asio::io_context& context, std::shared_ptr<ssl_ctx_st> tls, std::string remote);

  void start(Socket socket, TlsRole role, Duration handshake_max, Events events);
  void send(Bytes message);
  // Sends what waits, then ends, without a word to Events. `keep` is held until then.
  void finish(std::shared_ptr<void> keep);
  void abort(const Error& why);
  void taken();  // the loop took a message: the next may be read
  const std::string& remote() const { return remote_; }

 private:
  void advance();
  void pump_read();
  void pump_write();
  void wait(Socket::wait_type what);
  void arm(Duration after, const Error& why);
  void fail(const IoStep& step);

  const std::shared_ptr<ssl_ctx_st> tls_context_;  // shared by the lines of a door
  const std::string remote_;
  Events events_;
  std::unique_ptr<TlsSocket> tls_;
  boost::asio::steady_timer deadline_;
  bool ready_ = false;
  bool finishing_ = false;
  bool ended_ = false;
  std::shared_ptr<void> keep_;  // shared: the thread that sends our last words
  bool waiting_[3] = {};
  std::size_t untaken_ = 0;
  std::array<std::uint8_t, 4> head_{};
  std::size_t head_got_ = 0;
  Bytes body_;
  std::size_t body_got_ = 0;
  std::deque<Bytes> out_;
  std::size_t out_at_ = 0;
};

}  // namespace samovar::net
