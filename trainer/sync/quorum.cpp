// Rounds that close when a share of the members has come (Project Adam; BIDMach): EASGD in rounds which
// nobody slow holds up. One that comes late is met when it comes.
#include "trainer/sync/elastic.hpp"
#include "trainer/sync/rules.hpp"

namespace samovar::trainer {

std::unique_ptr<SliceRule> make_quorum_rule(const StrategySpec& strategy) {
  return make_elastic_rule(strategy.beta, true, strategy.quorum);
}

}  // namespace samovar::trainer
