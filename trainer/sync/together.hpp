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
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "trainer/spec.hpp"
#include "trainer/sync/council.hpp"
#include "trainer/sync/flat_vector.hpp"
#include "trainer/sync/meeting.hpp"
#include "trainer/sync/slice_mean.hpp"

namespace samovar::trainer {

class Together {
 public:
  Together(Council& council, const StrategySpec& strategy, CellKind cell);
  virtual ~Together() = default;
  Together(const Together&) = delete;
  Together& operator=(const Together&) = delete;

  struct Start {
    std::uint64_t rows_before = 0;
    bool resumed = false;
    bool joining = false;
    // Of strategies in step: whether this member, with the blocks and the place it has now, goes on from its
    // own saved state; and what save() wrote then.
    std::function<bool()> exact;
    Bytes state;
  };
  // All members meet here. What the lead has (a model to go on from, rows that are done) the others take;
  // unless each has its own. True: each goes on from its own.
  Result<bool> begin(FlatVector x, Start start);
  // About how many rows all members are to do in all.
  void set_rows_to_do(std::uint64_t rows) { rows_to_do_ = rows; }
  // This member does no more of them: its own rows would be seen too often.
  void set_rows_most(std::uint64_t rows) { rows_most_[council_.membership().self] = rows; }
  // About how many all members do in one step of each.
  void set_rows_of_step(std::uint64_t rows) { rows_of_step_ = rows; }
  // After each step: hears the others, exchanges when it is time.
  // `seconds` of the clock, `work` of this thread: what the step took.
  Result<void> stepped(std::uint64_t rows, double seconds, double work);
  // The vector is not to be touched any more. Who comes later is told that training is over.
  void end();
  // The mean of what all members have at the end, made by slices, and the whole centre. Nothing: the others
  // had it before this one came. `own` is asked anew when the members change.
  Result<std::optional<MeanOfAll>> mean_of_all(const std::function<MeanPart()>& own);
  // Nothing of its own to do: hears the others, who go on without it; in step they wait.
  Result<void> idle();
  Result<void> tell_pass(std::uint32_t pass, double loss, double weight);
  Result<void> tell_done();
  bool all_done() const;
  // The lead has said how many rows are this member's, and it has done them.
  bool share_done() const { return share_ && seen_of(council_.membership().self) >= *share_; }
  // ---- in step ----
  // All members make their rounds together, end with the same one, and save at the end of one: the same run
  // gives the same bits. All of them take part, also one without rows.
  virtual bool in_step() const { return false; }
  // Asked before each meeting: whether a checkpoint is due.
  void set_save_due(std::function<bool()> due) { save_due_ = std::move(due); }
  // True once after a meeting that decided so: everybody is at the end of the same round.
  bool take_save() noexcept { return std::exchange(save_now_, false); }
  // The lead gets what all members have, in their order; nothing when they are others now. The others go on.
  Result<std::vector<Bytes>> gather(Bytes own);
  // The strategy's own state, between two rounds.
  Bytes save() const;
  // A question and a mark of the solver, for the next meeting: what one says of the former holds for all, and
  // whether all had the same of the latter.
  void set_word(bool more, std::uint64_t mark) { more_ = more, mark_ = mark; }
  bool more_of_all() const noexcept { return more_of_all_; }
  bool all_same() const noexcept { return same_; }
  // For solvers of which every member has the same state, whatever the vector is.
  void set_state(std::function<Bytes()> give, std::function<Result<void>(ByteView)> take) {
    give_state_ = std::move(give);
    take_state_ = std::move(take);
  }
  // Nothing to do for the lead.
  Result<void> take_lead_state();
  bool training_is_over() const noexcept { return state_over_; }

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
  // Called when the vector became another member's.
  void set_replaced(std::function<void()> replaced) { replaced_ = std::move(replaced); }
  // True once after the epoch, and perhaps the blocks, changed.
  bool take_changed() noexcept { return std::exchange(changed_, false); }
  bool changed() const noexcept { return changed_; }

  std::uint64_t rows_done() const;  // of all members, as far as is known
  // Of those, before this run began: all members know the same.
  std::uint64_t rows_before() const noexcept { return rows_before_; }
  // A vector that is nobody's, as far as this member has it; empty: the strategy has none.
  virtual std::size_t slice_first() const { return 0; }
  virtual std::span<const float> slice() const { return {}; }
  // Of the members' models the best is taken, instead of their mean.
  virtual bool best_is_taken() const { return false; }

  struct Figures {
    std::uint64_t rounds = 0;  // how often the whole vector was exchanged
    double exchange_work = 0;  // seconds of the processor
    double wait_seconds = 0;   // of strategies that wait
    double round_seconds = 0;  // from sending to the answer, the slowest of the latest round
    std::uint32_t tau = 1;
    std::uint64_t behind = 0;  // steps made until the last answer came: the staleness
  };
  const Figures& figures() const noexcept { return figures_; }
  // For the others, whatever for.
  double seconds_waited() const { return council_.seconds_waited() + figures_.wait_seconds; }

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
    kMeet,
    kMet,
    kSaved,
    kAskWhole,
    kWhole,
    kShare,
    kMeanPart,
    kMeanWhole,
    kFirstOwn = Council::kFirstKind + 16,
  };

  virtual double parts_of(std::size_t members) const = 0;
  virtual void epoch_began() {}
  virtual void save_own(StateWriter&) const {}
  // After epoch_began(), for the members and slices it was saved with.
  virtual void load_own(StateReader&) {}
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
  // In step: the end of a round.
  Result<void> meet();
  std::size_t place() const;  // of this member among the members
  // Steps of this member to come, about.
  double steps_to_do() const;
  void adjust_tau();
  // Before the first exchange, whose work nobody has measured yet.
  void guess_tau();

  // Constant after construction.
  Council& council_;
  const StrategySpec strategy_;
  const CellKind cell_;
  std::function<double(FlatVector)> judge_;
  std::function<void()> replaced_;
  // The caller's thread.
  FlatVector x_;
  std::uint32_t steps_in_round_ = 0;
  std::uint64_t steps_ = 0;
  double work_seconds_ = 0;  // of exchanges, this round
  Figures figures_;

 private:
  Result<void> hear(std::uint32_t from, std::uint64_t epoch, Bytes& body);
  Result<void> hear_early();
  Result<void> ask_state();
  Result<void> hear_meet(std::uint32_t from, StateReader& in);
  Result<void> hear_met(StateReader& in);
  Result<void> hear_saved(std::uint32_t from, StateReader& in);
  Result<void> send_whole(std::uint32_t to);
  Result<void> hear_whole(std::uint32_t from, StateReader& in);
  Result<void> decide();
  void set_tau_in_step();
  Result<void> hear_state(std::uint32_t from, StateReader& in);
  Result<void> hear_share(StateReader& in);
  // The lead's: what is left to do, dealt by how much each did in the same time.
  Result<void> deal_rest();
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
  std::uint64_t rows_of_step_ = 0;
  // Came before this member was ready for it, or knew of its epoch.
  std::vector<PeerMessage> early_;
  bool ready_ = false;
  SliceMean mean_;
  // In step.
  std::function<bool()> save_due_;
  Meeting meeting_;                            // the lead's
  std::vector<Meeting::Pass> passes_told_of_;  // since the last meeting
  std::optional<Meeting::Decision> decided_;
  std::uint64_t rows_agreed_ = 0;
  std::uint64_t mark_ = 0;
  bool more_ = false;
  bool more_of_all_ = false;
  bool same_ = true;
  std::function<Bytes()> give_state_;
  std::function<Result<void>(ByteView)> take_state_;
  Bytes coming_state_;
  std::optional<Bytes> lead_state_;
  bool save_now_ = false;
  struct Saved {
    Bytes bytes;
    bool whole = false;
  };
  std::map<std::uint32_t, Saved> saved_;  // the lead's, of the present gathering
  std::uint64_t seen_told_ = 0;
  // Of the present epoch.
  std::map<std::uint32_t, std::uint64_t> seen_before_;  // when it began
  std::optional<std::uint64_t> share_;                  // rows of this member in all, once they are dealt
  unsigned deals_ = 0;                                  // the lead's
  std::map<std::uint32_t, std::uint64_t> rows_most_;    // as far as is known
  double rows_per_step_ = 0;
  double step_seconds_ = 0;
  double step_work_ = 0;
  std::size_t state_left_ = 0;         // floats of the lead's vector still to come …
  std::set<std::uint64_t> state_has_;  // … and which pieces of it have
  bool state_over_ = false;
  bool finish_ = false;
  bool changed_ = false;
};

// What there is to exchange, and steps to do it in.
struct TauQuestion {
  double work = 0;       // seconds of the processor of an exchange …
  double step_work = 0;  // … and of a step
  double network = 0;    // seconds of the clock from sending to the answer …
  double step = 0;       // … and of a step
  double steps = 0;      // of this member in all; 0: unknown
};
// Steps between two exchanges so that the work of one is at most a share of the steps', and the network is
// done with one before the next. A short job has some exchanges even if their work is more than that share;
// but what the network does not carry only waits in it, and comes too late to be of use: where it carries too
// few for that in the whole job, there are none.
std::uint32_t choose_tau(const TauQuestion& q);

// Of one member.
struct RowsOf {
  std::uint64_t done = 0;
  std::uint64_t before = 0;  // of those, before the time that tells how quick it is
  std::uint64_t most = 0;    // that it does in all; 0: no bound
};
// How many rows each member is to do in all: those it did, and of what is left a part as large as of what was
// done lately. Empty when one of them has done nothing yet.
std::map<std::uint32_t, std::uint64_t> deal_rows(std::map<std::uint32_t, RowsOf> members, std::uint64_t left);

// Of this thread: what a busy neighbour does not change.
double thread_work_seconds();

}  // namespace samovar::trainer
