// Asynchronous EASGD with a centre in slices (Zhang, Choromanska and LeCun 2015, Algorithm 1).
//
// Every member trains on its own rows and holds the whole vector x. The centre is cut into slices, one owner
// each. Every tau steps a member sends each owner its part of x; the owner moves the centre towards it by
// d = alpha (x - centre) and answers with d, which the member takes off its x when it comes: it has trained
// on meanwhile, and never waits. alpha = beta / p times the member's share of the rows, at most 1/2; with one
// member there is no pull.
//
// Members are others in each epoch: the centre then begins at the mean of the members' slices, and what is
// left over from an older epoch is dropped.
//
// Threading: one thread; messages come through Council::listen.
// Ownership: borrows the council and the vector.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "trainer/spec.hpp"
#include "trainer/sync/council.hpp"

namespace samovar::trainer {

// A vector in two pieces of memory.
struct FlatVector {
  std::span<float> head;
  std::span<float> tail;
  std::size_t size() const noexcept { return head.size() + tail.size(); }
  // Calls take(floats, count, from where in the range) for each run of memory that the range has.
  template <class Take>
  void each_run(std::size_t first, std::size_t count, Take take) const {
    const std::size_t in_head = first < head.size() ? std::min(count, head.size() - first) : 0;
    if (in_head != 0) take(head.data() + first, in_head, std::size_t{0});
    if (in_head != count) take(tail.data() + (first + in_head - head.size()), count - in_head, in_head);
  }
  void copy_to(std::size_t first, std::span<float> out) const {
    each_run(first, out.size(), [&](const float* from, std::size_t count, std::size_t at) {
      std::memcpy(out.data() + at, from, count * sizeof(float));
    });
  }
};

// How hard the centre pulls at a member that did `rows` of `all` rows in a round of `members` members.
double elastic_alpha(double beta, std::size_t members, double rows, double all);
// Steps between two exchanges so that the work of one is at most a share of the steps', and the network is
// done with one before the next. Seconds of the processor for an exchange and a step; of the clock for the
// network's answer and a step.
std::uint32_t choose_tau(double work, double step_work, double network, double step);

class Elastic {
 public:
  // `cell`: floats that belong together and are never torn apart.
  Elastic(Council& council, const StrategySpec& strategy, std::size_t cell);

  // All members meet here. What the lead has (a model to go on from, rows that are done) the others take.
  Result<void> begin(FlatVector x, std::uint64_t rows_before, bool resumed, bool joining);
  // After each step: hears the others, exchanges when it is time.
  // `seconds` of the clock, `work` of this thread: what the step took.
  Result<void> stepped(std::uint64_t rows, double seconds, double work);
  // The vector is not to be touched any more. Who comes later is told that training is over.
  void end();
  // Nothing of its own to do: hears the others.
  Result<void> idle();
  Result<void> tell_pass(std::uint32_t pass, double loss, double weight);
  Result<void> tell_done();
  bool all_done() const;
  // The lead saw the validation loss rise.
  bool asked_to_finish() const noexcept { return finish_; }
  void ask_to_finish_when_worse(double by) { worse_by_ = by; }

  // A member's vector stands for so many parts of the whole: p members and the centre share what p members
  // found. Changes with the epoch; whoever uses the vector is to scale it by the ratio.
  double parts() const noexcept { return parts_of(council_.membership()); }
  static double parts_of(const Membership& members) {
    return members.members.size() < 2 ? 1 : static_cast<double>(members.members.size()) + 1;
  }
  // Called when the parts are others: scale by before / now.
  void set_rescale(std::function<void(double before, double now)> rescale) { rescale_ = std::move(rescale); }
  // True once after the epoch, and perhaps the blocks, changed.
  bool take_changed() noexcept { return std::exchange(changed_, false); }

  std::uint64_t rows_done() const;  // of all members, as far as is known
  std::size_t slice_first() const noexcept { return low_; }
  const std::vector<float>& slice() const noexcept { return centre_; }

  struct Figures {
    std::uint64_t rounds = 0;
    double exchange_seconds = 0;  // of work, not of waiting
    double round_seconds = 0;     // from sending to the last answer, the latest round
    std::uint32_t tau = 1;
    std::uint64_t behind = 0;  // steps made until the last answer came: the staleness
  };
  const Figures& figures() const noexcept { return figures_; }

 private:
  Result<void> hear(std::uint32_t from, ByteView body);
  Result<void> hear_push(std::uint32_t from, StateReader& in);
  Result<void> hear_pull(StateReader& in);
  Result<void> hear_state(StateReader& in);
  Result<void> hear_pass(StateReader& in);
  Result<void> send_state(std::uint32_t to);
  Result<void> exchange();
  Result<void> listen(std::chrono::milliseconds wait);
  void new_epoch();
  std::pair<std::size_t, std::size_t> slice_of(std::size_t place) const;
  double alpha_of(std::uint32_t member, std::uint64_t rows);
  std::uint64_t seen_of(std::uint32_t member) const;

  // Constant after construction.
  Council& council_;
  const StrategySpec strategy_;
  const std::size_t cell_;
  std::function<void(double, double)> rescale_;
  double worse_by_ = 0;
  // The caller's thread.
  FlatVector x_;
  std::uint64_t epoch_ = 0;  // of the slices
  double parts_before_ = 1;
  std::size_t low_ = 0, high_ = 0;  // of the own slice
  std::vector<float> centre_;
  std::map<std::size_t, std::set<std::uint32_t>> met_;  // by first float: whose part the centre has seen
  std::map<std::uint32_t, std::uint64_t> rows_of_round_;
  std::map<std::uint32_t, std::uint64_t> seen_;
  std::set<std::uint32_t> done_;
  std::map<std::uint32_t, std::pair<double, double>> passes_;  // lead: loss and weight by pass
  std::map<std::uint32_t, std::uint32_t> passes_told_;
  double best_ = 0;
  std::uint64_t rows_before_ = 0;
  std::uint64_t rows_in_round_ = 0;
  std::uint32_t steps_in_round_ = 0;
  std::size_t open_ = 0;  // answers that are still to come
  double sent_at_ = 0;
  double step_seconds_ = 0;
  double step_work_ = 0;
  double work_seconds_ = 0;  // of exchanges, this round
  std::size_t state_left_ = 0;
  bool state_over_ = false;
  bool finish_ = false;
  bool changed_ = false;
  Figures figures_;
  std::vector<float> piece_;  // room that is used again
};

}  // namespace samovar::trainer
