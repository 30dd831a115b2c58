// What another worker of a job sends: parts, results and parameters, in pieces of any kind and order.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "trainer/sync/council.hpp"
#include "trainer/sync/strategies.hpp"

namespace {

using namespace samovar;
using namespace samovar::trainer;

// Hands out the input in messages: two bytes of length before each.
class Sender final : public PeerGroup {
 public:
  explicit Sender(ByteView bytes) : bytes_(bytes) {
    members_.epoch = 1;
    members_.self = 1;
    members_.members = {1, 2};
  }
  const Membership& membership() const override { return members_; }
  Result<void> send(std::uint32_t, ByteView) override { return {}; }
  Result<std::optional<PeerMessage>> receive(std::chrono::milliseconds) override {
    if (bytes_.size() < 2) return Error{Errc::conflict, "no more"};
    const std::size_t size = std::min<std::size_t>(bytes_[0] + 256u * bytes_[1], bytes_.size() - 2);
    PeerMessage message{2, 1, to_bytes(bytes_.subspan(2, size))};
    bytes_ = bytes_.subspan(2 + size);
    return std::optional<PeerMessage>(std::move(message));
  }

 private:
  ByteView bytes_;
  Membership members_;
};

void hear(ByteView input, const char* kind, const char* codec) {
  Sender sender(input);
  Council council(sender, false);
  std::vector<float> head(24), tail(2);
  StrategySpec strategy;
  strategy.kind = kind;
  strategy.codec = codec;
  const auto together = make_strategy(council, strategy, {2, true});
  // Ends with the input: as lead it waits for the other's part, and hears all that comes before it.
  if (!together->begin({head, tail}, {})) return;
  for (int step = 0; step < 64; ++step) {
    if (!together->stepped(10, 0.001, 0.001)) return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // With a centre that nobody waits for, in step, with answers that may come later, and from one to another.
  for (const char* kind : {"easgd", "averaging", "ssp", "gossip"}) {
    for (const char* codec : {"fp32", "one_bit"}) hear(ByteView(data, size), kind, codec);
  }
  return 0;
}
