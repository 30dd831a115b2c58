// The one-time code a new box prints on its console, typed back by whoever sets it up.
//
// Threading: any thread.
#pragma once
#include <string>
#include <string_view>

#include "base/rng.hpp"

namespace samovar::security {

// "K7Q2-M4XP": 8 characters of an alphabet without look-alikes, 40 bit.
std::string make_setup_code(Rng& rng);
// Constant time. Forgives case, spaces, dashes, O for 0, I and L for 1.
bool setup_code_matches(std::string_view typed, std::string_view actual);

}  // namespace samovar::security
