// Strategies without a centre: every tau steps a member sends its whole vector to one other, by a rule that
// all know. Nobody waits.
//
// Threading: one thread.
// Format:    docs/formats/parameter-exchange.md
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "trainer/sync/codec.hpp"
#include "trainer/sync/together.hpp"

namespace samovar::trainer {

class Paired : public Together {
 public:
  Paired(Council& council, const StrategySpec& strategy, CellKind cell, std::unique_ptr<Codec> codec);

 protected:
  enum Own : std::uint8_t { kVector = kFirstOwn };

  // Who gets this member's vector in its round of this epoch.
  virtual std::optional<std::uint32_t> partner(std::uint64_t round) const = 0;
  // A piece of another member's vector; `last`: it is the last of its message.
  virtual void take(std::uint32_t from, std::size_t first, std::span<const float> theirs, bool last) = 0;
  // Members in an order that is the same for all, another for each `draw` of this epoch.
  std::vector<std::uint32_t> drawn_order(std::uint64_t draw) const;

 private:
  // What a member knows of another's vector, by codecs that build on it.
  struct Known {
    std::vector<float> floats;
    bool told = false;
  };

  void epoch_began() override;
  Result<void> exchange_when_due() override;
  Result<void> hear_own(std::uint32_t from, std::uint8_t kind, StateReader& in, Bytes& body) override;
  Result<void> send_vector(std::uint32_t to);
  void keep_squares(std::span<float> cells) const;

  // Constant after construction.
  const std::unique_ptr<Codec> codec_;
  const std::unique_ptr<Codec> whole_;
  // The caller's thread.
  std::uint64_t round_ = 0;  // of this epoch
  std::map<std::uint32_t, Known> they_know_, we_know_;
  std::vector<float> room_;
};

}  // namespace samovar::trainer
