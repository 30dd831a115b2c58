// One connection of the mesh: TCP, TLS, hello, then frames until either end goes.
//
//   dialling ──▶ handshake ──▶ greeting ──▶ judged ──▶ open ──▶ leaving
//                (TLS, the      (hellos     (the owner   │     (bye sent; reads
//                 identity)      cross)      decides)    ▼      until the end)
//                                                      closed  ◀── from everywhere
//
// Threading: the net thread. Ownership: shared, because its own waits keep it alive; borrows its owner and
// context, which outlive it.
// Format:    docs/formats/mesh.md
#pragma once
#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "daemon/net/dial.hpp"
#include "daemon/net/frame.hpp"
#include "daemon/net/tls_socket.hpp"

namespace samovar::net {

class Connection;
using ConnectionPtr = std::shared_ptr<Connection>;

struct ConnectionLimits {
  std::uint32_t control_bytes_max = 0;
  std::uint32_t bulk_bytes_max = 0;
  std::size_t unread_bytes_max = 0;  // given to the owner and not taken yet; then the socket is not read
  Duration handshake_max{};
  Duration silence_max{};
};

// What was received and waits for the loop. The one part that two threads touch.
struct Inflow {
  std::atomic<std::size_t> unread{0};
  std::atomic<bool> paused{false};
};

class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  // The node id of a certificate that may talk to us now; `dialled` is who was called, or empty.
  virtual Result<std::string> judge(const Connection& connection, const security::Certificate& leaf,
                                    const std::string& dialled) = 0;
  virtual Hello our_hello(Lane lane) = 0;
  // Both hellos are there. The owner calls go() or refuse(), now or later.
  virtual void greeted(const ConnectionPtr& connection) = 0;
  // The next message to write; false when none waits.
  virtual bool next_message(Connection& connection, Bytes& message) = 0;
  virtual void received(const ConnectionPtr& connection, Bytes message) = 0;
  virtual void moved(Connection& connection, std::size_t sent, std::size_t received) = 0;
  virtual void measured(Connection& connection, Duration round_trip) = 0;
  // Once, never from inside a call of the owner's.
  virtual void closed(const ConnectionPtr& connection, const Error& why) = 0;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  enum class State : std::uint8_t { dialling, handshake, greeting, judged, open, leaving, closed };
  using Socket = boost::asio::ip::tcp::socket;

  Connection(ConnectionOwner& owner, boost::asio::io_context& context, ssl_ctx_st* tls,
             const ConnectionLimits& limits);
  ~Connection();

  void accept(Socket socket);
  void dial(const std::string& address, Lane lane, const std::string& node_id, const DialOptions& options);

  void go();
  void refuse(ByeReason reason, const std::string& text);
  // No more messages from here: says bye, and reads until the other end goes, too.
  void retire();
  void close(const Error& why);

  void wake();    // there may be something to write
  void resume();  // the loop took something
  void ping();
  void tick(MonoTime now);

  State state() const { return state_; }
  bool open() const { return state_ == State::open; }
  bool dialled() const { return dialled_; }
  bool graceful() const { return graceful_; }
  Lane lane() const { return lane_; }
  const std::string& node_id() const { return node_id_; }
  const Hello& hello() const { return hello_; }
  const std::string& remote() const { return remote_; }         // address and port of the other end
  const std::string& dial_address() const { return address_; }  // as it was called, or empty
  boost::asio::ip::address remote_ip() const { return remote_ip_; }
  bool from_here() const;  // the other end is this machine
  MonoTime opened_at() const { return opened_at_; }
  MonoTime heard_at() const { return heard_at_; }
  MonoTime used_at() const { return used_at_; }  // last message, either way
  const std::shared_ptr<Inflow>& inflow() const { return inflow_; }

 private:
  void arm(Duration after);
  void too_late();
  void start_tls(Socket socket, TlsRole role);
  void advance_handshake();
  Error failure() const;
  void greet(const Hello& hello);
  void leave(const Error& why);
  void say(FrameKind kind, Bytes body);
  void ponged(ByteView body);

  void wait_read();
  void wait_write();
  void turn_read();
  void turn_write();
  bool may_read() const;
  void pump_read();
  void ended();
  IoStep read_some();
  void handle(Bytes body);
  void handle_message(Bytes body);
  void handle_bye(ByteView body);
  bool written() const;
  void pump_write();
  bool fill_record();
  bool add_to_record();
  void begin_frame(FrameKind kind, std::size_t bytes);
  void pump_discard();
  void wait_discard();

  // Constant after construction.
  ConnectionOwner& owner_;
  boost::asio::io_context& context_;
  ssl_ctx_st* const tls_context_;
  const ConnectionLimits limits_;
  const std::shared_ptr<Inflow> inflow_;  // shared: the loop may still count when we are gone

  State state_ = State::handshake;
  bool dialled_ = false;
  Lane lane_ = Lane::control;
  std::string node_id_;  // whom we call, then who it is
  std::string address_;
  std::string remote_;
  boost::asio::ip::address remote_ip_;
  Hello hello_;
  std::shared_ptr<Dial> dial_;
  std::unique_ptr<TlsSocket> tls_;
  boost::asio::steady_timer deadline_;
  bool waiting_read_ = false;
  bool waiting_write_ = false;
  bool read_turn_ = false;   // a further turn of reading is posted
  bool write_turn_ = false;  // of writing
  bool blocked_ = false;     // the kernel's buffer was full before this write
  bool discard_ = false;     // what still comes is not looked at
  bool graceful_ = false;    // both ends mean it: nothing is lost
  bool close_when_written_ = false;
  std::size_t discarded_ = 0;
  Error last_error_{Errc::unavailable, "closed"};  // why we leave

  // Reading.
  FrameHeadBytes head_{};
  std::size_t head_got_ = 0;
  FrameHead frame_;
  Bytes body_;
  std::size_t body_got_ = 0;

  // Writing: full records wherever there is enough to fill them.
  Bytes record_;
  std::size_t record_at_ = 0;
  Bytes message_;  // the rest of a long one
  std::size_t message_at_ = 0;
  struct Urgent {
    FrameKind kind = FrameKind::ping;
    Bytes body;
  };
  std::deque<Urgent> urgent_;  // what goes before messages: hello, ping, pong, bye

  // Signs of life.
  MonoTime opened_at_{};
  MonoTime heard_at_{};
  MonoTime used_at_{};
  MonoTime pinged_at_{};
  std::optional<MonoTime>
      waits_since_;  // something was sent that the other end has not heard, and nothing came since
  std::uint16_t messages_in_ = 0;  // modulo 2^16, as the frames carry it
  std::uint16_t messages_out_ = 0;
  bool all_heard_ = true;
  bool sent_since_ping_ = false;
  std::uint64_t progress_ = 0;  // bytes written while the kernel's buffer was full
  std::uint64_t progress_seen_ = 0;
};

}  // namespace samovar::net
