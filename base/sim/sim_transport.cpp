#include "base/sim/sim_transport.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace samovar {

SimNetwork::SimNetwork(SimScheduler& scheduler, SimNetworkOptions options)
    : options_(options), rng_(scheduler.rng().fork()), wire_(scheduler) {}

std::unique_ptr<SimTransport> SimNetwork::attach(const std::string& name, SimLoop& loop) {
  return std::make_unique<SimTransport>(*this, name, loop);
}

void SimNetwork::partition(std::set<std::string> side) { side_ = std::move(side); }

Result<void> SimNetwork::send(const std::string& from, const std::string& to, Bytes message, Lane lane) {
  Duration sent_in{};
  if (lane == Lane::bulk && options_.bulk_bytes_per_second != 0) {
    SAMOVAR_TRY(sent_in, bulk_delay(from, to, message.size()));
  }
  ++sent_;
  if (rng_.chance(options_.loss_per_million)) return {};
  if (rng_.chance(options_.duplicate_per_million)) deliver_later(from, to, message, sent_in);
  deliver_later(from, to, std::move(message), sent_in);
  return {};
}

Result<Duration> SimNetwork::bulk_delay(const std::string& from, const std::string& to, std::size_t bytes) {
  const double rate = static_cast<double>(options_.bulk_bytes_per_second);
  const MonoTime now = wire_.clock().mono();
  MonoTime& free_at = bulk_free_at_[{from, to}];
  free_at = std::max(free_at, now);
  const double waiting = std::chrono::duration<double>(free_at - now).count() * rate;
  if (waiting + static_cast<double>(bytes) > static_cast<double>(options_.bulk_queue_bytes_max))
    return Error{Errc::busy, "too much waits to be sent to " + to};
  free_at +=
      std::chrono::duration_cast<Duration>(std::chrono::duration<double>(static_cast<double>(bytes) / rate));
  return free_at - now;
}

void SimNetwork::deliver_later(const std::string& from, const std::string& to, Bytes message,
                               Duration sent_in) {
  const auto spread = static_cast<std::uint64_t>((options_.latency_max - options_.latency_min).count());
  const Duration latency = options_.latency_min + Duration(rng_.below(spread + 1));
  wire_.post_in(sent_in + latency, [this, from, to, data = std::move(message)] { deliver(from, to, data); });
}

void SimNetwork::deliver(const std::string& from, const std::string& to, Bytes message) {
  const auto found = nodes_.find(to);
  if (found == nodes_.end() || !connected(from, to)) return;
  ++delivered_;
  // Through the receiver's loop, which a crash between here and there takes along. A restarted node
  // has a new loop, so nothing of this reaches it.
  SimTransport* receiver = found->second;
  receiver->loop_.post([this, receiver, from, to, data = std::move(message)] {
    const auto now = nodes_.find(to);
    if (now == nodes_.end() || now->second != receiver || !receiver->handler_) return;
    const auto handler = receiver->handler_;  // a copy: it may replace itself or destroy the transport
    handler(from, data);
  });
}

SimTransport::SimTransport(SimNetwork& network, std::string name, SimLoop& loop)
    : network_(network), name_(std::move(name)), loop_(loop) {
  SAMOVAR_ASSERT(network_.nodes_.emplace(name_, this).second);
}

SimTransport::~SimTransport() { network_.nodes_.erase(name_); }

Result<void> SimTransport::send(const std::string& to, Bytes message, Lane lane) {
  return network_.send(name_, to, std::move(message), lane);
}

}  // namespace samovar
