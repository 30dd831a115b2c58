// The table of strategies: what a job may choose from.
//
// Threading: constant.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "trainer/sync/codec.hpp"
#include "trainer/sync/together.hpp"

namespace samovar::trainer {

std::vector<std::string_view> strategy_names();
// The spec was checked: its names are in the tables.
std::unique_ptr<Together> make_strategy(Council& council, const StrategySpec& strategy, CellKind cell);

}  // namespace samovar::trainer
