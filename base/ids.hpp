// Names of objects and times, as people and the API see them.
//
// An id is a prefix and a ULID, "usr_01J8Z3…": 48 bits of milliseconds, 80 of luck, in Crockford's
// base32, so that ids made in different milliseconds sort by age.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/rng.hpp"

namespace samovar {

inline constexpr std::size_t kUlidChars = 26;

std::string new_ulid(Clock& clock, Rng& rng);
// new_id("usr", …) → "usr_" and a ULID.
std::string new_id(std::string_view prefix, Clock& clock, Rng& rng);
// Well formed, with this prefix. Says nothing of whether the object exists.
bool is_id(std::string_view prefix, std::string_view text) noexcept;

// RFC 3339 in UTC with six digits, "2026-01-02T03:04:05.000006Z": sorts as text, loses nothing.
std::string format_time(WallTime time);
// Any RFC 3339 time of the years 1 to 9999; digits past the microsecond are cut.
Result<WallTime> parse_time(std::string_view text);

}  // namespace samovar
