// Session: request bodies that a handler reads, and answers that a source gives, piece by piece.
#include <fmt/format.h>

#include <algorithm>

#include "base/log.hpp"
#include "daemon/api/response_format.hpp"
#include "daemon/api/session.hpp"

namespace samovar::api {
namespace {

// Large enough that the way to the loop thread and back costs little beside the bytes, and that an upload's
// piece is a whole write to the disk; less when many send at once, so that a crowd needs no more memory than
// a few.
constexpr std::size_t kPieceBytesMax = 1 << 20;
constexpr std::size_t kPieceBytesMin = 16 * 1024;
constexpr std::size_t kPiecesBytesTotal = 16 << 20;

Error as_error(const Refusal& refusal) {
  const Errc code = refusal.status == 408           ? Errc::timeout
                    : refusal.code == "client_left" ? Errc::io
                                                    : Errc::invalid;
  return {code, refusal.detail};
}

Task<void> pull_one(std::shared_ptr<BodySource> source, std::function<void(Result<Bytes>)> done) {
  done(co_await source->next());
}

}  // namespace

void Session::want_body(std::function<void(Result<Bytes>)> done) {
  if (!handler_running_ || closed_ || body_wish_) {
    engine_.loop.post([done = std::move(done)] { done(Error{Errc::io, "the client has left"}); });
    return;
  }
  body_wish_ = std::move(done);
  body_asked_ = true;
  notify();
}

bool Session::answer_body_wish() {
  if (!body_wish_ || !ahead_) return false;
  // Shared, as the loop's work is copied and a piece should not be.
  const auto result = std::make_shared<Result<Bytes>>(std::move(*ahead_));
  // The end and a failure stay what they are, however often they are asked for.
  if (*result && !(*result)->empty()) {
    ahead_.reset();
  } else {
    *ahead_ = *result;
  }
  engine_.loop.post([done = std::exchange(body_wish_, nullptr), result] { done(std::move(*result)); });
  return true;
}

// While the handler works on one piece the next is received: TLS and disk keep two cores busy.
Session::Awaitable<void> Session::read_ahead(BodyDecoder& body) {
  const std::size_t bytes_max =
      std::clamp(kPiecesBytesTotal / engine_.stream_bodies, kPieceBytesMin, kPieceBytesMax);
  Bytes piece;
  reading_ahead_ = true;
  const std::optional<Refusal> refusal = co_await fill(body, piece, bytes_max);
  reading_ahead_ = false;
  if (refusal) {
    ahead_.emplace(as_error(*refusal));
  } else {
    ahead_.emplace(std::move(piece));
  }
}

// Asks the source for its next piece; the answer goes to stream_piece_.
void Session::pull(std::shared_ptr<BodySource> source) {
  stream_piece_.reset();
  const auto owner = engine_.shared_from_this();
  engine_.loop.post([owner, weak = weak_from_this(), source = std::move(source)] {
    const std::function<void(Result<Bytes>)> done = [owner, weak](Result<Bytes> piece) {
      owner->post([weak, piece = std::move(piece)]() mutable {
        const auto self = weak.lock();
        if (!self) return;
        self->stream_piece_.emplace(std::move(piece));
        self->notify();
      });
    };
    spawn(pull_one(source, done));
  });
}

Session::Awaitable<Result<Bytes>> Session::pulled() {
  while (!stream_piece_ && !closed_) co_await wait_event();
  if (closed_) co_return Error{Errc::io, "the client has left"};
  Result<Bytes> piece = std::move(*stream_piece_);
  stream_piece_.reset();
  co_return piece;
}

// One piece is being sent and one being made, never more: the client's reading sets the pace.
Session::Awaitable<bool> Session::send_stream(Response response, bool keep_alive, bool takes_chunks) {
  const std::shared_ptr<BodySource> source = std::exchange(response.stream, nullptr);
  const std::optional<std::uint64_t> length = response.stream_length;
  const bool chunked = !length && takes_chunks;
  keep_alive = keep_alive && !draining_ && !unread_body_ && (length || chunked);
  HeadFormat format{real_clock().wall(), trace_id_, true, keep_alive, engine_.hsts};
  format.chunked = chunked;
  format.until_close = !length && !chunked;
  response.stream = source;  // for its length in the head
  std::string out = format_head(response, format);
  response.stream.reset();
  if (method_ == Method::head) co_return co_await write(out) && keep_alive;
  std::uint64_t sent = 0;
  pull(source);
  for (;;) {
    Result<Bytes> piece = co_await pulled();
    if (closed_) co_return false;
    if (piece && length && (sent += piece->size()) != *length && (piece->empty() || sent > *length)) {
      piece = Error{Errc::internal, fmt::format("{} bytes were announced, {} came", *length, sent)};
    }
    if (!piece) {
      SAMOVAR_LOG(warn, api, "an answer broke off", kv("path", instance_), kv("trace_id", trace_id_),
                  kv("reason", piece.error().message()));
      close();  // without the last chunk or the last bytes: the client must not take it for whole
      co_return false;
    }
    const bool last = piece->empty();
    if (!last) pull(source);
    if (chunked && !last) out += fmt::format("{:x}\r\n", piece->size());
    out.append(as_text(*piece));
    if (chunked) out += last ? "0\r\n\r\n" : "\r\n";
    if (!co_await write(out)) co_return false;
    if (last) co_return keep_alive;
    out.clear();
  }
}

}  // namespace samovar::api
