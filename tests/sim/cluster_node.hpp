// A node of the simulated cluster. Its disk outlives its lives.
#pragma once
#include <memory>
#include <string>
#include <utility>

#include "tests/sim/cluster_world.hpp"

namespace samovar::test {

// A way to the network that ends at once when the node dies, whatever its last words would be.
class Gate final : public Transport {
 public:
  explicit Gate(std::unique_ptr<SimTransport> inner) : inner_(std::move(inner)) {}
  const std::string& self() const override { return inner_->self(); }
  Result<void> send(const std::string& to, Bytes message, Lane lane) override {
    if (shut_) return Error{Errc::unavailable, "dead"};
    return inner_->send(to, std::move(message), lane);
  }
  void on_message(OnMessage handler) override { inner_->on_message(std::move(handler)); }
  void shut() { shut_ = true; }

 private:
  std::unique_ptr<SimTransport> inner_;
  bool shut_ = false;
};

struct ClusterWorld::Node {
  Node(std::string name, std::uint64_t seed) : id(std::move(name)), disk(seed), rng(seed ^ 0x5eed) {}

  const std::string id;
  SimDisk disk;
  SimRng rng;
  bool member = false;   // was let in
  bool removed = false;  // for good
  bool removing = false;
  unsigned removals = 0;   // asked for
  std::uint64_t life = 0;  // counts; what began in an earlier one is over
  MonoTime back_at{};      // when it is to be started again
  // While it lives, in order of birth.
  std::unique_ptr<SimLoop> loop;
  std::unique_ptr<Gate> gate;
  std::unique_ptr<net::Exchange> exchange;
  std::unique_ptr<cluster::Cluster> cluster;
  std::unique_ptr<cluster::Steward> steward;
  std::unique_ptr<jobs::Replicas> replicas;

  bool powered() const { return loop != nullptr; }
  bool lives() const { return replicas != nullptr; }
};

}  // namespace samovar::test
