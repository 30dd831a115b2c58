// Session: deadlines, reading, writing.
#include "daemon/api/session.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "base/metrics.hpp"
#include "daemon/api/response_format.hpp"

namespace samovar::api {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

constexpr std::size_t kReadBytes = 16 * 1024;  // one TLS record
constexpr std::size_t kPieceBytes = 64 * 1024;

void count_answer(Method method, int status) {
  static constexpr const char* kClasses[] = {"2xx", "3xx", "4xx", "5xx"};
  static metrics::Counter* counters[7][4] = {};  // http thread only
  const auto row = static_cast<std::size_t>(method);
  const auto column = static_cast<std::size_t>(std::min(std::max(status / 100, 2), 5) - 2);
  metrics::Counter*& counter = counters[row][column];
  if (counter == nullptr) {
    counter = &metrics::counter("samovar_api_requests_total", "Requests answered.",
                                {{"method", std::string(to_string(method))}, {"status", kClasses[column]}});
  }
  counter->add();
}

}  // namespace

// A deadline cancels what the socket is doing but leaves it open, so that a 408 can still be sent.
void Session::arm(Duration time) {
  expired_ = false;
  const std::uint64_t turn = ++deadline_turn_;
  deadline_.expires_after(std::max(time, Duration::zero()));
  deadline_.async_wait([weak = weak_from_this(), turn](const error_code& error) {
    const auto self = weak.lock();
    if (error || !self || self->deadline_turn_ != turn || self->closed_) return;
    self->expired_ = true;
    if (self->parting_) return self->close();
    error_code ignored;
    self->stream_.next_layer().cancel(ignored);
    self->notify();
  });
}

void Session::disarm() {
  ++deadline_turn_;
  expired_ = false;
  deadline_.cancel();
}

Session::Awaitable<bool> Session::read_some() {
  if (expired_ || closed_) co_return false;
  const std::size_t before = in_.size();
  in_.resize(before + kReadBytes);
  error_code error;
  const std::size_t count = co_await stream_.async_read_some(
      asio::buffer(in_.data() + before, kReadBytes), asio::redirect_error(asio::use_awaitable, error));
  in_.resize(before + count);
  co_return !error && !expired_ && !closed_;
}

Session::Awaitable<bool> Session::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kPieceBytes);
    bytes.remove_prefix(piece.size());
    if (closed_) co_return false;
    arm(engine_.limits.write_time_max);
    error_code error;
    co_await asio::async_write(stream_, asio::buffer(piece.data(), piece.size()),
                               asio::redirect_error(asio::use_awaitable, error));
    if (error || expired_ || closed_) {
      close();  // half an answer is out: nothing more can be said on this connection
      co_return false;
    }
  }
  disarm();
  co_return true;
}

// Until notify(), close() or the deadline. One thread, so nothing can slip between a caller's check of
// its condition and this wait.
Session::Awaitable<void> Session::wait_event() {
  event_.expires_at(asio::steady_timer::time_point::max());
  error_code cancelled;
  co_await event_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
}

// What came is decoded, or read straight to where it belongs. Takes what is there without waiting again, so
// that a fast client fills whole pieces and a slow one is not held up.
Session::Awaitable<std::optional<Refusal>> Session::fill(BodyDecoder& body, Bytes& out,
                                                         std::size_t out_bytes_max) {
  const Limits& limits = engine_.limits;
  if (std::exchange(owes_continue_, false) && in_.empty() && !body.done()) {
    if (!co_await write("HTTP/1.1 100 Continue\r\n\r\n"))
      co_return Refusal{400, "client_left", "The client has left."};
  }
  for (;;) {
    BodyDecoder::Step step = body.decode(in_, out, out_bytes_max);
    in_.erase(0, step.used);
    if (step.refusal) co_return std::move(step.refusal);
    if (body.done() || out.size() >= out_bytes_max) co_return std::nullopt;
    if (out.empty()) {
      // The minimum rate counts only the time we spent waiting for the client, not a handler's own pauses.
      const auto earned = std::chrono::seconds(body_bytes_ / limits.body_bytes_per_second_min);
      arm(std::min<Duration>(limits.body_grace + earned - body_time_, limits.idle_time_max));
      const auto began = Clock::now();
      const std::size_t had = in_.size();
      const bool more = co_await read_some();
      body_time_ += Clock::now() - began;
      body_bytes_ += in_.size() - had;
      const bool late = expired_;
      disarm();
      if (late)
        co_return Refusal{408, "body_too_slow",
                          "The body came too slowly. Send it again over a better link."};
      if (!more) co_return Refusal{400, "client_left", "The client has left."};
    } else if (!read_now(body, out, out_bytes_max)) {
      co_return std::nullopt;
    }
  }
}

// Without waiting; false when nothing is there. An error shows again at the next wait.
bool Session::read_now(BodyDecoder& body, Bytes& out, std::size_t out_bytes_max) {
  error_code error;
  std::size_t count = 0;
  const std::uint64_t plain = in_.empty() ? body.plain_bytes() : 0;
  if (plain == 0) {
    const std::size_t before = in_.size();
    in_.resize(before + kReadBytes);
    count = stream_.read_some(asio::buffer(in_.data() + before, kReadBytes), error);
    in_.resize(before + count);
  } else {
    const std::size_t before = out.size();
    const std::size_t room =
        static_cast<std::size_t>(std::min<std::uint64_t>({plain, kReadBytes, out_bytes_max - before}));
    if (out.capacity() < out_bytes_max)
      out.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(before + plain, out_bytes_max)));
    out.resize(before + room);
    count = stream_.read_some(asio::buffer(out.data() + before, room), error);
    out.resize(before + count);
    body.took(count);
  }
  body_bytes_ += count;
  return !error && count > 0;
}

Session::Awaitable<bool> Session::send(Response response, bool keep_alive) {
  keep_alive = keep_alive && !draining_ && !unread_body_;
  const bool with_body = method_ != Method::head && may_have_body(response.status);
  const HeadFormat format{real_clock().wall(), trace_id_, instance_.rfind("/api/", 0) == 0, keep_alive,
                          engine_.hsts};
  std::string bytes = format_head(response, format);
  count_answer(method_, response.status);
  if (with_body && response.body.size() <= kPieceBytes) bytes += std::exchange(response.body, {});
  if (!co_await write(bytes)) co_return false;
  if (with_body && !co_await write(response.body)) co_return false;
  co_return keep_alive;
}

Session::Awaitable<bool> Session::refuse(Refusal refusal, bool keep_alive) {
  metrics::counter("samovar_api_rejected_total", "Requests the server itself refused.",
                   {{"reason", refusal.code}})
      .add();
  return send(to_response(refusal, instance_, trace_id_), keep_alive);
}

}  // namespace samovar::api
