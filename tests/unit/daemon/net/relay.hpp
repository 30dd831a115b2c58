// A cable between two nodes that a test can cut without anybody being told: bytes stop, nothing is closed.
#pragma once
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace samovar::net::testing {

inline sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

inline int connect_raw(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in there = loopback(port);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&there), sizeof there) == 0) return fd;
  ::close(fd);
  return -1;
}

class Relay {
 public:
  explicit Relay(std::uint16_t to) : to_(to), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in here = loopback(0);
    socklen_t size = sizeof here;
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&here), size), 0);
    EXPECT_EQ(::listen(listener_, 16), 0);
    EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&here), &size), 0);
    port_ = ntohs(here.sin_port);
    EXPECT_EQ(::pipe(wake_), 0);
    thread_ = std::thread([this] { run(); });
  }
  ~Relay() {
    stop_ = true;
    poke();
    thread_.join();
    for (const auto& [a, b] : pairs_) {
      ::close(a);
      ::close(b);
    }
    ::close(listener_);
    ::close(wake_[0]);
    ::close(wake_[1]);
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  void cut() {
    cut_ = true;
    poke();
  }

 private:
  void poke() { EXPECT_EQ(::write(wake_[1], "x", 1), 1); }
  void run() {
    char buffer[65536];
    while (!stop_) {
      std::vector<pollfd> watched{{wake_[0], POLLIN, 0}};
      if (!cut_) {
        watched.push_back({listener_, POLLIN, 0});
        for (const auto& [a, b] : pairs_) {
          watched.push_back({a, POLLIN, 0});
          watched.push_back({b, POLLIN, 0});
        }
      }
      if (::poll(watched.data(), watched.size(), -1) < 0) continue;
      if (watched[0].revents != 0) {
        EXPECT_EQ(::read(wake_[0], buffer, 1), 1);
        continue;
      }
      for (std::size_t i = 2; i < watched.size(); ++i) {
        if (watched[i].revents == 0) continue;
        const auto& [a, b] = pairs_[(i - 2) / 2];
        const int other = watched[i].fd == a ? b : a;
        const ssize_t got = ::read(watched[i].fd, buffer, sizeof buffer);
        ssize_t sent = 0;
        while (sent < got) {
          const ssize_t n = ::send(other, buffer + sent, static_cast<std::size_t>(got - sent), MSG_NOSIGNAL);
          if (n <= 0) break;
          sent += n;
        }
        if (got <= 0) {
          ::shutdown(other, SHUT_WR);
          ::close(a);
          ::close(b);
          pairs_.erase(pairs_.begin() + static_cast<std::ptrdiff_t>((i - 2) / 2));
          break;
        }
      }
      if (watched.size() > 1 && watched[1].revents != 0) {
        const int in = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        const int out = connect_raw(to_);
        if (in >= 0 && out >= 0) pairs_.emplace_back(in, out);
      }
    }
  }

  const std::uint16_t to_;
  const int listener_;
  std::uint16_t port_ = 0;
  int wake_[2] = {-1, -1};
  std::atomic<bool> stop_{false};
  std::atomic<bool> cut_{false};
  std::vector<std::pair<int, int>> pairs_;
  std::thread thread_;
};

}  // namespace samovar::net::testing
