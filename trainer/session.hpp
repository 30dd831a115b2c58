// One run of train(): what it tells its observer, when it saves, and what a checkpoint says about itself.
//
// Threading: one thread.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "trainer/solvers/problem.hpp"
#include "trainer/train.hpp"

namespace samovar::trainer {

// A number that differs for another spec, schema or source: a checkpoint fits only where it was made.
// Of several workers each knows the rows of its own blocks for certain: `rows` leaves them out.
std::uint64_t job_mark(const BlockSource& source, const Schema& schema, const JobSpec& spec,
                       bool rows = true);

// What is known between two updates beside the solver's own state.
struct Resume {
  std::uint32_t stage = 0;  // which solver of the job
  double seconds = 0;
  std::vector<double> curve;       // step, rows, train loss, valid loss after each other
  std::vector<std::string> notes;  // of stages that are over
  ByteView solver;                 // its state, borrowed; empty: the stage has not begun
  std::uint32_t part = 0;          // which training of the job, and what those before it left
  std::uint64_t steps_before = 0;
  std::uint64_t rows_before = 0;
  std::uint64_t steps = 0;  // all so far
  std::uint64_t rows = 0;
  std::string kept;
  std::uint64_t plan = 0;  // mark of how its inputs became weights
};

class Session final : public StepHooks {
 public:
  Session(TrainObserver& observer, const TrainOptions& options, std::uint64_t mark);

  // Errc::conflict when the checkpoint is of another job or version. It outlives what is told of it.
  Result<Resume> open(ByteView checkpoint) const;
  void go_on_from(const Resume& resume);
  // How inputs become weights, for the checkpoints: a state is of use with the same only.
  void set_plan(std::string_view plan);
  std::uint64_t plan() const noexcept { return plan_; }

  // A job may have several trainings after each other, all but the last for what they show. What begins here
  // is one of them; `kept` is what those before it showed, for the checkpoints.
  void begin_part(std::uint32_t part, std::uint32_t parts, std::string kept);

  // Shares of the training: from where to where a stage goes.
  void enter(std::string_view step, double from, double to, std::uint32_t stage);
  void add_note(std::string note) { notes_.push_back(std::move(note)); }
  const std::vector<std::string>& notes() const noexcept { return notes_; }
  // Errc::conflict: asked to stop.
  Result<void> progress(double share);
  // The same while nothing goes on, not more often than people look.
  Result<void> waiting() override;
  // Of several workers one saves.
  void set_saves(std::function<bool()> saves) { saves_ = std::move(saves); }

  Result<void> stepped(const StepReport& report, const std::function<void(StateWriter&)>& save) override;
  bool save_due(std::uint64_t step) override;
  Result<void> saved(std::uint64_t step, const Bytes& state) override;
  void computes_on(std::string_view name, std::string_view trouble) override {
    observer_.computes_on(name, trouble);
  }

  double seconds() const;
  nlohmann::json curve() const;

 private:
  Result<void> checkpoint(std::uint64_t step, const std::function<void(StateWriter&)>& save);
  void write(const std::function<void(StateWriter&)>& save, StateWriter& out) const;

  // Constant after construction.
  TrainObserver& observer_;
  const TrainOptions& options_;
  const std::uint64_t mark_;
  Clock& clock_;
  // The caller's thread.
  MonoTime began_;
  MonoTime last_checkpoint_;
  MonoTime last_told_;
  unsigned points_told_ = 0;
  double seconds_before_ = 0;
  std::string step_ = "preparing";
  double from_ = 0;
  double to_ = 0;
  std::uint32_t stage_ = 0;
  std::uint32_t part_ = 0;
  std::uint32_t parts_ = 1;
  std::uint64_t plan_ = 0;
  std::uint64_t steps_before_ = 0;  // of the parts before this one
  std::uint64_t rows_before_ = 0;
  std::uint64_t last_step_ = 0;
  std::string kept_;
  std::function<bool()> saves_;
  TrainProgress told_;
  std::vector<double> curve_;
  std::vector<std::string> notes_;
};

}  // namespace samovar::trainer
