// The socket pair between samovard and samovar-worker: whole frames, each with at most one descriptor.
//
// Threading: send() and offer() from any thread; receive() from one. All but offer() block.
#pragma once
#include <deque>
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

// What may wait for the other side to read; in order, a worker has a few dozen.
inline constexpr std::size_t kUnreadFramesMax = 512;
inline constexpr std::size_t kUnreadBytesMax = 2 * kFrameBytesMax;

// One end uses either send() or offer(), not both.
class WorkerChannel {
 public:
  explicit WorkerChannel(Descriptor socket) : socket_(std::move(socket)) {}

  // `body` is wiped, whatever comes of it. Errc::io: the other side is gone.
  Result<void> send(MessageType type, Bytes body, int descriptor = -1);
  // Likewise, without ever waiting for the other side: what the socket does not take is kept, and goes out
  // with the next offer() and while receive() waits. Errc::busy: more is kept than may be, the frame is lost.
  Result<void> offer(MessageType type, Bytes body, Descriptor descriptor = {});
  // Errc::timeout once a frame was lost, or nothing of what is kept went out for `longest`.
  Result<void> check_read(Duration longest);
  // Nothing when no frame begins within `wait`, or sooner when something else went out meanwhile.
  // Errc::io: the other side closed; Errc::corrupt: not a frame.
  Result<std::optional<Frame>> receive(Duration wait);
  // The next frame, of this type or an error, however long it takes.
  Result<Frame> receive(MessageType type);

 private:
  struct Kept {
    Bytes frame;
    std::size_t sent = 0;
    Descriptor descriptor;
  };
  Result<std::size_t> write_some(ByteView bytes, int descriptor, int flags);
  Result<void> write_all(ByteView bytes, int descriptor);
  Result<void> write_kept() SAMOVAR_REQUIRES(sending_);
  Result<void> read_all(MutableBytes out, Descriptor* descriptor);

  // Constant after construction.
  const Descriptor socket_;
  Mutex sending_;
  std::deque<Kept> kept_ SAMOVAR_GUARDED_BY(sending_);
  std::size_t kept_bytes_ SAMOVAR_GUARDED_BY(sending_) = 0;
  MonoTime moved_ SAMOVAR_GUARDED_BY(sending_){};  // the last time that some of it went out
  bool lost_ SAMOVAR_GUARDED_BY(sending_) = false;
};

}  // namespace samovar::ingest
