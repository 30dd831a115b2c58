// Counters, gauges and histograms, rendered as Prometheus text 0.0.4 at /metrics.
//
//   static metrics::Counter& reads = metrics::counter("samovar_store_read_bytes_total", "Bytes read from
//   shards."); reads.add(n);
//
// Threading: any thread. Updates take no lock; registering and rendering take one.
// Ownership: metrics live as long as the process; the same name and labels give the same object.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace samovar::metrics {

class Counter {
 public:
  void add(std::uint64_t n = 1) noexcept { value_.fetch_add(n, std::memory_order_relaxed); }
  std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

class Gauge {
 public:
  void set(double value) noexcept { value_.store(value, std::memory_order_relaxed); }
  void add(double delta) noexcept { value_.fetch_add(delta, std::memory_order_relaxed); }
  double value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

class Histogram {
 public:
  explicit Histogram(std::span<const double> bounds);  // rising upper bounds; +Inf is added
  void observe(double value) noexcept;
  std::uint64_t count() const noexcept;
  double sum() const noexcept { return sum_.load(std::memory_order_relaxed); }
  std::span<const double> bounds() const noexcept { return bounds_; }
  std::uint64_t bucket(std::size_t i) const noexcept { return buckets_[i].load(std::memory_order_relaxed); }

 private:
  const std::vector<double> bounds_;
  std::unique_ptr<std::atomic<std::uint64_t>[]> buckets_;  // bounds_.size() + 1, not cumulative
  std::atomic<double> sum_{0};
};

using Labels = std::vector<std::pair<std::string, std::string>>;

// 1 ms to 10 s, for latencies in seconds.
std::span<const double> latency_bounds() noexcept;

// Names match [a-zA-Z_:][a-zA-Z0-9_:]*, labels [a-zA-Z_][a-zA-Z0-9_]*; a wrong name, or one name with
// two kinds, is our bug and asserts.
Counter& counter(std::string_view name, std::string_view help, const Labels& labels = {});
Gauge& gauge(std::string_view name, std::string_view help, const Labels& labels = {});
Histogram& histogram(std::string_view name, std::string_view help, const Labels& labels = {},
                     std::span<const double> bounds = latency_bounds());

// Everything registered, sorted by name, then labels.
std::string render();
inline constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace samovar::metrics
