// The throughput meter's test on demand: how fast is the bulk lane to a node, in each direction.
//
// It takes what the link has for up to two times `time_max`: for a person who asks, not for a timer.
//
// Threading: loop only. Ownership: the Exchange outlives both.
// Format:    docs/formats/exchange.md
#pragma once
#include <cstdint>
#include <string>

#include "base/clock.hpp"
#include "base/loop.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "daemon/net/exchange.hpp"

namespace samovar::net {

struct LinkMeasure {
  double send_bytes_per_second = 0;
  double receive_bytes_per_second = 0;
  double rtt_ms = 0;  // of a question on the control lane, the best of a few
};

struct LinkProbeOptions {
  std::uint64_t bytes = 32u << 20;  // in each direction
  Duration time_max = std::chrono::seconds(3);
};

// Answers probes of others.
void serve_link_probe(Exchange& exchange);
// Errc::unavailable or Errc::timeout when not a single piece got through.
Task<Result<LinkMeasure>> measure_link(Loop& loop, Exchange& exchange, std::string to,
                                       LinkProbeOptions options = {});

}  // namespace samovar::net
