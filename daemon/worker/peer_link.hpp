// The way to the other workers of a job, through samovard: this process has no network.
//
// Small bodies go through the socket, larger ones as memory whose descriptor goes through it.
//
// Threading: the training's own thread. Ownership: borrows Exchange, which outlives it.
#pragma once
#include <functional>

#include "daemon/worker/exchange.hpp"
#include "trainer/sync/peer_group.hpp"

namespace samovar::worker {

class PeerLink final : public trainer::PeerGroup {
 public:
  // `open`: makes these blocks readable before anybody hears of them.
  PeerLink(Exchange& exchange, const jobs::TrainJob& job,
           std::function<Result<void>(const std::vector<std::uint32_t>& blocks)> open);

  const trainer::Membership& membership() const override { return membership_; }
  Result<void> send(std::uint32_t to, ByteView body) override;
  Result<std::optional<trainer::PeerMessage>> receive(std::chrono::milliseconds wait) override;

 private:
  Result<bool> look(Duration wait);
  Result<std::optional<trainer::PeerMessage>> next();

  Exchange& exchange_;
  const std::function<Result<void>(const std::vector<std::uint32_t>&)> open_;
  trainer::Membership membership_;
  std::uint32_t unsent_ = 0;
};

}  // namespace samovar::worker
