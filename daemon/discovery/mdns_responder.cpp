#include "daemon/discovery/mdns_responder.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <system_error>
#include <utility>

#include "base/log.hpp"
#include "base/rng.hpp"

namespace samovar::discovery {
namespace {

constexpr Duration kLookAround = std::chrono::seconds(10);
constexpr unsigned kReceiveBatch = 32;
constexpr std::size_t kWaitingMax = 16;
// Several answer for a shared name: not all in the same moment (RFC 6762 §6).
constexpr std::uint64_t kDelayLeastMs = 20;
constexpr std::uint64_t kDelaySpreadMs = 100;

Error failed(const std::string& what) {
  return Error{Errc::unavailable, what + ": " + std::generic_category().message(errno)};
}

sockaddr_in group_at(std::uint16_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(port);
  ::inet_pton(AF_INET, kMdnsGroup, &out.sin_addr);
  return out;
}

class Socket {
 public:
  Socket() : fd_(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  Socket& operator=(Socket&&) = delete;
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  int fd() const { return fd_; }
  bool set(int level, int name, int value) const {
    return ::setsockopt(fd_, level, name, &value, sizeof value) == 0;
  }

 private:
  int fd_;
};

struct Heard {
  ByteView bytes;
  sockaddr_in from{};
  unsigned card = 0;
};

bool receive(int fd, std::array<std::uint8_t, kMdnsBytesMax + 1>& buffer, Heard& heard) {
  alignas(cmsghdr) std::array<char, 256> control{};
  iovec part{buffer.data(), buffer.size()};
  msghdr message{};
  message.msg_name = &heard.from;
  message.msg_namelen = sizeof heard.from;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t size = ::recvmsg(fd, &message, MSG_DONTWAIT);
  if (size < 0) return false;
  heard.bytes = ByteView(buffer).first(static_cast<std::size_t>(size));
  heard.card = 0;
  for (cmsghdr* entry = CMSG_FIRSTHDR(&message); entry != nullptr; entry = CMSG_NXTHDR(&message, entry)) {
    if (entry->cmsg_level != IPPROTO_IP || entry->cmsg_type != IP_PKTINFO) continue;
    in_pktinfo info{};
    std::memcpy(&info, CMSG_DATA(entry), sizeof info);
    heard.card = static_cast<unsigned>(info.ipi_ifindex);
  }
  return true;
}

// Through this card, whatever the routes say. MSG_DONTROUTE: an answer never leaves the network of that card,
// whatever address the question claims to come from.
void send(int fd, unsigned card, const sockaddr_in& to, const Bytes& bytes) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(in_pktinfo))> control{};
  iovec part{const_cast<std::uint8_t*>(bytes.data()), bytes.size()};
  sockaddr_in target = to;
  msghdr message{};
  message.msg_name = &target;
  message.msg_namelen = sizeof target;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* entry = CMSG_FIRSTHDR(&message);
  entry->cmsg_level = IPPROTO_IP;
  entry->cmsg_type = IP_PKTINFO;
  entry->cmsg_len = CMSG_LEN(sizeof(in_pktinfo));
  in_pktinfo info{};
  info.ipi_ifindex = static_cast<int>(card);
  std::memcpy(CMSG_DATA(entry), &info, sizeof info);
  if (::sendmsg(fd, &message, MSG_DONTROUTE | MSG_DONTWAIT) < 0)
    SAMOVAR_LOG(debug, discovery, "a name was not answered", kv("error", failed("sendmsg").message()));
}

}  // namespace

struct MdnsResponder::Impl {
  Impl(Loop& ground, MdnsOptions chosen, Socket made)
      : loop(ground), options(std::move(chosen)), socket(std::move(made)), names(options.port) {}

  Loop& loop;
  const MdnsOptions options;
  const Socket socket;
  MdnsNames names;
  std::map<unsigned, Interface> cards;                     // that we listen on
  std::vector<std::string> own;                            // all addresses of this computer
  std::map<Loop::Id, std::pair<unsigned, Bytes>> waiting;  // answers to all that go out in a moment
  Loop::Id look_timer = 0;
  Loop::Id watch = 0;

  MonoTime now() { return loop.clock().mono(); }
  void look_around();
  void hear_all();
  void hear(const Heard& heard);
  void tell_all(unsigned card, Bytes bytes);
};

void MdnsResponder::Impl::look_around() {
  own.clear();
  std::map<unsigned, Interface> now_used;
  for (const Interface& card : list_interfaces()) {
    own.insert(own.end(), card.addresses.begin(), card.addresses.end());
    if (!why_not_used(card, options.rules).empty()) continue;
    ip_mreqn request{};
    request.imr_multiaddr = group_at(0).sin_addr;
    request.imr_ifindex = static_cast<int>(card.index);
    const bool joined =
        ::setsockopt(socket.fd(), IPPROTO_IP, IP_ADD_MEMBERSHIP, &request, sizeof request) == 0 ||
        errno == EADDRINUSE;
    if (joined) now_used.emplace(card.index, card);
  }
  cards = std::move(now_used);
  look_timer = loop.after(kLookAround, [this] { look_around(); });
}

void MdnsResponder::Impl::hear_all() {
  std::array<std::uint8_t, kMdnsBytesMax + 1> buffer;
  Heard heard;
  for (unsigned i = 0; i < kReceiveBatch && receive(socket.fd(), buffer, heard); ++i) hear(heard);
}

void MdnsResponder::Impl::hear(const Heard& heard) {
  const auto card = cards.find(heard.card);
  if (card == cards.end()) return;  // not one of those we chose
  char text[INET_ADDRSTRLEN] = {};
  ::inet_ntop(AF_INET, &heard.from.sin_addr, text, sizeof text);
  const MdnsNames::Source source{text, ntohs(heard.from.sin_port), heard.card};
  auto reply = names.hear(now(), heard.bytes, source, card->second.addresses, own);
  if (!reply) return;
  if (reply->to_all) return tell_all(heard.card, std::move(reply->bytes));
  send(socket.fd(), heard.card, heard.from, reply->bytes);
}

void MdnsResponder::Impl::tell_all(unsigned card, Bytes bytes) {
  if (waiting.size() >= kWaitingMax) return;
  const auto delay = std::chrono::milliseconds(kDelayLeastMs + system_rng().below(kDelaySpreadMs + 1));
  // The timer's name is known only when it is made.
  const auto name = std::make_shared<Loop::Id>(0);
  *name = loop.after(delay, [this, name] {
    const auto found = waiting.find(*name);
    if (found == waiting.end()) return;
    send(socket.fd(), found->second.first, group_at(options.port), found->second.second);
    waiting.erase(found);
  });
  waiting.emplace(*name, std::make_pair(card, std::move(bytes)));
}

MdnsResponder::MdnsResponder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<MdnsResponder>> MdnsResponder::open(Loop& loop, MdnsOptions options) {
  Socket socket;
  if (socket.fd() < 0) return failed("no UDP socket for multicast DNS");
  // Shared with the responder of the operating system. Bound to the group, so that what is sent to this
  // computer alone stays that one's.
  const bool ready = socket.set(SOL_SOCKET, SO_REUSEADDR, 1) && socket.set(IPPROTO_IP, IP_PKTINFO, 1) &&
                     socket.set(IPPROTO_IP, IP_MULTICAST_ALL, 0) &&
                     socket.set(IPPROTO_IP, IP_MULTICAST_TTL, 255) && socket.set(IPPROTO_IP, IP_TTL, 255) &&
                     socket.set(IPPROTO_IP, IP_MULTICAST_LOOP, 1);
  if (!ready) return failed("the socket for multicast DNS could not be set up");
  const sockaddr_in group = group_at(options.port);
  if (::bind(socket.fd(), reinterpret_cast<const sockaddr*>(&group), sizeof group) != 0)
    return failed("UDP port " + std::to_string(options.port) + " for multicast DNS is not to be had");
  auto impl = std::make_unique<Impl>(loop, std::move(options), std::move(socket));
  Impl* self = impl.get();
  self->look_around();
  self->watch = loop.watch(self->socket.fd(), [self] { self->hear_all(); });
  return std::unique_ptr<MdnsResponder>(new MdnsResponder(std::move(impl)));
}

MdnsResponder::~MdnsResponder() {
  impl_->loop.cancel(impl_->look_timer);
  for (const auto& [timer, answer] : impl_->waiting) impl_->loop.cancel(timer);
  impl_->loop.unwatch(impl_->watch);
}

void MdnsResponder::answer_for(std::vector<MdnsName> names) { impl_->names.set(std::move(names)); }

std::string MdnsResponder::claimed_by(const std::string& name) const {
  return impl_->names.claimed_by(impl_->now(), name);
}

}  // namespace samovar::discovery
