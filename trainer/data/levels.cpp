#include "base/assert.hpp"
#include "trainer/data/order.hpp"
#include "trainer/data/reader.hpp"

#include <cstring>

namespace samovar::trainer {

HashedLevels::HashedLevels(unsigned bits, std::uint64_t seed) noexcept : shift_(64 - bits), seed_(seed) {
  SAMOVAR_ASSERT(bits >= 1 && bits <= 31);
}

std::uint32_t HashedLevels::code(std::size_t column, std::string_view level) const {
  // Eight bytes at a time; the length goes in first, so that zeros at the end count.
  std::uint64_t hash = SeededOrder::derive(seed_, column * 0x1'0000'0001 + level.size());
  for (; level.size() >= 8; level.remove_prefix(8)) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, level.data(), sizeof eight);
    hash = SeededOrder::mix(hash ^ eight);
  }
  std::uint64_t rest = 0;
  for (std::size_t i = 0; i < level.size(); ++i)
    rest |= std::uint64_t{static_cast<unsigned char>(level[i])} << (8 * i);
  return static_cast<std::uint32_t>(SeededOrder::mix(hash ^ rest) >> shift_);
}

}  // namespace samovar::trainer
