// Numbers as text that comes back as the same bits.
//
// Threading: pure functions.
#pragma once
#include <string>

namespace samovar::trainer {

// As short as it comes back; of a float, read as a float or as a double that is then made a float. Finite.
void append_number(std::string& out, double value);
void append_number(std::string& out, float value);

}  // namespace samovar::trainer
