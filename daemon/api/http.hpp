// What handlers see of HTTP. No Beast here, and no socket: server.cpp turns these into bytes.
//
// Threading: handlers run on the loop thread; the server parses and formats on its own thread.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "base/task.hpp"

namespace samovar::api {

enum class Method : std::uint8_t { get, head, post, put, patch, del, options };
std::string_view to_string(Method method) noexcept;

// Few and short: a vector beats a map, and order is kept. Names are compared without case.
class Headers {
 public:
  void set(std::string name, std::string value);
  void add(std::string name, std::string value);
  std::string_view get(std::string_view name) const noexcept;  // empty when absent
  bool has(std::string_view name) const noexcept;
  const std::vector<std::pair<std::string, std::string>>& all() const noexcept { return list_; }

 private:
  std::vector<std::pair<std::string, std::string>> list_;
};

// A large request body, chunk by chunk, with back-pressure: the socket is read only when asked.
class BodyReader {
 public:
  virtual ~BodyReader() = default;
  // An empty chunk is the end. Errc::timeout below the minimum rate, Errc::io when the client left.
  // Resumes on the loop thread.
  virtual Task<Result<Bytes>> read() = 0;
  virtual std::optional<std::uint64_t> content_length() const = 0;
};

struct Caller;  // who asks, with which rights; the guard's business

struct Request {
  Method method = Method::get;
  std::string path;                                         // decoded, without query
  std::vector<std::pair<std::string, std::string>> query;   // decoded
  std::vector<std::pair<std::string, std::string>> params;  // {id} of the route's pattern
  Headers headers;
  std::string body;                    // routes with Body::json or Body::none
  std::shared_ptr<BodyReader> stream;  // routes with Body::stream
  std::string remote_address;          // without port
  std::string trace_id;
  std::shared_ptr<const Caller> caller;  // set by the guard; null on routes for anyone

  std::string_view param(std::string_view name) const noexcept;
  std::string_view query_value(std::string_view name) const noexcept;
  std::string_view cookie(std::string_view name) const noexcept;
};

// One live event stream. Loop thread only; the server copies what is sent.
class EventSink {
 public:
  virtual ~EventSink() = default;
  // False when the client reads too slowly (its buffer is full) or is gone.
  virtual bool send(std::string_view text) = 0;
  virtual void close() = 0;
  // Called once, on the loop thread, when the connection ends for whatever reason.
  virtual void on_closed(std::function<void()> closed) = 0;
};

// A long answer, piece by piece, with back-pressure: the next piece is asked for when there is room for it.
class BodySource {
 public:
  virtual ~BodySource() = default;
  // An empty piece is the end. An error closes the connection, so that the client sees a broken answer and
  // not a short one. One call at a time, and destroyed, on the loop thread.
  virtual Task<Result<Bytes>> next() = 0;
};

struct Response {
  int status = 200;
  Headers headers;
  std::string body;
  // Set for a long answer: sent instead of `body`, as chunks or, when known, with a Content-Length.
  std::shared_ptr<BodySource> stream =
      {};  // shared: answers are copied on their way; the engine has the last
  std::optional<std::uint64_t> stream_length = {};
  // Set for text/event-stream: called on the loop thread once the head is sent.
  std::function<void(std::shared_ptr<EventSink>)> events;
};

using Handler = std::function<Task<Response>(Request&)>;

}  // namespace samovar::api
