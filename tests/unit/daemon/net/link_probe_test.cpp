// The meter's test on a simulated link of known speed.
#include "daemon/net/link_probe.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "base/sim/sim_transport.hpp"

namespace samovar::net {
namespace {

using namespace std::chrono_literals;

class LinkProbeTest : public ::testing::Test {
 protected:
  Result<LinkMeasure> measure(LinkProbeOptions options) {
    std::optional<Result<LinkMeasure>> measured;
    loop_a_.post([&] {
      spawn<Result<LinkMeasure>>(measure_link(loop_a_, a_, "b", options),
                                 [&](Result<LinkMeasure> result) { measured.emplace(std::move(result)); });
    });
    EXPECT_TRUE(world_.run_until([&] { return measured.has_value(); }, 1h));
    return *std::move(measured);
  }

  SimScheduler world_{3};
  SimNetwork network_{world_, {.latency_min = 1ms, .latency_max = 1ms, .bulk_bytes_per_second = 100'000'000}};
  SimLoop loop_a_{world_};
  SimLoop loop_b_{world_};
  std::unique_ptr<SimTransport> transport_a_ = network_.attach("a", loop_a_);
  std::unique_ptr<SimTransport> transport_b_ = network_.attach("b", loop_b_);
  Exchange a_{loop_a_, *transport_a_};
  Exchange b_{loop_b_, *transport_b_};
};

TEST_F(LinkProbeTest, SaysTheSpeedOfTheLinkInBothDirections) {
  serve_link_probe(b_);
  const auto measured = measure({.bytes = 64u << 20, .time_max = 10s});
  ASSERT_TRUE(measured) << measured.error().message();
  EXPECT_NEAR(measured->send_bytes_per_second, 100e6, 5e6);
  EXPECT_NEAR(measured->receive_bytes_per_second, 100e6, 5e6);
  EXPECT_NEAR(measured->rtt_ms, 2, 0.1);
}

TEST_F(LinkProbeTest, ASlowLinkIsMeasuredForAsLongAsWasSaid) {
  serve_link_probe(b_);
  network_.set_options({.latency_min = 1ms, .latency_max = 1ms, .bulk_bytes_per_second = 2'000'000});
  const MonoTime start = world_.clock().mono();
  const auto measured = measure({.bytes = 1u << 30, .time_max = 5s});
  ASSERT_TRUE(measured) << measured.error().message();
  EXPECT_NEAR(measured->send_bytes_per_second, 2e6, 2e5);
  EXPECT_LT(world_.clock().mono() - start, 20s);
}

TEST_F(LinkProbeTest, ANodeThatKnowsNoProbesSaysSo) {
  const auto measured = measure({});
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().code(), Errc::unsupported);
}

TEST_F(LinkProbeTest, ADeadNodeIsATimeout) {
  network_.partition({"b"});
  EXPECT_EQ(measure({}).error().code(), Errc::timeout);
}

}  // namespace
}  // namespace samovar::net
