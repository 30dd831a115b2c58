// A real socket on the loopback, on a port of its own; our own time is simulated.
#include "daemon/discovery/mdns_responder.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "base/sim/sim_loop.hpp"
#include "daemon/discovery/beacon.hpp"
#include "daemon/discovery/beacon_socket.hpp"

namespace samovar::discovery {
namespace {

// "samovar.local", A
const Bytes kQuestion = {0,   9,   0,   0,   0, 1,   0,   0,   0,   0,   0, 0, 7, 's', 'a', 'm',
                         'o', 'v', 'a', 'r', 5, 'l', 'o', 'c', 'a', 'l', 0, 0, 1, 0,   1};

class Asker {
 public:
  Asker() : fd_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    ip_mreqn way{};
    way.imr_ifindex = 1;  // lo
    ::setsockopt(fd_, IPPROTO_IP, IP_MULTICAST_IF, &way, sizeof way);
  }
  ~Asker() { ::close(fd_); }
  Asker(const Asker&) = delete;
  Asker& operator=(const Asker&) = delete;

  bool ask(std::uint16_t port) const {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    ::inet_pton(AF_INET, kMdnsGroup, &to.sin_addr);
    return ::sendto(fd_, kQuestion.data(), kQuestion.size(), 0, reinterpret_cast<const sockaddr*>(&to),
                    sizeof to) > 0;
  }
  Bytes answer() const {
    std::array<std::uint8_t, 512> buffer{};
    const ssize_t size = ::recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    return size > 0 ? Bytes(buffer.begin(), buffer.begin() + size) : Bytes{};
  }

 private:
  const int fd_;
};

TEST(MdnsResponder, AnswersAnOrdinaryProgramAndFallsSilent) {
  SimScheduler scheduler{1};
  SimLoop loop{scheduler};
  const auto probe = BeaconSocket::open(kGroup, 0);
  ASSERT_TRUE(probe);
  const std::uint16_t port = probe->port();
  auto opened = MdnsResponder::open(loop, {{{"lo"}, true}, port});
  ASSERT_TRUE(opened) << opened.error().message();
  (*opened)->answer_for({{"samovar.local", true}});
  const Asker asker;
  ASSERT_TRUE(asker.ask(port));
  Bytes answer;
  for (int i = 0; i < 500 && answer.empty(); ++i) {
    scheduler.run_for(std::chrono::milliseconds(100));
    ::poll(nullptr, 0, 2);  // what the kernel delivers late is waited for
    answer = asker.answer();
  }
  const auto said = read_mdns(answer);
  ASSERT_TRUE(said);
  EXPECT_EQ(said->id, 9);
  ASSERT_FALSE(said->answers.empty());
  EXPECT_EQ(said->answers[0].data, (Bytes{127, 0, 0, 1}));

  (*opened)->answer_for({});
  ASSERT_TRUE(asker.ask(port));
  for (int i = 0; i < 20; ++i) {
    scheduler.run_for(std::chrono::milliseconds(100));
    ::poll(nullptr, 0, 2);
  }
  EXPECT_TRUE(asker.answer().empty());
}

}  // namespace
}  // namespace samovar::discovery
