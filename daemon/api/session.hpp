// One connection, from the first byte to the last, as a coroutine on the http thread. Internal, like
// engine.hpp.
//
//   greet (plain HTTP? TLS handshake) → serve_one → serve_one → … → part
//   serve_one: read_head → check → route → body → loop thread (guard, handler) → answer or event stream
//
// Every wait has a deadline, except for a handler that is working and an event stream with nothing to
// send; close() ends those too, so that no coroutine outlives the server.
//
// Threading: http thread only. Ownership: the running coroutine holds the session; the engine's map
// only knows of it; the loop thread reaches it through a weak pointer and a post.
#pragma once
#include "daemon/api/engine.hpp"

// Asio's coroutines after engine.hpp, which includes <utility> for them.
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/api/body_decoder.hpp"
#include "daemon/api/event_sink.hpp"
#include "daemon/api/http.hpp"
#include "daemon/api/tls_stream.hpp"

namespace samovar::api {

class Session : public std::enable_shared_from_this<Session> {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  template <class T>
  using Awaitable = boost::asio::awaitable<T>;

  Session(Engine& engine, Socket socket, ConnectionTable::Id id, std::string address);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void start();
  void close();  // now, whatever is running
  void drain();  // after what is running; at once when idle

  // From the loop thread's objects, by post. `done` is called on the loop thread.
  void want_body(std::function<void(Result<Bytes>)> done);
  void event_text(std::string text);
  void end_events();

 private:
  using Clock = std::chrono::steady_clock;

  // session.cpp
  Awaitable<void> run();
  Awaitable<bool> greet();
  Awaitable<void> refuse_plain_http();
  Awaitable<void> part();

  // session_io.cpp
  void arm(Duration time);
  void disarm();
  Awaitable<bool> read_some();  // into in_; false at the end, an error or the deadline
  Awaitable<bool> write(std::string_view bytes);
  Awaitable<void> wait_event();
  void notify() { event_.cancel(); }
  // Waits until `out` has some bytes of the body, then takes what else is there or close behind; or the body
  // is done, or it fails.
  Awaitable<std::optional<Refusal>> fill(BodyDecoder& body, Bytes& out, std::size_t out_bytes_max);
  std::optional<Refusal> take_now(BodyDecoder& body, Bytes& out, std::size_t out_bytes_max, bool& ended);
  enum class Waited : std::uint8_t { ready, late, ended };
  Awaitable<Waited> wait_body(std::size_t bytes, Duration time);
  Duration body_time_left() const;
  Awaitable<bool> send(Response response, bool keep_alive);
  Awaitable<bool> refuse(Refusal refusal, bool keep_alive);

  // session_request.cpp
  Awaitable<bool> serve_one();  // false: part now
  Awaitable<bool> read_head(std::size_t& head_bytes, std::optional<Refusal>& refusal);
  std::optional<Refusal> check(const RequestHead& head);
  Awaitable<bool> route(const RequestHead& head);
  Awaitable<bool> serve_static(const RequestHead& head);
  Awaitable<bool> answer_allow(int status, std::string allow, bool keep_alive);
  Awaitable<bool> serve_route(const RequestHead& head, Router::Match match);
  std::optional<Refusal> check_body(const Route& route, const RequestHead& head,
                                    const BodyDecoder& body) const;
  Awaitable<std::optional<Refusal>> read_whole(BodyDecoder& body, std::string& out);
  Awaitable<std::optional<Response>> run_handler(const Route& route, Request request, BodyDecoder& body);
  Awaitable<bool> stream_events(Response response);
  Awaitable<void> watch_peer();
  Request make_request(const RequestHead& head) const;

  // session_stream.cpp
  bool answer_body_wish();  // false: nothing has come yet
  Awaitable<void> read_ahead(BodyDecoder& body);
  Awaitable<bool> send_stream(Response response, bool keep_alive, bool takes_chunks);
  void pull(std::shared_ptr<BodySource> source);
  Awaitable<Result<Bytes>> pulled();

  // Constant after construction.
  Engine& engine_;
  const ConnectionTable::Id id_;
  const std::string address_;

  // The connection.
  TlsStream stream_;
  boost::asio::steady_timer deadline_;
  boost::asio::steady_timer event_;
  Clock::time_point connected_ = Clock::now();
  std::string in_;  // received, not yet used
  bool handshaken_ = false;
  bool expired_ = false;  // the deadline passed
  bool closed_ = false;   // close() was called
  bool draining_ = false;
  bool parting_ = false;      // the next deadline is the last
  bool idle_ = true;          // no whole request head is here
  bool proven_ = false;       // a request was answered
  bool unread_body_ = false;  // the client may still be sending: linger before closing
  std::uint64_t deadline_turn_ = 0;

  // The request being served.
  std::string trace_id_;
  std::string instance_;
  Method method_ = Method::get;
  bool owes_continue_ = false;  // "Expect: 100-continue" not yet answered
  Duration body_time_{};        // spent waiting for body bytes
  std::uint64_t body_bytes_ = 0;
  bool body_is_fast_ = false;  // the last piece was full a moment after it began
  std::optional<Response> response_;
  bool handler_running_ = false;
  std::function<void(Result<Bytes>)> body_wish_;
  bool body_asked_ = false;             // the handler has begun to read: from now on a piece is held ready
  bool reading_ahead_ = false;          // the socket is waited on for it
  std::optional<Result<Bytes>> ahead_;  // that piece, or why there is none
  std::optional<Result<Bytes>> stream_piece_;  // of a streamed answer: the next one

  // Its event stream.
  std::shared_ptr<StreamSink> sink_;
  std::string events_out_;
  bool events_ended_ = false;
  bool peer_gone_ = false;
  bool watch_over_ = false;  // the peer is no longer watched
};

}  // namespace samovar::api
