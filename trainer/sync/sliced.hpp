// Strategies with a centre in slices: who sends which piece to whom, and when.
//
// A strategy that does not wait sends its pieces one after the other, some after each step, so that the
// whole vector is exchanged every tau steps: no burst on the network, and each piece stays in the processor's
// cache while it is worked on. One that waits sends all of them every tau steps and waits for the answers.
// One whose members go in step also meets after each round (Together::meet).
//
// Threading: one thread.
// Format:    docs/formats/parameter-exchange.md
#pragma once
#include <memory>

#include "trainer/sync/codec.hpp"
#include "trainer/sync/slice_rule.hpp"
#include "trainer/sync/together.hpp"

namespace samovar::trainer {

class Sliced final : public Together {
 public:
  Sliced(Council& council, const StrategySpec& strategy, CellKind cell, std::unique_ptr<SliceRule> rule,
         std::unique_ptr<Codec> codec);

  std::size_t slice_first() const override { return low_; }
  std::span<const float> slice() const override { return rule_->centre(); }
  bool in_step() const override { return rule_->in_step(); }

 private:
  enum Own : std::uint8_t { kPush = kFirstOwn, kPull };

  // A piece as the member sees it that sends it.
  struct Piece {
    std::size_t first = 0;
    std::size_t count = 0;
    std::uint32_t owner = 0;
    bool told = false;  // in this epoch: the owner knows what this member knows it knows
    bool open = false;  // the answer is still to come
    std::uint32_t round = 0;
    std::uint64_t sent_step = 0;
    std::uint64_t rows_at = 0;
    double sent_at = 0;
  };
  // A piece as its owner sees it.
  struct Guest {
    std::vector<float> known;  // what the member has, as far as it told and was told
  };
  struct Waiting {
    Bytes body;
    double rows = 0;
    bool whole = false;
  };
  // What a payload is.
  enum Payload : std::uint8_t { kCoded, kFloats, kToSet };
  struct Held {
    std::size_t first = 0;
    std::size_t count = 0;
    std::uint32_t round = 0;                   // being collected
    std::map<std::uint32_t, Waiting> waiting;  // of this round
    std::map<std::uint32_t, Guest> guests;
    std::map<std::uint32_t, std::uint32_t> rounds_of;  // each member's, of rules with rounds_ahead()
  };

  double parts_of(std::size_t members) const override { return rule_->parts(members); }
  void epoch_began() override;
  void save_own(StateWriter& out) const override;
  void load_own(StateReader& in) override;
  Result<void> exchange_when_due() override;
  Result<void> hear_own(std::uint32_t from, std::uint8_t kind, StateReader& in, Bytes& body) override;
  Result<void> fewer_at_work() override;

  Result<void> hear_push(std::uint32_t from, StateReader& in, Bytes& body);
  Result<void> hear_pull(StateReader& in, Bytes& body);
  Result<void> send_piece(Piece& piece);
  Result<void> meet_self(Piece& piece, double rows);
  Result<void> take_part(Held& held, std::uint32_t member, std::uint32_t round, double rows, bool whole,
                         Bytes body);
  Result<void> close_if_full(Held& held);
  Result<void> release(Held& held);
  Result<void> answer(Held& held, std::uint32_t member, std::uint32_t round, bool whole, Bytes body);
  Result<void> answer_alike(Held& held, std::map<std::uint32_t, Waiting>& waiting);
  Bytes answer_head(const Held& held, std::uint32_t round, Payload payload) const;
  // Of rules with anew(): says what is in the room, and what was left out before.
  void encode_anew(std::size_t first, std::span<float> like, std::uint32_t to, Bytes& out);
  void follow_answer(std::span<float> known, std::span<const float> off, bool set) const;
  void take_off(std::size_t first, std::span<const float> off);
  void keep_squares(std::span<float> cells) const;
  Held* held_at(std::size_t first);
  Piece* piece_at(std::size_t first);
  double all_rows_with(std::uint32_t member, double rows);
  std::size_t open_pieces() const;
  std::uint32_t member_place(std::uint32_t member) const;
  SeededOrder luck_of(std::size_t first, std::uint32_t to) const;

  // Constant after construction.
  const std::unique_ptr<SliceRule> rule_;
  const std::unique_ptr<Codec> codec_;
  const std::unique_ptr<Codec> whole_;
  // The caller's thread.
  std::size_t low_ = 0, high_ = 0;  // of the own slice
  std::vector<Piece> pieces_;       // of the whole vector, in its order
  std::vector<std::size_t> order_;  // in which they are sent
  std::vector<Held> held_;          // of the own slice, in its order
  std::uint64_t held_epoch_ = 0;    // in which they were heard
  std::size_t next_ = 0;            // piece to be sent in this round
  std::uint32_t clock_ = 0;         // rounds made in this epoch
  // In step: rounds that are over, their meeting too. What belongs to a later one is heard later, when this
  // member has been saved as it is between the two.
  std::uint32_t settled_ = 0;
  std::vector<std::pair<std::uint32_t, Bytes>> later_;
  std::map<std::uint32_t, double> rows_of_round_;
  double slowest_answer_ = 0;
  std::vector<float> known_;  // of the whole vector, what its owners know of it; empty: the codec needs none
  // Of rules with anew() and a codec that needs it: the latest answers; and what lossy messages left out, of
  // the own slice its answers, of the others what was told to their owners.
  std::vector<float> given_, left_;
  // Room that is used again.
  std::vector<float> room_, off_;
};

}  // namespace samovar::trainer
