// The way to the other workers of a job, through samovard: this process has no network.
//
// Small bodies go through the socket, larger ones as memory whose descriptor goes through it. samovard takes
// so many at a time; what is above that waits here, and training goes on meanwhile. Only who has more waiting
// than kWaitingBytesMax is held up.
//
// Threading: the training's own thread. Ownership: borrows Exchange, which outlives it.
#pragma once
#include <deque>
#include <functional>

#include "daemon/worker/exchange.hpp"
#include "trainer/sync/peer_group.hpp"

namespace samovar::worker {

class PeerLink final : public trainer::PeerGroup {
 public:
  using Open = std::function<Result<void>(const std::vector<std::uint32_t>&)>;
  // `open`: makes these blocks readable before anybody hears of them; `open_shards`: shards that came
  // meanwhile, for passes to come.
  PeerLink(Exchange& exchange, const jobs::TrainJob& job, Open open, Open open_shards = {});

  const trainer::Membership& membership() const override { return membership_; }
  Result<void> send(std::uint32_t to, ByteView body) override { return give(to, to_bytes(body)); }
  Result<void> give(std::uint32_t to, Bytes body) override;
  double seconds_blocked() const override { return blocked_; }
  Result<std::optional<trainer::PeerMessage>> receive(std::chrono::milliseconds wait) override;

  // Returns when samovard has all that was said; or when it wants to hear no more.
  Result<void> drain();

  static constexpr std::size_t kWaitingBytesMax = 32u << 20;

 private:
  struct Waiting {
    std::uint32_t to = 0;
    std::uint64_t epoch = 0;
    Bytes body;
  };
  Result<bool> look(Duration wait);
  // As much of what waits as samovard takes now.
  Result<void> hand_over();
  Result<void> say(const Waiting& message);
  // Waits for room.
  Result<void> make_room(std::size_t bytes_most);
  Result<std::optional<trainer::PeerMessage>> next();

  Exchange& exchange_;
  const Open open_, open_shards_;
  trainer::Membership membership_;
  std::uint32_t unsent_ = 0;  // that samovard has, and has not carried yet
  std::deque<Waiting> waiting_;
  std::size_t waiting_bytes_ = 0;
  double blocked_ = 0;
};

}  // namespace samovar::worker
