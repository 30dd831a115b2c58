#include "base/assert.hpp"
#include "trainer/data/level_hash.hpp"
#include "trainer/data/pack.hpp"
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

void HashedLevels::code_levels(std::size_t as_column, std::uint32_t first, std::uint32_t empty,
                               std::size_t column, const BlockView& block,
                               std::span<std::uint32_t> out) const {
  std::uint32_t* const to = out.data();
  if (const std::string_view chars = block.levels_of_one_length(column, 8); !chars.empty()) {
    pack::table().hash_eights(chars.data(), level_hash_start(seed_, as_column, 8), shift_, first,
                              chars.size() / 8, to);
    return;
  }
  block.each_level(column, [&](std::uint32_t level, std::string_view text) {
    const auto place = static_cast<std::uint32_t>(level_hash(seed_, as_column, text) >> shift_);
    to[level] = text.empty() ? empty : first + place;
  });
}

}  // namespace samovar::trainer
