// Session: deadlines, reading, writing.
#include "daemon/api/session.hpp"

#include <array>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/metrics.hpp"
#include "daemon/api/response_format.hpp"

namespace samovar::api {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

constexpr std::size_t kReadBytes = 16 * 1024;  // one TLS record
constexpr std::size_t kPieceBytes = 64 * 1024;
// More of a large body is waited for before a piece of it is handed on.
constexpr std::size_t kBulkBytes = 256 * 1024;  // at once
constexpr Duration kGatherTime = std::chrono::milliseconds(10);

MutableBytes bytes_of(std::string& text) {
  return {reinterpret_cast<std::uint8_t*>(text.data()), text.size()};
}

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
    self->stream_.cancel();
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
  const std::size_t count = co_await stream_.read_some(bytes_of(in_).subspan(before), error);
  in_.resize(before + count);
  co_return !error && !expired_ && !closed_;
}

Session::Awaitable<bool> Session::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kPieceBytes);
    bytes.remove_prefix(piece.size());
    if (closed_) co_return false;
    arm(engine_.limits.write_time_max);
    const error_code error = co_await stream_.write(as_bytes(piece));
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

// What the minimum rate leaves. It counts only the time we spent waiting for the client, not a handler's own
// pauses.
Duration Session::body_time_left() const {
  const Limits& limits = engine_.limits;
  const auto earned = std::chrono::seconds(body_bytes_ / limits.body_bytes_per_second_min);
  return std::min<Duration>(limits.body_grace + earned - body_time_, limits.idle_time_max);
}

// Until so many bytes are there, or the time is over.
Session::Awaitable<Session::Waited> Session::wait_body(std::size_t bytes, Duration time) {
  if (time <= Duration::zero()) co_return Waited::late;
  arm(time);
  const auto began = Clock::now();
  const error_code error = co_await stream_.wait_readable(bytes);
  body_time_ += Clock::now() - began;
  const bool late = expired_;
  disarm();
  if (late) co_return Waited::late;
  co_return error || closed_ ? Waited::ended : Waited::ready;
}

// A fast client fills whole pieces and wakes us once for each: waking, and handing a piece on, cost as much
// as deciphering several records. A slow one is held up for kGatherTime at most.
Session::Awaitable<std::optional<Refusal>> Session::fill(BodyDecoder& body, Bytes& out,
                                                         std::size_t out_bytes_max) {
  if (std::exchange(owes_continue_, false) && in_.empty() && !body.done()) {
    if (!co_await write("HTTP/1.1 100 Continue\r\n\r\n"))
      co_return Refusal{400, "client_left", "The client has left."};
  }
  if (body_is_fast_) stream_.expect_bulk(std::min(out_bytes_max, kBulkBytes));
  bool gather = body_is_fast_;
  for (;;) {
    // Answered meanwhile: its wish to stop came between two waits.
    if (response_) co_return Refusal{400, "client_left", "The client has left."};
    bool ended = false;
    if (auto refusal = take_now(body, out, out_bytes_max, ended)) co_return refusal;
    if (out.size() >= out_bytes_max) body_is_fast_ = true;
    if (body.done() || out.size() >= out_bytes_max) co_return std::nullopt;
    Waited waited = ended ? Waited::ended : Waited::ready;
    // Up to one record of the rest may have been read already, but for its end.
    const auto rest = std::min<std::uint64_t>({body.plain_bytes(), out_bytes_max - out.size(), kBulkBytes});
    if (!ended && gather && rest > TlsStream::kRecordBytesMax) {
      waited = co_await wait_body(static_cast<std::size_t>(rest - TlsStream::kRecordBytesMax), kGatherTime);
      gather = body_is_fast_ = waited == Waited::ready;
      if (!body_is_fast_) stream_.end_bulk();
      if (waited != Waited::ended) continue;
    }
    if (!out.empty()) co_return std::nullopt;
    if (waited != Waited::ended) waited = co_await wait_body(1, body_time_left());
    if (waited == Waited::late)
      co_return Refusal{408, "body_too_slow", "The body came too slowly. Send it again over a better link."};
    if (waited == Waited::ended) co_return Refusal{400, "client_left", "The client has left."};
    gather = true;
  }
}

// Takes and decodes what is there. `ended`: there is no more to come.
std::optional<Refusal> Session::take_now(BodyDecoder& body, Bytes& out, std::size_t out_bytes_max,
                                         bool& ended) {
  std::array<std::uint8_t, kReadBytes> record;
  std::string_view came;
  error_code error;
  while (!error) {
    const bool behind = !in_.empty();
    if (behind) in_ += came;
    BodyDecoder::Step step = body.decode(behind ? in_ : came, out, out_bytes_max);
    if (behind) {
      in_.erase(0, step.used);
    } else {
      in_ = came.substr(step.used);
    }
    if (step.refusal) return std::move(step.refusal);
    if (body.done() || out.size() >= out_bytes_max) return std::nullopt;
    // No more than is of use here: the rest stays where it is.
    const auto wanted = std::min<std::uint64_t>(body.plain_bytes(), out_bytes_max - out.size());
    const std::size_t room = wanted > 0 ? std::min<std::uint64_t>(wanted, record.size()) : record.size();
    came = as_text(ByteView(record).first(stream_.read_now(MutableBytes(record).first(room), error)));
    body_bytes_ += came.size();
    // Only for who fills it: a slow client's pieces are many and small.
    if (body_is_fast_ && !came.empty()) out.reserve(out.size() + static_cast<std::size_t>(wanted));
  }
  ended = error != asio::error::would_block;
  return std::nullopt;
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
