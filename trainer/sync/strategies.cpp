#include "trainer/sync/strategies.hpp"

#include <algorithm>
#include <cmath>

#include "base/assert.hpp"
#include "trainer/sync/rules.hpp"
#include "trainer/sync/sliced.hpp"

namespace samovar::trainer {

namespace {

using Made = std::unique_ptr<Together>;

template <std::unique_ptr<SliceRule> (*make_rule)(const StrategySpec&)>
Made sliced(Council& council, const StrategySpec& strategy, CellKind cell) {
  return std::make_unique<Sliced>(council, strategy, cell, make_rule(strategy), make_codec(strategy.codec));
}

// Before the payload of each message.
constexpr double kHeadBytes = 64;
constexpr double kPieceFloats = 32'768;

double coded(const CostQuestion& q, double floats) {
  const auto codec = make_codec(q.codec);
  return static_cast<double>(codec->bytes_most(static_cast<std::size_t>(std::ceil(floats)), q.cell));
}

// A worker sends each other owner its slice, and each other worker the answer for its own.
RoundCost sliced_cost(const CostQuestion& q) {
  if (q.members < 2) return {static_cast<double>(q.tau), 0, 0, false};
  const auto members = static_cast<double>(q.members);
  const double slice = static_cast<double>(q.floats) / members;
  const double pieces = std::ceil(slice / kPieceFloats);
  const double messages = 2 * (members - 1) * pieces;
  return {static_cast<double>(q.tau), messages, 2 * (members - 1) * coded(q, slice) + messages * kHeadBytes,
          false};
}
RoundCost waiting_cost(const CostQuestion& q) {
  RoundCost cost = sliced_cost(q);
  cost.waits = q.members > 1;
  return cost;
}
// Each sum is a double where the codec is exact, and there is one for each weight, not for each float of the
// cells.
RoundCost allreduce_cost(const CostQuestion& q) {
  CostQuestion sums = q;
  const bool exact = make_codec(q.codec)->exact();
  sums.floats = q.floats / q.cell.floats * (exact ? 2 : 1);
  sums.cell = {exact ? 2u : 1u, false};
  sums.tau = 1;
  return waiting_cost(sums);
}
// The whole vector to one other.
RoundCost paired_cost(const CostQuestion& q) {
  if (q.members < 2) return {static_cast<double>(q.tau), 0, 0, false};
  const auto floats = static_cast<double>(q.floats);
  const double messages = std::ceil(floats / kPieceFloats);
  return {static_cast<double>(q.tau), messages, coded(q, floats) + messages * kHeadBytes, false};
}

constexpr Strategy kStrategies[] = {
    {"easgd", "Elastic averaging",
     "The usual choice: each worker is held near a common centre, and nobody waits for the slow.",
     Strategy::Pace::either, sliced<make_easgd_rule>, sliced_cost},
    {"eamsgd", "Elastic averaging with momentum",
     "Elastic averaging whose workers step with Nesterov's momentum; for the solver sgd.",
     Strategy::Pace::either, sliced<make_easgd_rule>, sliced_cost},
    {"allreduce", "Gradients of all",
     "Every step is made with the gradients of all workers: the model has the same bits with any number of "
     "them. "
     "For models that are small beside a step.",
     Strategy::Pace::in_step, sliced<make_allreduce_rule>, allreduce_cost, true},
    {"averaging", "Model averaging",
     "All go on from their mean after every exchange. Simple and exact; as fast as the slowest.",
     Strategy::Pace::in_step, sliced<make_averaging_rule>, waiting_cost},
    {"bmuf", "Block momentum",
     "Model averaging whose changes carry momentum: for many alike workers and rare exchanges.",
     Strategy::Pace::in_step, sliced<make_bmuf_rule>, waiting_cost},
    {"downpour", "Downpour",
     "Workers add what they learned to the common model, nobody waits. For few workers with a quick network.",
     Strategy::Pace::free, sliced<make_downpour_rule>, sliced_cost},
    {"ssp", "Stale synchronous",
     "As Downpour, but nobody runs further ahead of the slowest than the staleness allows.",
     Strategy::Pace::free, sliced<make_ssp_rule>, waiting_cost},
    {"quorum", "Elastic rounds with a quorum",
     "Rounds close when most workers have come: for boxes where now and then one is slow.",
     Strategy::Pace::free, sliced<make_quorum_rule>, waiting_cost},
    {"gossip", "Gossip",
     "Each exchange is with one other worker: half the bytes of a centre, for slow networks and many "
     "workers.",
     Strategy::Pace::free, make_gossip, paired_cost},
    {"ltfb", "Tournaments",
     "Each worker trains a model of its own on its own rows; pairs keep the better one. For the weakest "
     "networks.",
     Strategy::Pace::free, make_ltfb, paired_cost},
};

}  // namespace

std::span<const Strategy> strategies() { return kStrategies; }

const Strategy* find_strategy(std::string_view name) {
  const auto found = std::find_if(std::begin(kStrategies), std::end(kStrategies),
                                  [&](const Strategy& one) { return one.name == name; });
  return found == std::end(kStrategies) ? nullptr : found;
}

std::vector<std::string_view> strategy_names() {
  std::vector<std::string_view> names;
  for (const Strategy& one : kStrategies) names.push_back(one.name);
  return names;
}

bool strategy_in_step(const StrategySpec& strategy) {
  const Strategy* const one = find_strategy(strategy.kind);
  return one != nullptr &&
         (one->pace == Strategy::Pace::in_step || (one->pace == Strategy::Pace::either && strategy.sync));
}

bool strategy_of_gradients(const StrategySpec& strategy) {
  const Strategy* const one = find_strategy(strategy.kind);
  return one != nullptr && one->gradients;
}

std::unique_ptr<Together> make_strategy(Council& council, const StrategySpec& strategy, CellKind cell) {
  const Strategy* const one = find_strategy(strategy.kind);
  SAMOVAR_ASSERT(one != nullptr);
  return one->make(council, strategy, cell);
}

}  // namespace samovar::trainer
