#include "trainer/export/number_text.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "trainer/data/order.hpp"

namespace samovar::trainer {
namespace {

void expect_back(float value) {
  std::string text;
  append_number(text, value);
  double way = 0;
  std::from_chars(text.data(), text.data() + text.size(), way);
  float straight = 0;
  std::from_chars(text.data(), text.data() + text.size(), straight);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(static_cast<float>(way)), std::bit_cast<std::uint32_t>(value))
      << text;
  EXPECT_EQ(std::bit_cast<std::uint32_t>(straight), std::bit_cast<std::uint32_t>(value)) << text;
}

TEST(NumberText, EveryFloatComesBack) {
  SeededOrder order(1);
  for (int i = 0; i < 200'000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(order.next()));
    if (std::isfinite(value)) expect_back(value);
  }
  using Limits = std::numeric_limits<float>;
  for (const float value : {0.0f, -0.0f, 1.0f, Limits::max(), Limits::min(), Limits::denorm_min()})
    expect_back(value);
}

}  // namespace
}  // namespace samovar::trainer
