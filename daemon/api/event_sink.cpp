#include "daemon/api/event_sink.hpp"

#include <utility>

#include "daemon/api/engine.hpp"
#include "daemon/api/session.hpp"

namespace samovar::api {

StreamSink::StreamSink(std::shared_ptr<Engine> engine, std::weak_ptr<Session> session)
    : engine_(std::move(engine)), session_(std::move(session)) {}

StreamSink::~StreamSink() = default;

bool StreamSink::send(std::string_view text) {
  if (over_) return false;
  if (queued_ + text.size() > engine_->limits.event_buffer_bytes_max) return false;
  queued_ += text.size();
  return engine_->post([session = session_, copy = std::string(text)]() mutable {
    if (const auto alive = session.lock()) alive->event_text(std::move(copy));
  });
}

void StreamSink::close() {
  if (over_.exchange(true)) return;
  engine_->post([session = session_] {
    if (const auto alive = session.lock()) alive->end_events();
  });
}

void StreamSink::on_closed(std::function<void()> closed) {
  closed_ = std::move(closed);
  if (!told_) return;
  // Already over: still from the loop, never from inside this call.
  engine_->loop.post([self = shared_from_this()] {
    if (auto callback = std::exchange(self->closed_, nullptr)) callback();
  });
}

void StreamSink::finish() {
  over_ = true;
  engine_->loop.post([self = shared_from_this()] {
    self->told_ = true;
    if (auto callback = std::exchange(self->closed_, nullptr)) callback();
  });
}

Task<Result<Bytes>> StreamBody::read() {
  // Named, because g++ 12 destroys a temporary function inside co_await too early.
  const std::function<void(std::function<void(Result<Bytes>)>)> start =
      [this](std::function<void(Result<Bytes>)> done) {
        const Error gone{Errc::io, "the client has left"};
        const bool taken = engine_->post([engine = engine_, session = session_, done, gone] {
          if (const auto alive = session.lock()) return alive->want_body(done);
          engine->loop.post([done, gone] { done(gone); });
        });
        if (!taken) done(gone);
      };
  co_return co_await from_callback<Result<Bytes>>(start);
}

}  // namespace samovar::api
