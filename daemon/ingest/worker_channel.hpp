// The socket pair between samovard and samovar-worker: whole frames, each with at most one descriptor.
//
// Threading: send() from any thread; receive() from one. Calls block.
#pragma once
#include <optional>
#include <utility>

#include "base/bytes.hpp"
#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "base/result.hpp"
#include "daemon/ingest/worker_protocol.hpp"

namespace samovar::ingest {

// Closes what it holds.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();
  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

// The body may hold keys and is wiped at the end.
struct Frame {
  MessageType type = MessageType::ready;
  Bytes body;
  Descriptor descriptor;

  Frame() = default;
  Frame(Frame&&) = default;
  Frame& operator=(Frame&&) = default;
  ~Frame();
};

class WorkerChannel {
 public:
  explicit WorkerChannel(Descriptor socket) : socket_(std::move(socket)) {}

  // `body` is wiped, whatever comes of it. Errc::io: the other side is gone.
  Result<void> send(MessageType type, Bytes body, int descriptor = -1);
  // Nothing when no frame begins within `wait`. Errc::io: the other side closed; Errc::corrupt: not a frame.
  Result<std::optional<Frame>> receive(Duration wait);
  // The next frame, of this type or an error, however long it takes.
  Result<Frame> receive(MessageType type);

 private:
  Result<void> write_all(ByteView bytes, int descriptor);
  Result<void> read_all(MutableBytes out, Descriptor* descriptor);

  // Constant after construction.
  const Descriptor socket_;
  Mutex sending_;
};

}  // namespace samovar::ingest
