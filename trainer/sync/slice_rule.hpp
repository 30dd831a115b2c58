// What the owner of a slice does with the members' parts of it: the rule of a strategy.
//
// The vector is cut into slices, one owner each, and those into pieces. A member sends its piece of x to the
// owner, who answers with what the member is to take off its x. When it comes the member has perhaps trained
// on: what it learned meanwhile stays.
//
// Threading: one thread.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "trainer/solvers/state.hpp"
#include "trainer/sync/flat_vector.hpp"

namespace samovar::trainer {

class SliceRule {
 public:
  struct Given {
    std::uint32_t member = 0;
    double rows = 0;      // of this member since its last exchange of the piece
    double all_rows = 0;  // the same for all members, as far as is known
    std::span<float> x;   // the member's; the rule leaves there what is to be taken off
  };

  virtual ~SliceRule() = default;
  // Of how many parts of the whole a member's vector stands for one.
  virtual double parts(std::size_t members) const = 0;
  // In rounds: a member waits for the answer, which comes when all have sent (or enough of them) …
  virtual bool waits() const { return false; }
  virtual double quorum() const { return 1; }
  // … or as soon as the member is at most so many rounds ahead of the slowest.
  static constexpr std::uint32_t kAnyAhead = 0xffff'ffff;
  virtual std::uint32_t rounds_ahead() const { return kAnyAhead; }
  // All members, all rounds: the same run gives the same bits.
  bool in_step() const { return waits() && quorum() >= 1 && rounds_ahead() == kAnyAhead; }
  // In rounds: what the rule leaves in x is what the member is to have, to the bit, instead of what it is to
  // take off.
  virtual bool sets() const { return false; }
  // Steps between exchanges; 0: as the job says.
  virtual std::uint32_t tau() const { return 0; }

  // In rounds: a member's piece is made anew in each (gradients), and does not build on the one before. All
  // get the same answer.
  virtual bool anew() const { return false; }
  // Of the answer just given: what a lossy codec left out of what the member was to take off. It stands in
  // the member's piece still, and so in what the rule sees of it next time.
  virtual void left_out(std::size_t, std::uint32_t, std::span<const float>) {}

  // What is left of a sum of squares is never below 0, when the codec is exact.
  virtual bool keeps_squares() const { return false; }

  // A new epoch: the owner's own part of the slice, to begin with.
  virtual void begin(std::span<const float> own, std::size_t members, CellKind cell) = 0;
  // One member's piece, which begins at `at` of the slice.
  virtual void meet(std::size_t at, Given& one) = 0;
  // With rounds_ahead(): meet() is these two, the answer perhaps later.
  virtual void take(std::size_t, Given&) {}
  virtual void give(std::size_t at, Given& one) { meet(at, one); }
  // The owner's own: takes it off at once.
  virtual void meet_owner(std::size_t at, Given& one) {
    own_.assign(one.x.begin(), one.x.end());
    meet(at, one);
    for (std::size_t i = 0; i < own_.size(); ++i) one.x[i] = own_[i] - one.x[i];
  }
  // A round's: in the order of the members. A rule that does not wait has none.
  virtual void close(std::size_t at, std::span<Given> all) {
    for (Given& one : all) meet(at, one);
  }
  // One that came after its round was closed.
  virtual void late(std::size_t at, Given& one) { meet(at, one); }

  // What the slice is, apart from the members' vectors; empty: nothing of use.
  virtual std::span<const float> centre() const { return {}; }

  // In step: all that the next rounds depend on, between two of them. Loaded after begin().
  virtual void save(StateWriter&) const {}
  virtual void load(StateReader&) {}

 private:
  std::vector<float> own_;  // room that is used again
};

}  // namespace samovar::trainer
