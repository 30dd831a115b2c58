// The loop thread's end of an event stream. Internal: handlers see EventSink.
//
// Threading: EventSink's own methods on the loop thread; sent() and finish() on the http thread.
#pragma once
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

#include "daemon/api/http.hpp"

namespace samovar::api {

struct Engine;
class Session;

class StreamSink : public EventSink, public std::enable_shared_from_this<StreamSink> {
 public:
  StreamSink(std::shared_ptr<Engine> engine, std::weak_ptr<Session> session);
  ~StreamSink() override;

  bool send(std::string_view text) override;
  void close() override;
  void on_closed(std::function<void()> closed) override;

  // http thread: so many bytes left for the client.
  void sent(std::size_t bytes) noexcept { queued_.fetch_sub(bytes); }
  // http thread, once: the connection is over; tells the loop.
  void finish();

 private:
  // Constant after construction.
  const std::shared_ptr<Engine> engine_;
  const std::weak_ptr<Session> session_;
  // Any thread.
  std::atomic<std::size_t> queued_{0};
  std::atomic<bool> over_{false};
  // Loop only.
  bool told_ = false;
  std::function<void()> closed_;
};

// A request body read by a handler; the other direction of the same traffic.
class StreamBody : public BodyReader {
 public:
  StreamBody(std::shared_ptr<Engine> engine, std::weak_ptr<Session> session,
             std::optional<std::uint64_t> content_length)
      : engine_(std::move(engine)), session_(std::move(session)), content_length_(content_length) {}

  Task<Result<Bytes>> read() override;
  std::optional<std::uint64_t> content_length() const override { return content_length_; }

 private:
  const std::shared_ptr<Engine> engine_;
  const std::weak_ptr<Session> session_;
  const std::optional<std::uint64_t> content_length_;
};

}  // namespace samovar::api
