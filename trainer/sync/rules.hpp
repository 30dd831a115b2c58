// The rules of the strategies with slices, one per file. Which of them there are for a job: strategies.cpp.
#pragma once
#include <memory>

#include "trainer/spec.hpp"
#include "trainer/sync/slice_rule.hpp"

namespace samovar::trainer {

std::unique_ptr<SliceRule> make_allreduce_rule(const StrategySpec& strategy);
std::unique_ptr<SliceRule> make_averaging_rule(const StrategySpec& strategy);
std::unique_ptr<SliceRule> make_bmuf_rule(const StrategySpec& strategy);
std::unique_ptr<SliceRule> make_downpour_rule(const StrategySpec& strategy);
std::unique_ptr<SliceRule> make_easgd_rule(const StrategySpec& strategy);
std::unique_ptr<SliceRule> make_quorum_rule(const StrategySpec& strategy);
std::unique_ptr<SliceRule> make_ssp_rule(const StrategySpec& strategy);

}  // namespace samovar::trainer
