#include "base/assert.hpp"
#include "trainer/data/level_hash.hpp"
#include "trainer/data/reader.hpp"

namespace samovar::trainer {

void LevelCoder::codes(std::size_t column, const BlockView& block, std::span<std::uint32_t> out) const {
  block.each_level(column,
                   [&](std::uint32_t level, std::string_view text) { out[level] = code(column, text); });
  out.back() = missing(column);
}

HashedLevels::HashedLevels(unsigned bits, std::uint64_t seed) noexcept
    : shift_(64 - bits), seed_(SeededOrder::mix(seed)) {
  SAMOVAR_ASSERT(bits >= 1 && bits <= 31);
}

std::uint32_t HashedLevels::code(std::size_t column, std::string_view level) const {
  return static_cast<std::uint32_t>(level_hash(seed_, column, level) >> shift_);
}

}  // namespace samovar::trainer
