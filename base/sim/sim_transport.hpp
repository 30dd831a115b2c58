// A network in memory: latency, loss, duplication and partitions, all drawn from the seed.
//
// Threading: one thread, the simulation's.
// Ownership: SimNetwork outlives its transports; a transport lives no longer than its node's loop.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "base/sim/sim_loop.hpp"
#include "base/transport.hpp"

namespace samovar {

struct SimNetworkOptions {
  Duration latency_min = std::chrono::microseconds(100);
  Duration latency_max = std::chrono::milliseconds(2);
  std::uint32_t loss_per_million = 0;
  std::uint32_t duplicate_per_million = 0;
  // The bulk lane between two nodes, in each direction: its speed (0: no bound), and what may wait for it.
  std::uint64_t bulk_bytes_per_second = 0;
  std::size_t bulk_queue_bytes_max = 32u << 20;
};

class SimTransport;

class SimNetwork {
 public:
  SimNetwork(SimScheduler& scheduler, SimNetworkOptions options);

  // One transport per name at a time; destroy it to take the node off the network.
  std::unique_ptr<SimTransport> attach(const std::string& name, SimLoop& loop);

  // Nodes named here reach only each other, the others only the others. Replaces an earlier cut, and
  // also stops what is in flight across it.
  void partition(std::set<std::string> side);
  void heal() { side_.clear(); }
  void set_options(SimNetworkOptions options) { options_ = options; }

  std::uint64_t sent() const { return sent_; }
  std::uint64_t delivered() const { return delivered_; }

 private:
  friend class SimTransport;
  bool connected(const std::string& a, const std::string& b) const {
    return side_.contains(a) == side_.contains(b);
  }
  Result<void> send(const std::string& from, const std::string& to, Bytes message, Lane lane);
  // How long until the last byte of it is on the wire; Errc::busy when too much waits already.
  Result<Duration> bulk_delay(const std::string& from, const std::string& to, std::size_t bytes);
  void deliver_later(const std::string& from, const std::string& to, Bytes message, Duration sent_in);
  void deliver(const std::string& from, const std::string& to, Bytes message);

  SimNetworkOptions options_;
  SimRng rng_;
  SimLoop wire_;  // messages in flight belong to nobody's node
  std::map<std::string, SimTransport*> nodes_;
  std::set<std::string> side_;
  std::map<std::pair<std::string, std::string>, MonoTime> bulk_free_at_;
  std::uint64_t sent_ = 0;
  std::uint64_t delivered_ = 0;
};

class SimTransport : public Transport {
 public:
  SimTransport(SimNetwork& network, std::string name, SimLoop& loop);
  ~SimTransport() override;
  SimTransport(const SimTransport&) = delete;
  SimTransport& operator=(const SimTransport&) = delete;

  const std::string& self() const override { return name_; }
  Result<void> send(const std::string& to, Bytes message, Lane lane = Lane::control) override;
  void on_message(OnMessage handler) override { handler_ = std::move(handler); }

 private:
  friend class SimNetwork;
  SimNetwork& network_;
  const std::string name_;
  SimLoop& loop_;
  OnMessage handler_;
};

}  // namespace samovar
