// Session: one request after the other.
#include "daemon/api/session.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/encoding.hpp"
#include "base/log.hpp"
#include "base/rng.hpp"
#include "daemon/api/dispatch.hpp"
#include "daemon/api/parse_head.hpp"
#include "daemon/api/response_format.hpp"

namespace samovar::api {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

constexpr std::size_t kPieceBytes = 64 * 1024;
constexpr std::uint64_t kUnaskedBytesMax = 4096;

std::string new_trace_id() {
  std::uint8_t bytes[16];
  system_rng().fill(bytes);
  return hex_encode(bytes);
}

bool sends_body(const RequestHead& head) {
  return head.framing == Framing::chunked || head.content_length > 0;
}

bool is_safe(Method method) {
  return method == Method::get || method == Method::head || method == Method::options;
}

std::uint64_t body_bytes_max(const Route& route, const Limits& limits) {
  if (route.body_bytes_max > 0) return route.body_bytes_max;
  if (route.body == Body::stream) return limits.stream_bytes_max;
  return route.body == Body::json ? limits.json_bytes_max : kUnaskedBytesMax;
}

// Wherever the answer is dropped: its source belongs to the loop thread.
std::shared_ptr<BodySource> released_on_loop(const std::shared_ptr<Engine>& engine,
                                             std::shared_ptr<BodySource> source) {
  if (!source) return nullptr;
  BodySource* const plain = source.get();
  return {plain, [engine, source = std::move(source)](BodySource*) mutable {
            engine->loop.post([last = std::move(source)]() mutable { last.reset(); });
          }};
}

}  // namespace

// The whole header has one deadline, from connect or from its first byte: a byte now and then does not
// buy a slow client more time.
Session::Awaitable<bool> Session::read_head(std::size_t& head_bytes, std::optional<Refusal>& refusal) {
  const Limits& limits = engine_.limits;
  if (!proven_) {
    arm(limits.header_time_max - (Clock::now() - connected_));
  } else {
    if (in_.empty()) {
      arm(limits.idle_time_max);
      if (draining_ || !co_await read_some()) co_return false;
    }
    arm(limits.header_time_max);
  }
  std::size_t scanned = 0;
  for (;;) {
    const std::size_t end = in_.find("\r\n\r\n", scanned);
    if (end != std::string::npos) {
      head_bytes = end + 4;
      disarm();
      co_return true;
    }
    refusal = check_partial_head(in_, limits);
    if (refusal) co_return true;
    scanned = in_.size() > 3 ? in_.size() - 3 : 0;
    if (co_await read_some()) continue;
    // A browser that connected ahead of need and sent nothing is just let go.
    if (!expired_ || closed_ || in_.empty()) co_return false;
    refusal = Refusal{408, "header_too_slow", "The header did not arrive in time. Send the request again."};
    co_return true;
  }
}

std::optional<Refusal> Session::check(const RequestHead& head) {
  if (!engine_.names.allows(head.host)) {
    return Refusal{421, "unknown_host",
                   "This box does not know itself as '" + head.host + "'. " + engine_.names_help};
  }
  const MonoTime now = real_clock().mono();
  if (!engine_.limiter.allow(address_, now)) {
    return Refusal{429, "too_many_requests",
                   "Too many requests from this address. Wait a second, then try again."};
  }
  return std::nullopt;
}

Session::Awaitable<bool> Session::serve_one() {
  // A client that sends many requests at once waits for nothing: let the others have their turn.
  if (proven_) co_await asio::post(engine_.context, asio::use_awaitable);
  if (closed_) co_return false;
  trace_id_ = new_trace_id();
  instance_.clear();
  method_ = Method::get;
  idle_ = true;
  std::size_t head_bytes = 0;
  std::optional<Refusal> refusal;
  if (!co_await read_head(head_bytes, refusal)) co_return false;
  idle_ = false;
  RequestHead head;
  if (!refusal) {
    refusal = parse_head(std::string_view(in_).substr(0, head_bytes), engine_.limits, head);
    in_.erase(0, head_bytes);
    method_ = head.method;
    instance_ = head.path;
  }
  if (refusal) {  // where this request ends is not known, so the connection ends
    unread_body_ = true;
    co_return co_await refuse(std::move(*refusal), false);
  }
  unread_body_ = sends_body(head);
  refusal = check(head);
  const bool keep = refusal ? co_await refuse(std::move(*refusal), head.keep_alive) : co_await route(head);
  proven_ = true;
  if (keep) engine_.table.set_state(id_, ConnectionTable::State::idle);
  co_return keep;
}

Session::Awaitable<bool> Session::route(const RequestHead& head) {
  Router::Match match = engine_.router.match(head.method, head.path);
  switch (match.outcome) {
    case Router::Match::Outcome::found:
      co_return co_await serve_route(head, std::move(match));
    case Router::Match::Outcome::options:
      co_return co_await answer_allow(204, std::move(match.allow), head.keep_alive);
    case Router::Match::Outcome::wrong_method:
      co_return co_await answer_allow(405, std::move(match.allow), head.keep_alive);
    case Router::Match::Outcome::not_found:
      break;
  }
  if (head.path != "/api" && head.path.rfind("/api/", 0) != 0) co_return co_await serve_static(head);
  Refusal missing{404, "not_found", "Nothing is at this address. /openapi.json lists what there is."};
  co_return co_await refuse(std::move(missing), head.keep_alive);
}

Session::Awaitable<bool> Session::answer_allow(int status, std::string allow, bool keep_alive) {
  Response response;
  if (status == 405) {
    response =
        to_response({405, "method_not_allowed", "This address takes " + allow + "."}, instance_, trace_id_);
  }
  response.status = status;
  response.headers.set("Allow", std::move(allow));
  co_return co_await send(std::move(response), keep_alive);
}

Session::Awaitable<bool> Session::serve_static(const RequestHead& head) {
  if (head.method == Method::options)
    co_return co_await answer_allow(204, "GET, HEAD, OPTIONS", head.keep_alive);
  if (!is_safe(head.method)) co_return co_await answer_allow(405, "GET, HEAD, OPTIONS", head.keep_alive);
  Response response = engine_.files.serve(make_request(head));
  if (response.status == 404) {
    Refusal missing{404, "not_found", "There is no such page. Start at '/'."};
    co_return co_await refuse(std::move(missing), head.keep_alive);
  }
  co_return co_await send(std::move(response), head.keep_alive);
}

Request Session::make_request(const RequestHead& head) const {
  Request request;
  request.method = head.method;
  request.path = head.path;
  request.query = head.query;
  request.headers = head.headers;
  request.remote_address = address_;
  request.trace_id = trace_id_;
  return request;
}

std::optional<Refusal> Session::check_body(const Route& route, const RequestHead& head,
                                           const BodyDecoder& body) const {
  if (auto refusal = body.check_length()) return refusal;
  if (sends_body(head) && is_safe(head.method)) {
    return Refusal{400, "unexpected_body", "A GET, HEAD or OPTIONS request has no body. Use parameters."};
  }
  const bool expected = route.body != Body::none && !is_safe(head.method) && head.method != Method::del;
  if (expected && head.framing == Framing::none) {
    return Refusal{411, "length_required", "Send the body with Content-Length, or chunked."};
  }
  return std::nullopt;
}

Session::Awaitable<bool> Session::serve_route(const RequestHead& head, Router::Match match) {
  const Route& route = *match.route;
  BodyDecoder body(head, body_bytes_max(route, engine_.limits));
  std::optional<Refusal> refusal = check_body(route, head, body);
  if (refusal) co_return co_await refuse(std::move(*refusal), head.keep_alive);
  owes_continue_ = head.expects_continue;
  body_time_ = {};
  body_bytes_ = 0;
  body_is_fast_ = false;
  Request request = make_request(head);
  request.params = std::move(match.params);
  if (route.body == Body::stream) {
    std::optional<std::uint64_t> length;
    if (head.framing == Framing::length) length = head.content_length;
    request.stream = std::make_shared<StreamBody>(engine_.shared_from_this(), weak_from_this(), length);
  } else {
    refusal = co_await read_whole(body, request.body);
    stream_.end_bulk();
    if (refusal && refusal->code == "client_left") co_return false;
    if (refusal) co_return co_await refuse(std::move(*refusal), false);
    unread_body_ = false;
  }
  std::optional<Response> response = co_await run_handler(route, std::move(request), body);
  stream_.end_bulk();
  if (!response) co_return false;
  unread_body_ = !body.done();
  SAMOVAR_LOG(debug, api, "request", kv("method", to_string(method_)), kv("path", head.path),
              kv("status", response->status), kv("trace_id", trace_id_));
  if (response->events && method_ != Method::head) co_return co_await stream_events(std::move(*response));
  if (response->stream)
    co_return co_await send_stream(std::move(*response), head.keep_alive, head.takes_chunks);
  co_return co_await send(std::move(*response), head.keep_alive);
}

// The connection stays evictable meanwhile: a slow body is no proof of a good client.
Session::Awaitable<std::optional<Refusal>> Session::read_whole(BodyDecoder& body, std::string& out) {
  struct Reserved {
    std::size_t& total;
    std::size_t mine = 0;
    ~Reserved() { total -= mine; }
  } reserved{engine_.body_memory};
  while (!body.done()) {
    Bytes piece;
    if (auto refusal = co_await fill(body, piece, kPieceBytes)) co_return refusal;
    reserved.mine += piece.size();
    engine_.body_memory += piece.size();
    if (engine_.body_memory > engine_.limits.body_memory_bytes_max) {
      co_return Refusal{503, "busy", "The box is receiving too much at once. Try again in a moment."};
    }
    out.append(as_text(piece));
  }
  co_return std::nullopt;
}

Session::Awaitable<std::optional<Response>> Session::run_handler(const Route& route, Request request,
                                                                 BodyDecoder& body) {
  engine_.table.set_state(id_, ConnectionTable::State::busy);
  ++engine_.requests_running;
  handler_running_ = true;
  body_asked_ = false;
  ahead_.reset();
  response_.reset();
  const auto owner = engine_.shared_from_this();
  dispatch(engine_.loop, owner, engine_.guard, route, std::move(request),
           [owner, weak = weak_from_this()](Response response) {
             response.stream = released_on_loop(owner, std::move(response.stream));
             owner->post([weak, response = std::move(response)]() mutable {
               const auto self = weak.lock();
               if (!self) return;
               self->response_ = std::move(response);
               self->notify();
               // What the client still sends is not waited for.
               if (self->reading_ahead_) self->stream_.cancel();
             });
           });
  // All the while: what one holds ready, and what its handler works on, is memory when nothing is received,
  // too.
  struct Counted {
    std::size_t& all;
    bool counted = false;
    void count() { all += std::exchange(counted, true) ? 0 : 1; }
    ~Counted() { all -= counted ? 1 : 0; }
  } stream_body{engine_.stream_bodies};
  while (!response_ && !closed_) {
    if (answer_body_wish()) continue;
    if (body_asked_ && !ahead_) {
      stream_body.count();
      co_await read_ahead(body);
    } else {
      co_await wait_event();
    }
  }
  handler_running_ = false;
  ahead_.reset();
  --engine_.requests_running;
  if (closed_) co_return std::nullopt;
  co_return std::exchange(response_, std::nullopt);
}

void Session::event_text(std::string text) {
  if (!sink_) return;
  events_out_ += text;
  notify();
}

void Session::end_events() {
  events_ended_ = true;
  notify();
}

Session::Awaitable<bool> Session::stream_events(Response response) {
  if (engine_.event_streams >= engine_.limits.event_streams_max) {
    Refusal full{503, "too_many_streams", "Too many event streams are open. Close some tabs."};
    co_return co_await refuse(std::move(full), true);
  }
  ++engine_.event_streams;
  HeadFormat format{real_clock().wall(), trace_id_, true, false, engine_.hsts, true};
  const bool sent = co_await write(format_head(response, format));
  if (sent) {
    sink_ = std::make_shared<StreamSink>(engine_.shared_from_this(), weak_from_this());
    engine_.loop.post([start = std::move(response.events), sink = sink_] { start(sink); });
    asio::co_spawn(
        engine_.context, [self = shared_from_this()]() -> Awaitable<void> { return self->watch_peer(); },
        asio::detached);
  }
  while (sent && !closed_ && !peer_gone_ && !draining_) {
    if (events_out_.empty()) {
      if (events_ended_) break;
      co_await wait_event();
      continue;
    }
    const std::string out = std::exchange(events_out_, {});
    if (!co_await write(out)) break;
    sink_->sent(out.size());
  }
  --engine_.event_streams;
  // Parting reads too, and TLS takes one reader at a time.
  watch_over_ = true;
  while (sent && !closed_ && !peer_gone_) {
    stream_.cancel();
    co_await wait_event();
  }
  co_return false;
}

// The only way to see a client leave while nothing is being sent. What it sends is not asked for, and however
// much that is, others have their turn.
Session::Awaitable<void> Session::watch_peer() {
  const auto self = shared_from_this();
  std::uint8_t scratch[256];
  error_code error;
  while (!error && !watch_over_) {
    co_await stream_.read_some(scratch, error);
    co_await asio::post(engine_.context, asio::use_awaitable);
  }
  peer_gone_ = true;
  notify();
}

}  // namespace samovar::api
