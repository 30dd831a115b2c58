#include "base/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <variant>

#include "base/assert.hpp"
#include "base/mutex.hpp"

namespace samovar::metrics {
namespace {

// unique_ptr: callers keep references while the map grows.
using Metric = std::variant<std::unique_ptr<Counter>, std::unique_ptr<Gauge>, std::unique_ptr<Histogram>>;

struct Family {
  std::string help;
  std::map<std::string, Metric> by_labels;  // key: rendered labels without braces
};

struct Registry {
  Mutex mutex;
  std::map<std::string, Family, std::less<>> families SAMOVAR_GUARDED_BY(mutex);
};

// Leaked on purpose: threads may still count while the process ends.
Registry& registry() {
  static auto* instance = new Registry;
  return *instance;
}

bool valid_name(std::string_view name, bool colons) {
  const auto ok = [&](char c, bool first) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (colons && c == ':') ||
           (!first && c >= '0' && c <= '9');
  };
  if (name.empty()) return false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (!ok(name[i], i == 0)) return false;
  }
  return true;
}

std::string escaped(std::string_view text, bool quotes) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && quotes) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
  return out;
}

std::string rendered(const Labels& labels) {
  std::string out;
  for (const auto& [name, value] : labels) {
    // Two underscores in front are Prometheus' own; le is the histogram's.
    SAMOVAR_ASSERT(valid_name(name, false) && !name.starts_with("__") && name != "le");
    if (!out.empty()) out += ',';
    out += name + "=\"" + escaped(value, true) + '"';
  }
  return out;
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

template <class T, class Make>
T& registered(std::string_view name, std::string_view help, const Labels& labels, Make make) {
  SAMOVAR_ASSERT(valid_name(name, true));
  std::string key = rendered(labels);
  Registry& all = registry();
  MutexLock lock(all.mutex);
  auto family = all.families.find(name);
  if (family == all.families.end()) {
    family = all.families.emplace(std::string(name), Family{std::string(help), {}}).first;
  }
  auto& metrics = family->second.by_labels;
  // One name, one kind.
  SAMOVAR_ASSERT(metrics.empty() || std::holds_alternative<std::unique_ptr<T>>(metrics.begin()->second));
  auto found = metrics.find(key);
  if (found == metrics.end()) found = metrics.emplace(std::move(key), make()).first;
  return *std::get<std::unique_ptr<T>>(found->second);
}

void line(std::string& out, std::string_view name, std::string_view labels, std::string_view value) {
  out += name;
  if (!labels.empty()) fmt::format_to(std::back_inserter(out), "{{{}}}", labels);
  fmt::format_to(std::back_inserter(out), " {}\n", value);
}

void render_histogram(std::string& out, const std::string& name, const std::string& labels,
                      const Histogram& h) {
  const std::string prefix = labels.empty() ? "" : labels + ',';
  std::uint64_t total = 0;
  for (std::size_t i = 0; i <= h.bounds().size(); ++i) {
    total += h.bucket(i);
    const std::string bound = i < h.bounds().size() ? number(h.bounds()[i]) : "+Inf";
    line(out, name + "_bucket", prefix + "le=\"" + bound + '"', std::to_string(total));
  }
  line(out, name + "_sum", labels, number(h.sum()));
  // The buckets' total, so that _count equals the +Inf bucket even while others observe.
  line(out, name + "_count", labels, std::to_string(total));
}

}  // namespace

Histogram::Histogram(std::span<const double> bounds)
    : bounds_(bounds.begin(), bounds.end()), buckets_(new std::atomic<std::uint64_t>[bounds.size() + 1]()) {
  SAMOVAR_ASSERT(std::is_sorted(bounds_.begin(), bounds_.end(), std::less_equal<>()));
}

void Histogram::observe(double value) noexcept {
  const auto bucket = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
  buckets_[static_cast<std::size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

std::uint64_t Histogram::count() const noexcept {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i <= bounds_.size(); ++i) total += bucket(i);
  return total;
}

std::span<const double> latency_bounds() noexcept {
  static constexpr std::array kBounds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                         0.25,  0.5,    1.0,   2.5,  5.0,   10.0};
  return kBounds;
}

Counter& counter(std::string_view name, std::string_view help, const Labels& labels) {
  return registered<Counter>(name, help, labels, [] { return std::make_unique<Counter>(); });
}
Gauge& gauge(std::string_view name, std::string_view help, const Labels& labels) {
  return registered<Gauge>(name, help, labels, [] { return std::make_unique<Gauge>(); });
}
Histogram& histogram(std::string_view name, std::string_view help, const Labels& labels,
                     std::span<const double> bounds) {
  return registered<Histogram>(name, help, labels, [bounds] { return std::make_unique<Histogram>(bounds); });
}

std::string render() {
  static constexpr const char* kKinds[] = {"counter", "gauge", "histogram"};
  std::string out;
  Registry& all = registry();
  MutexLock lock(all.mutex);
  for (const auto& [name, family] : all.families) {
    out += "# HELP " + name + ' ' + escaped(family.help, false) + '\n';
    out += "# TYPE " + name + ' ' + kKinds[family.by_labels.begin()->second.index()] + '\n';
    for (const auto& [labels, metric] : family.by_labels) {
      if (const auto* c = std::get_if<std::unique_ptr<Counter>>(&metric)) {
        line(out, name, labels, std::to_string((*c)->value()));
      } else if (const auto* g = std::get_if<std::unique_ptr<Gauge>>(&metric)) {
        line(out, name, labels, number((*g)->value()));
      } else {
        render_histogram(out, name, labels, *std::get<std::unique_ptr<Histogram>>(metric));
      }
    }
  }
  return out;
}

}  // namespace samovar::metrics
