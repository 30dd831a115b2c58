// Sums of doubles that do not depend on their order: each number is rounded to a grid so coarse that no sum
// of them needs more than the 53 bits a double has (Demmel and Nguyen 2013, for a bound that is known
// beforehand).
//
// Threading: values.
#pragma once
#include <algorithm>
#include <cmath>

namespace samovar::trainer {

class ExactGrid {
 public:
  // For sums of at most `terms` numbers; each is cut to within ±`most`, rounded up to a power of two.
  ExactGrid(double most, double terms) {
    const int bound = std::ilogb(most) + 1;
    most_ = std::ldexp(1, bound);
    // Adding and taking off 3/2 of this leaves multiples of its last bit.
    shift_ = 1.5 * std::ldexp(most_, std::ilogb(terms) + 1);
  }
  double round(double value) const {
    // Not a number stays what it is: whoever sums it is to see it.
    if (value > most_) value = most_;
    if (value < -most_) value = -most_;
    return (value + shift_) - shift_;
  }

 private:
  double most_ = 1;
  double shift_ = 1;
};

}  // namespace samovar::trainer
