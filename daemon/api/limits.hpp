// Every bound of the HTTPS engine in one place. The defaults are the product's; tests shorten the
// times and lift the per-address numbers, as all their clients come from loopback.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/clock.hpp"

namespace samovar::api {

struct Limits {
  // Requests.
  std::size_t header_bytes_max = 16 * 1024;       // 431
  std::size_t header_fields_max = 64;             // 431
  std::size_t request_line_bytes_max = 8 * 1024;  // 414
  std::uint64_t json_bytes_max = 1 << 20;         // 413
  std::uint64_t stream_bytes_max = 16ULL << 30;   // 413
  std::size_t body_memory_bytes_max = 64 << 20;   // all JSON bodies being received together; 503
  // Time.
  Duration handshake_time_max = std::chrono::seconds(5);
  Duration header_time_max = std::chrono::seconds(10);  // whole header, from connect or its first byte
  Duration idle_time_max = std::chrono::seconds(60);    // kept alive between requests
  Duration write_time_max = std::chrono::seconds(20);   // per 64 KiB piece
  Duration body_grace = std::chrono::seconds(5);        // before the minimum rate counts
  std::uint64_t body_bytes_per_second_min = 1024;       // 408
  Duration stop_time_max = std::chrono::seconds(5);
  // Crowds.
  std::size_t connections_max = 1024;
  std::size_t connections_per_address_max = 64;
  double requests_per_second = 100;  // per address; 429
  double request_burst = 200;
  std::size_t event_streams_max = 500;  // 503
  std::size_t event_buffer_bytes_max = 256 * 1024;
};

}  // namespace samovar::api
