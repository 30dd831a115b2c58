// What a spec says about training on several nodes: strategy, nodes, on_lost_node.
//
// Threading: pure.
#pragma once
#include <vector>

#include "trainer/spec_members.hpp"

namespace samovar::trainer {

void parse_together(SpecMembers& members, JobSpec& spec, std::vector<SpecFault>& faults);
nlohmann::json to_json(const StrategySpec& strategy);
// JSON Schema (2020-12) with title, description, default and x-advanced.
nlohmann::json strategy_schema();

}  // namespace samovar::trainer
