// EASGD with a centre in slices (Zhang, Choromanska and LeCun 2015): the owner moves the centre towards a
// member by d = alpha (x - centre), the member goes by d towards the centre.
//
// alpha = beta times the member's share of the rows, at most 1/2; with one member there is no pull. In each
// epoch the centre begins at the mean of the members' first words.
#pragma once
#include <memory>

#include "trainer/sync/slice_rule.hpp"

namespace samovar::trainer {

// How hard the centre pulls at a member that did `rows` of `all` rows in a round of `members` members.
double elastic_alpha(double beta, std::size_t members, double rows, double all);

// Algorithm 1, or equations (5) and (6) in rounds, which close when that share of the members has come.
std::unique_ptr<SliceRule> make_elastic_rule(double beta, bool in_rounds, double quorum = 1);

}  // namespace samovar::trainer
