// UDP for beacons: one socket bound to the group's port that hears, one of its own port that sends and hears
// the answers to what it sent. Several nodes on one machine share the first.
//
// Threading: one thread. The sockets do not block.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace samovar::discovery {

struct Datagram {
  ByteView bytes;          // 513 of a longer one: too long is seen
  std::string address;     // of the sender
  std::uint16_t port = 0;  // of the sender
  unsigned interface = 0;  // its index
  bool multicast = false;
};

class BeaconSocket {
 public:
  // Errc::unavailable with the reason: the port is taken by something else, no IPv4.
  static Result<BeaconSocket> open(const std::string& group, std::uint16_t port);
  BeaconSocket(BeaconSocket&& other) noexcept;
  BeaconSocket& operator=(BeaconSocket&& other) noexcept;
  BeaconSocket(const BeaconSocket&) = delete;
  BeaconSocket& operator=(const BeaconSocket&) = delete;
  ~BeaconSocket();

  int group_fd() const { return group_fd_; }
  int own_fd() const { return own_fd_; }
  std::uint16_t port() const;  // that group_fd is bound to

  // Of an interface, by index; joining twice is fine.
  Result<void> join(unsigned interface);
  void leave(unsigned interface);
  // From `source`, an IPv4 address of the interface: the kernel's own choice may be one of another interface.
  Result<void> send_to_group(unsigned interface, const std::string& source, ByteView bytes);
  Result<void> send_to(const std::string& address, std::uint16_t port, ByteView bytes);
  // What has come to `fd`, at most `count_max`.
  void receive(int fd, unsigned count_max, const std::function<void(const Datagram&)>& take);

 private:
  BeaconSocket() = default;
  int group_fd_ = -1;
  int own_fd_ = -1;
  std::uint32_t group_ = 0;  // network order
  std::uint16_t port_ = 0;
};

}  // namespace samovar::discovery
