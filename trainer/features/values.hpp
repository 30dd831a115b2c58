// Values as people and programs write them, read by the type the column had in training.
//
// Threading: pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "trainer/data/schema.hpp"

namespace samovar::trainer {

// "", NA, null and the like.
bool says_missing(std::string_view text) noexcept;
// "12", " -1.5e3 ", "yes" for a column of yes and no, "2024-05-01T08:00:00Z" for one of times (which are
// microseconds since 1970; a bare number is taken for that). Empty: it is none of it. Infinities are none.
std::optional<double> read_value(ColumnType type, std::string_view text) noexcept;
// A number as the level of a category: whole ones without a point, others as short as they come back.
std::string level_of(double value);
std::string level_of(bool value);

}  // namespace samovar::trainer
