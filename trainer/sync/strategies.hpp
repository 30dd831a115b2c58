// The table of strategies: what a job may choose from, what each is for and what a round of it costs.
//
// Threading: constant.
#pragma once
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "trainer/sync/codec.hpp"
#include "trainer/sync/together.hpp"

namespace samovar::trainer {

// What one worker sends in a round, on average. It receives as much.
struct RoundCost {
  double steps = 0;     // of its own, between two rounds
  double messages = 0;  // with parameters
  double bytes = 0;
  bool waits = false;  // the worker does nothing until the round is over
};
struct CostQuestion {
  std::size_t members = 2;
  std::size_t floats = 0;  // of the vector
  CellKind cell;
  std::uint32_t tau = 1;
  std::string_view codec = "fp32";
};

struct Strategy {
  enum class Pace : std::uint8_t {
    free,     // nobody waits for all
    in_step,  // always: the same run gives the same bits
    either,   // as StrategySpec::sync says
  };
  std::string_view name;
  std::string_view title;
  std::string_view summary;  // when to take it
  Pace pace = Pace::free;
  std::unique_ptr<Together> (*make)(Council& council, const StrategySpec& strategy, CellKind cell) = nullptr;
  RoundCost (*cost)(const CostQuestion& question) = nullptr;
  // What is exchanged are gradients (trainer/solvers/gradient_stream.hpp): every worker has the same state.
  bool gradients = false;
};

std::span<const Strategy> strategies();
const Strategy* find_strategy(std::string_view name);  // null: there is none
std::vector<std::string_view> strategy_names();
// The workers go in step: the same run gives the same bits.
bool strategy_in_step(const StrategySpec& strategy);
bool strategy_of_gradients(const StrategySpec& strategy);
// The spec was checked: its names are in the tables.
std::unique_ptr<Together> make_strategy(Council& council, const StrategySpec& strategy, CellKind cell);

// Those that are no rule of slices, one per file.
std::unique_ptr<Together> make_gossip(Council& council, const StrategySpec& strategy, CellKind cell);
std::unique_ptr<Together> make_ltfb(Council& council, const StrategySpec& strategy, CellKind cell);

}  // namespace samovar::trainer
