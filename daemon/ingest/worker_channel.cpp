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

Result<void> WorkerChannel::write_all(ByteView bytes, int descriptor) {
  while (!bytes.empty()) {
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
    const ssize_t put = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && (errno == EPIPE || errno == ECONNRESET)) return gone();
    if (put < 0) return failed("write to");
    descriptor = -1;  // it went with the first byte
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return {};
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
  const int ready =
      ::poll(&poll, 1, static_cast<int>(std::min<std::int64_t>(ms, std::numeric_limits<int>::max())));
  if (ready < 0 && errno != EINTR) return failed("wait for");
  if (ready <= 0) return std::optional<Frame>();
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
