#include "daemon/ingest/worker_channel.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <system_error>

namespace samovar::ingest {
namespace {

Error gone() { return {Errc::io, "the other end of the ingest worker's socket is closed"}; }
Error failed(const char* doing) {
  return {Errc::io, std::string("cannot ") + doing +
                        " the ingest worker's socket: " + std::generic_category().message(errno)};
}

// A body arrives while it is sent; one that stops in the middle is a broken worker.
constexpr int kBodyWaitMs = 60'000;

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}
Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

Frame::~Frame() { security::wipe(MutableBytes(body)); }

// How many bytes the socket took; the descriptor goes with the first of them.
Result<std::size_t> WorkerChannel::write_some(ByteView bytes, int descriptor, int flags) {
  iovec part{const_cast<std::uint8_t*>(bytes.data()), bytes.size()};  // NOLINT: sendmsg only reads
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (descriptor >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(head), &descriptor, sizeof(int));
  }
  for (;;) {
    const ssize_t put = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL | flags);
    if (put >= 0) return static_cast<std::size_t>(put);
    if (errno == EINTR) continue;
    if ((flags & MSG_DONTWAIT) != 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return std::size_t{0};
    if (errno == EPIPE || errno == ECONNRESET) return gone();
    return failed("write to");
  }
}

Result<void> WorkerChannel::write_all(ByteView bytes, int descriptor) {
  while (!bytes.empty()) {
    SAMOVAR_TRY(const std::size_t put, write_some(bytes, descriptor, 0));
    descriptor = -1;
    bytes = bytes.subspan(put);
  }
  return {};
}

Result<void> WorkerChannel::write_kept() {
  while (!kept_.empty()) {
    Kept& first = kept_.front();
    const ByteView rest = ByteView(first.frame).subspan(first.sent);
    SAMOVAR_TRY(const std::size_t put,
                write_some(rest, first.sent == 0 ? first.descriptor.get() : -1, MSG_DONTWAIT));
    if (put == 0) return {};
    moved_ = real_clock().mono();
    first.sent += put;
    if (first.sent < first.frame.size()) continue;
    kept_bytes_ -= first.frame.size();
    security::wipe(MutableBytes(first.frame));
    kept_.pop_front();
  }
  return {};
}

Result<void> WorkerChannel::offer(MessageType type, Bytes body, Descriptor descriptor) {
  SAMOVAR_ASSERT(body.size() <= kFrameBytesMax);
  const auto head = encode_head({static_cast<std::uint32_t>(body.size()), type});
  Kept kept;
  kept.frame.reserve(head.size() + body.size());
  kept.frame.assign(head.begin(), head.end());
  kept.frame.insert(kept.frame.end(), body.begin(), body.end());
  kept.descriptor = std::move(descriptor);
  security::wipe(MutableBytes(body));
  MutexLock lock(sending_);
  lost_ = lost_ || kept_.size() >= kUnreadFramesMax || kept_bytes_ + kept.frame.size() > kUnreadBytesMax;
  if (lost_) {
    security::wipe(MutableBytes(kept.frame));
    return Error{Errc::busy, "the worker does not read what it is told"};
  }
  if (kept_.empty()) moved_ = real_clock().mono();
  kept_bytes_ += kept.frame.size();
  kept_.push_back(std::move(kept));
  return write_kept();
}

Result<void> WorkerChannel::check_read(Duration longest) {
  MutexLock lock(sending_);
  if (!lost_ && (kept_.empty() || real_clock().mono() - moved_ <= longest)) return {};
  return Error{Errc::timeout, "the worker does not read what it is told"};
}

Result<void> WorkerChannel::send(MessageType type, Bytes body, int descriptor) {
  SAMOVAR_ASSERT(body.size() <= kFrameBytesMax);
  const auto head = encode_head({static_cast<std::uint32_t>(body.size()), type});
  auto sent = [&]() -> Result<void> {
    MutexLock lock(sending_);
    SAMOVAR_CHECK(write_all(head, descriptor));
    return write_all(body, -1);
  }();
  security::wipe(MutableBytes(body));
  return sent;
}

Result<void> WorkerChannel::read_all(MutableBytes out, Descriptor* descriptor) {
  while (!out.empty()) {
    pollfd wait{socket_.get(), POLLIN, 0};
    const int ready = ::poll(&wait, 1, kBodyWaitMs);
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return failed("wait for");
    if (ready == 0) return Error{Errc::timeout, "a message of the ingest worker stopped in the middle"};
    iovec part{out.data(), out.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t got = ::recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == ECONNRESET) return gone();
    if (got < 0) return failed("read from");
    if (got == 0) return gone();
    for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr; head = CMSG_NXTHDR(&message, head)) {
      if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(head), sizeof(int));
      Descriptor received(fd);
      if (descriptor == nullptr || *descriptor)
        return Error{Errc::corrupt, "a descriptor came where none belongs"};
      *descriptor = std::move(received);
    }
    if ((message.msg_flags & MSG_CTRUNC) != 0)
      return Error{Errc::corrupt, "more than one descriptor came with a message"};
    out = out.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

Result<std::optional<Frame>> WorkerChannel::receive(Duration wait) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(wait).count();
  pollfd poll{socket_.get(), POLLIN, 0};
  {
    MutexLock lock(sending_);
    if (!kept_.empty()) poll.events |= POLLOUT;
  }
  const int ready =
      ::poll(&poll, 1, static_cast<int>(std::min<std::int64_t>(ms, std::numeric_limits<int>::max())));
  if (ready < 0 && errno != EINTR) return failed("wait for");
  if (ready <= 0) return std::optional<Frame>();
  if ((poll.revents & POLLOUT) != 0) {
    MutexLock lock(sending_);
    auto written = write_kept();
    if (!written && (poll.revents & POLLIN) == 0) return std::move(written).error();
  }
  if ((poll.revents & ~POLLOUT) == 0) return std::optional<Frame>();
  std::array<std::uint8_t, kFrameHeadBytes> bytes{};
  Frame frame;
  SAMOVAR_CHECK(read_all(bytes, &frame.descriptor));
  SAMOVAR_TRY(const FrameHead head, decode_head(bytes));
  frame.type = head.type;
  frame.body.resize(head.body_bytes);
  SAMOVAR_CHECK(read_all(frame.body, nullptr));
  return std::optional<Frame>(std::move(frame));
}

Result<Frame> WorkerChannel::receive(MessageType type) {
  for (;;) {
    SAMOVAR_TRY(auto frame, receive(std::chrono::hours(1)));
    if (!frame) continue;
    if (frame->type != type) return Error{Errc::corrupt, "another message was expected"};
    return *std::move(frame);
  }
}

}  // namespace samovar::ingest
