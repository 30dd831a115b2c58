#include "trainer/export/number_text.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include "base/assert.hpp"

namespace samovar::trainer {

namespace {

using Room = std::array<char, 40>;

template <class Real>
const char* shortest(Room& room, Real value) {
  return std::to_chars(room.data(), room.data() + room.size(), value).ptr;
}

}  // namespace

void append_number(std::string& out, double value) {
  SAMOVAR_ASSERT(std::isfinite(value));
  Room room;
  const char* end = shortest(room, value);
  out.append(static_cast<const char*>(room.data()), end);
}

void append_number(std::string& out, float value) {
  SAMOVAR_ASSERT(std::isfinite(value));
  Room room;
  const char* end = shortest(room, value);
  // A reader that goes by way of double rounds twice, which could in rare cases end beside the float.
  double back = 0;
  std::from_chars(room.data(), end, back);
  if (static_cast<float>(back) != value) end = shortest(room, static_cast<double>(value));
  out.append(static_cast<const char*>(room.data()), end);
}

}  // namespace samovar::trainer
