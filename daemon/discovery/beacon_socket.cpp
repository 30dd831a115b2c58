#include "daemon/discovery/beacon_socket.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "daemon/discovery/beacon.hpp"

namespace samovar::discovery {
namespace {

// Not strerror, which is not for threads.
std::string error_text() { return std::generic_category().message(errno); }

Error failed(const std::string& what) { return Error{Errc::unavailable, what + ": " + error_text()}; }

template <class T>
bool set_option(int fd, int level, int name, const T& value) {
  return ::setsockopt(fd, level, name, &value, sizeof value) == 0;
}

ip_mreqn membership(std::uint32_t group, unsigned interface) {
  ip_mreqn request{};
  request.imr_multiaddr.s_addr = group;
  request.imr_ifindex = static_cast<int>(interface);
  return request;
}

sockaddr_in address_of(std::uint32_t address, std::uint16_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_addr.s_addr = address;
  out.sin_port = htons(port);
  return out;
}

}  // namespace

Result<BeaconSocket> BeaconSocket::open(const std::string& group, std::uint16_t port) {
  BeaconSocket out;
  in_addr parsed{};
  if (::inet_pton(AF_INET, group.c_str(), &parsed) != 1 || !IN_MULTICAST(ntohl(parsed.s_addr)))
    return Error{Errc::invalid, "\"" + group + "\" is no IPv4 multicast address"};
  out.group_ = parsed.s_addr;
  out.port_ = port;
  out.group_fd_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  out.own_fd_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (out.group_fd_ < 0 || out.own_fd_ < 0) return failed("no UDP socket for discovery");
  const int on = 1;
  const int off = 0;
  const unsigned char ttl = 1;
  const unsigned char loop = 1;
  const bool options =
      set_option(out.group_fd_, SOL_SOCKET, SO_REUSEADDR, on) &&
      set_option(out.group_fd_, SOL_SOCKET, SO_REUSEPORT, on) &&
      set_option(out.group_fd_, IPPROTO_IP, IP_PKTINFO, on) &&
      set_option(out.group_fd_, IPPROTO_IP, IP_MULTICAST_ALL, off) &&  // only where we joined
      set_option(out.own_fd_, IPPROTO_IP, IP_PKTINFO, on) &&
      set_option(out.own_fd_, IPPROTO_IP, IP_MULTICAST_TTL, ttl) &&  // never past this network
      set_option(out.own_fd_, IPPROTO_IP, IP_MULTICAST_LOOP, loop);
  if (!options) return failed("the sockets for discovery could not be set up");
  const sockaddr_in all = address_of(INADDR_ANY, port);
  if (::bind(out.group_fd_, reinterpret_cast<const sockaddr*>(&all), sizeof all) != 0)
    return failed("UDP port " + std::to_string(port) + " for discovery is not to be had");
  const sockaddr_in any = address_of(INADDR_ANY, 0);
  if (::bind(out.own_fd_, reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0)
    return failed("no UDP port for discovery");
  return out;
}

BeaconSocket::BeaconSocket(BeaconSocket&& other) noexcept
    : group_fd_(std::exchange(other.group_fd_, -1)),
      own_fd_(std::exchange(other.own_fd_, -1)),
      group_(other.group_),
      port_(other.port_) {}

BeaconSocket& BeaconSocket::operator=(BeaconSocket&& other) noexcept {
  std::swap(group_fd_, other.group_fd_);
  std::swap(own_fd_, other.own_fd_);
  std::swap(group_, other.group_);
  std::swap(port_, other.port_);
  return *this;
}

BeaconSocket::~BeaconSocket() {
  if (group_fd_ >= 0) ::close(group_fd_);
  if (own_fd_ >= 0) ::close(own_fd_);
}

std::uint16_t BeaconSocket::port() const {
  sockaddr_in bound{};
  socklen_t size = sizeof bound;
  if (::getsockname(group_fd_, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return 0;
  return ntohs(bound.sin_port);
}

Result<void> BeaconSocket::join(unsigned interface) {
  const ip_mreqn request = membership(group_, interface);
  if (set_option(group_fd_, IPPROTO_IP, IP_ADD_MEMBERSHIP, request) || errno == EADDRINUSE) return {};
  return failed("could not listen to the group");
}

void BeaconSocket::leave(unsigned interface) {
  const ip_mreqn request = membership(group_, interface);
  // Fails when the interface is gone, and with it the membership.
  ::setsockopt(group_fd_, IPPROTO_IP, IP_DROP_MEMBERSHIP, &request, sizeof request);
}

Result<void> BeaconSocket::send_to_group(unsigned interface, const std::string& source, ByteView bytes) {
  ip_mreqn way = membership(0, interface);
  if (::inet_pton(AF_INET, source.c_str(), &way.imr_address) != 1)
    return Error{Errc::invalid, "\"" + source + "\" is no IPv4 address"};
  if (!set_option(own_fd_, IPPROTO_IP, IP_MULTICAST_IF, way)) return failed("could not choose the interface");
  const sockaddr_in to = address_of(group_, port_);
  if (::sendto(own_fd_, bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to) < 0)
    return failed("could not send");
  return {};
}

Result<void> BeaconSocket::send_to(const std::string& address, std::uint16_t port, ByteView bytes) {
  in_addr parsed{};
  if (::inet_pton(AF_INET, address.c_str(), &parsed) != 1)
    return Error{Errc::invalid, "\"" + address + "\" is no IPv4 address"};
  const sockaddr_in to = address_of(parsed.s_addr, port);
  if (::sendto(own_fd_, bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to) < 0)
    return failed("could not send to " + address);
  return {};
}

void BeaconSocket::receive(int fd, unsigned count_max, const std::function<void(const Datagram&)>& take) {
  for (unsigned i = 0; i < count_max; ++i) {
    std::array<std::uint8_t, kBeaconBytesMax + 1> buffer{};
    alignas(cmsghdr) std::array<char, 256> control{};
    sockaddr_in from{};
    iovec part{buffer.data(), buffer.size()};
    msghdr message{};
    message.msg_name = &from;
    message.msg_namelen = sizeof from;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t size = ::recvmsg(fd, &message, MSG_DONTWAIT);
    if (size < 0 && (errno == ECONNREFUSED || errno == EHOSTUNREACH || errno == EINTR))
      continue;  // of a seed
    if (size < 0) return;
    Datagram datagram;
    datagram.bytes = ByteView(buffer).first(static_cast<std::size_t>(size));
    char text[INET_ADDRSTRLEN] = {};
    ::inet_ntop(AF_INET, &from.sin_addr, text, sizeof text);
    datagram.address = text;
    datagram.port = ntohs(from.sin_port);
    for (cmsghdr* entry = CMSG_FIRSTHDR(&message); entry != nullptr; entry = CMSG_NXTHDR(&message, entry)) {
      if (entry->cmsg_level != IPPROTO_IP || entry->cmsg_type != IP_PKTINFO) continue;
      in_pktinfo info{};
      std::memcpy(&info, CMSG_DATA(entry), sizeof info);
      datagram.interface = static_cast<unsigned>(info.ipi_ifindex);
      datagram.multicast = info.ipi_addr.s_addr == group_;
    }
    take(datagram);
  }
}

}  // namespace samovar::discovery
