// One model out of those of all members: each owner of a slice makes the mean of that slice and tells it to
// all, as it does its slice of the centre. So a member sends three times the vector, whatever the number of
// members; a lead that collected and told all of them would send twice the vector to each.
//
// Where a solver knows more of a weight than its value (what it learned, and from how much), members tell
// both. The owner then makes two models: the mean of the weights, and one in which each weight is of those
// who have seen something of it (PairMerge). That is five times the vector.
//
// Who begins tells its parts. One that has not begun yet keeps what it hears. A mean is that of one epoch:
// when the members change meanwhile, all try again (Together::mean_of_all), which is the next attempt. One
// that begins with an epoch in which the others have done with this attempt already, because it came later,
// is told that there is none.
//
// Threading: one thread.
// Format:    docs/formats/parameter-exchange.md
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "trainer/sync/council.hpp"

namespace samovar::trainer {

// How one weight follows from what several members have learned of it. A member's word on a weight is a pair:
// what it learned, and from how much.
//
// Threading: constant after construction.
class PairMerge {
 public:
  virtual ~PairMerge() = default;
  // Of each pair the weight that the member itself has.
  virtual void own(const float* pairs, std::size_t count, float* weights) const = 0;
  // One model of the members', of each `count` pairs.
  virtual void merge(std::span<const float* const> members, std::size_t count, float* weights) const = 0;
};

// What a member has.
struct MeanPart {
  std::span<const float> weights;  // not touched until it is over
  // Two for each weight, told instead of it; empty: the solver has none. Not touched either.
  std::span<const float> pairs;
  const PairMerge* merge = nullptr;
  std::vector<double> few;  // that all tell whole
  std::uint64_t rows = 0;
  std::uint64_t steps = 0;
  // A slice of the centre, which is cut like `weights` with `few` behind them; empty: there is none.
  std::size_t centre_first = 0;
  std::vector<float> centre;
};
// The same for all, to the bit.
struct MeanOfAll {
  std::uint64_t members = 0;
  std::uint64_t rows = 0;
  std::uint64_t steps = 0;
  std::vector<float> weights;  // the mean, each by its rows
  std::vector<float> merged;   // of pairs; empty: there are none
  std::vector<double> few;
  bool has_centre = false;
  std::vector<float> centre;  // with those of `few`; not a number where nobody has it
};

class SliceMean {
 public:
  // First bytes of messages.
  struct Kinds {
    std::uint8_t part = 0, whole = 0;
  };
  SliceMean(Council& council, Kinds kinds) : council_(council), kinds_(kinds) {}

  // In the present epoch.
  Result<void> begin(const MeanPart& own, std::uint32_t attempt);
  Result<void> hear(std::uint32_t from, std::uint8_t kind, Bytes& body);
  // All that there is to hear was heard; or others said that there is nothing to wait for.
  bool whole() const;
  bool none() const noexcept { return none_; }
  // No more is waited for; the others' slices are still made.
  Result<void> close();
  MeanOfAll take();
  // To one that begins when the others have ended.
  static Result<void> tell_none(Council& council, Kinds kinds, std::uint32_t to, ByteView part);

 private:
  enum What : std::uint8_t { kMean, kCentre, kNone, kMerged };
  struct Head {
    std::uint32_t attempt = 0;
    std::uint64_t epoch = 0;
    std::uint64_t first = 0;
    static Head of(StateReader& in);
  };
  struct Said {
    std::uint64_t rows = 0;
    std::uint64_t steps = 0;
    std::vector<double> few;
    std::uint64_t centre_floats = 0;
  };
  struct Waiting {
    std::uint32_t from = 0;
    std::uint8_t kind = 0;
    Bytes body;
  };
  std::pair<std::size_t, std::size_t> slice(std::size_t place) const;
  Result<void> tell_part(std::size_t place);
  Result<void> hear_part(std::uint32_t from, const Head& head, StateReader& in);
  Result<void> hear_whole(const Head& head, std::uint8_t what, StateReader& in);
  // When all have told their parts of it.
  Result<void> make(std::size_t first);
  Result<void> tell_whole(std::size_t first, std::span<const float> floats, What what);
  static Result<void> tell_none(Council& council, Kinds kinds, std::uint32_t to, const Head& head);
  double share_of(std::uint32_t member) const;
  // Of one weight, in parts.
  std::size_t floats_each() const noexcept { return own_.pairs.empty() ? 1 : 2; }
  const float* part_of(std::uint32_t member, std::size_t first) const;

  // Constant after construction.
  Council& council_;
  const Kinds kinds_;
  // Of the present attempt.
  bool begun_ = false;
  bool closed_ = false;
  bool none_ = false;
  std::uint32_t attempt_ = 0;
  std::uint64_t epoch_ = 0;
  std::uint32_t self_ = 0;
  std::vector<std::uint32_t> members_;
  MeanPart own_;
  std::map<std::uint32_t, Said> said_;
  std::map<std::size_t, std::map<std::uint32_t, std::vector<float>>> parts_;  // of the own slice, by piece
  std::set<std::size_t> made_;                                                // of those
  std::size_t floats_left_ = 0;                                               // of mean and merged
  std::uint64_t centre_heard_ = 0;
  MeanOfAll all_;
  // Came before this member was ready for it.
  std::vector<Waiting> early_;
  std::vector<float> room_;  // that is used again
};

}  // namespace samovar::trainer
