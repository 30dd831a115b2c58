// The columns that a spec names: whether they go together, and whether the data set has them.
//
// Threading: pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "trainer/spec.hpp"

namespace samovar::trainer {

inline constexpr std::size_t kInteractionsSpecMax = 256;

// RFC 6901.
std::string escape_pointer(std::string_view name);
// What needs no schema: a column in two roles, an interaction of a column with itself.
void check_columns_fit_together(const JobSpec& spec, std::vector<SpecFault>& faults);
void check_columns_are_there(const JobSpec& spec, const Schema& schema, std::vector<SpecFault>& faults);

}  // namespace samovar::trainer
