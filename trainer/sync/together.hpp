// What every strategy needs of a group that trains one model: who has done how many rows, the model for those
// who come later, when to end. The strategies themselves say how the vectors of the members become one.
//
// Every member trains on its own rows and holds the whole vector x. Members are others in each epoch.
//
// Threading: one thread; messages come through Council::listen.
// Ownership: borrows the council and the vector.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "trainer/spec.hpp"
#include "trainer/sync/council.hpp"
#include "trainer/sync/flat_vector.hpp"

namespace samovar::trainer {

class Together {
 public:
  Together(Council& council, const StrategySpec& strategy, CellKind cell);
  virtual ~Together() = default;
  Together(const Together&) = delete;
  Together& operator=(const Together&) = delete;

  // All members meet here. What the lead has (a model to go on from, rows that are done) the others take.
  Result<void> begin(FlatVector x, std::uint64_t rows_before, bool resumed, bool joining);
  // About how many rows all members are to do in all.
  void set_rows_to_do(std::uint64_t rows) { rows_to_do_ = rows; }
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

  // A member's vector stands for one of so many parts of the whole. Changes with the epoch; whoever uses the
  // vector is to scale it by the ratio.
  double parts() const { return parts_of(council_.membership().members.size()); }
  // Called when the parts are others: scale by before / now.
  void set_rescale(std::function<void(double before, double now)> rescale) { rescale_ = std::move(rescale); }
  // A model's loss on rows that this member keeps for judging. For strategies that choose.
  void set_judge(std::function<double(FlatVector)> judge) { judge_ = std::move(judge); }
  // True once after the epoch, and perhaps the blocks, changed.
  bool take_changed() noexcept { return std::exchange(changed_, false); }

  std::uint64_t rows_done() const;  // of all members, as far as is known
  // A vector that is nobody's, as far as this member has it; empty: the strategy has none.
  virtual std::size_t slice_first() const { return 0; }
  virtual std::span<const float> slice() const { return {}; }
  // Of the members' models the best is taken, instead of their mean.
  virtual bool best_is_taken() const { return false; }

  struct Figures {
    std::uint64_t rounds = 0;     // how often the whole vector was exchanged
    double exchange_seconds = 0;  // of work, not of waiting
    double wait_seconds = 0;      // of strategies that wait
    double round_seconds = 0;     // from sending to the answer, the slowest of the latest round
    std::uint32_t tau = 1;
    std::uint64_t behind = 0;  // steps made until the last answer came: the staleness
  };
  const Figures& figures() const noexcept { return figures_; }

 protected:
  enum Kind : std::uint8_t {
    kPass = Council::kFirstKind,
    kFinish,
    kAskState,
    kState,
    kDone,
    kSeen,
    kRest,
    kOver,
    kFirstOwn = Council::kFirstKind + 16,
  };

  virtual double parts_of(std::size_t members) const = 0;
  virtual void epoch_began() {}
  // A step was made; there are others.
  virtual Result<void> exchange_when_due() = 0;
  // `in` stands behind the kind, in `body`, which is to be used up.
  virtual Result<void> hear_own(std::uint32_t from, std::uint8_t kind, StateReader& in, Bytes& body) = 0;
  // Fewer are at work than before.
  virtual Result<void> fewer_at_work() { return {}; }

  Result<void> listen(std::chrono::milliseconds wait);
  // Listens until `done`, or the members are others.
  Result<void> wait_for(const std::function<bool()>& done);
  std::uint64_t seen_of(std::uint32_t member) const;
  void note_seen(std::uint32_t member, std::uint64_t rows);
  bool at_work(std::uint32_t member) const { return !done_.contains(member) && !resting_.contains(member); }
  // Steps of this member to come, about.
  double steps_to_do() const;
  void adjust_tau();

  // Constant after construction.
  Council& council_;
  const StrategySpec strategy_;
  const CellKind cell_;
  std::function<double(FlatVector)> judge_;
  // The caller's thread.
  FlatVector x_;
  std::uint32_t steps_in_round_ = 0;
  std::uint64_t steps_ = 0;
  double work_seconds_ = 0;  // of exchanges, this round
  Figures figures_;

 private:
  Result<void> hear(std::uint32_t from, Bytes& body);
  Result<void> hear_state(StateReader& in);
  Result<void> hear_pass(StateReader& in);
  Result<void> send_state(std::uint32_t to);
  Result<void> tell_all(ByteView body);
  Result<void> tell_rest(bool resting);
  void new_epoch();

  std::function<void(double, double)> rescale_;
  double worse_by_ = 0;
  std::uint64_t epoch_ = 0;
  double parts_before_ = 1;
  std::map<std::uint32_t, std::uint64_t> seen_;
  std::set<std::uint32_t> done_;
  std::set<std::uint32_t> resting_;
  std::map<std::uint32_t, std::pair<double, double>> passes_;  // lead: loss and weight by pass
  std::map<std::uint32_t, std::uint32_t> passes_told_;
  double best_ = 0;
  std::uint64_t rows_before_ = 0;
  std::uint64_t rows_to_do_ = 0;
  std::uint64_t seen_told_ = 0;
  double rows_per_step_ = 0;
  double step_seconds_ = 0;
  double step_work_ = 0;
  std::size_t state_left_ = 0;
  bool state_over_ = false;
  bool finish_ = false;
  bool changed_ = false;
};

// Steps between two exchanges so that the work of one is at most a share of the steps', and the network is
// done with one before the next. Seconds of the processor for an exchange and a step; of the clock for the
// network's answer and a step.
std::uint32_t choose_tau(double work, double step_work, double network, double step);

// Of this thread: what a busy neighbour does not change.
double thread_work_seconds();

}  // namespace samovar::trainer
