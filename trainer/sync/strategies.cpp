#include "trainer/sync/strategies.hpp"

#include "base/assert.hpp"
#include "trainer/sync/elastic.hpp"
#include "trainer/sync/sliced.hpp"

namespace samovar::trainer {

namespace {

using Made = std::unique_ptr<Together>;

struct Entry {
  std::string_view name;
  Made (*make)(Council& council, const StrategySpec& strategy, CellKind cell);
};

Made make_easgd(Council& council, const StrategySpec& strategy, CellKind cell) {
  return std::make_unique<Sliced>(council, strategy, cell, make_elastic_rule(strategy.beta, strategy.sync),
                                  make_codec(strategy.codec));
}

constexpr Entry kStrategies[] = {
    {"easgd", make_easgd},
};

}  // namespace

std::vector<std::string_view> strategy_names() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kStrategies) names.push_back(entry.name);
  return names;
}

std::unique_ptr<Together> make_strategy(Council& council, const StrategySpec& strategy, CellKind cell) {
  for (const Entry& entry : kStrategies) {
    if (entry.name == strategy.kind) return entry.make(council, strategy, cell);
  }
  SAMOVAR_ASSERT(!"a strategy that is in the table");
  return nullptr;
}

}  // namespace samovar::trainer
