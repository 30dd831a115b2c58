// The loops of an exchange over every float of a piece: as quick as memory, or exchanges cost more than the
// steps between them.
//
// Threading: pure.
#pragma once
#include <cstddef>

namespace samovar::trainer {

// d = alpha (x - centre): the centre moves by it, and x becomes it: what the member is to take off.
void pull_centre(float* x, float* centre, std::size_t count, float alpha);
// The same with a member that is at hand: it is taken off at once.
void pull_both(float* x, float* centre, std::size_t count, float alpha);
void take_from(float* x, const float* by, std::size_t count);

}  // namespace samovar::trainer
