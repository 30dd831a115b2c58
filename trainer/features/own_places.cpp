#include "trainer/features/own_places.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace samovar::trainer {

namespace {

// Written so that compilers make no jump of it.
std::uint32_t none_unless(bool same) { return static_cast<std::uint32_t>(same) - 1; }
static_assert(kNoSlot == 0xffff'ffff);

}  // namespace

OwnPlaces::OwnPlaces(const InputPlan& input, std::size_t at, const Tokens& tokens) {
  if (input.treatment != Treatment::level_hash && input.treatment != Treatment::number_hash) return;
  std::uint32_t place = input.first;
  for (const std::string& text : input.frequent)
    levels_.push_back({tokens.level_upper(at, text), place++, text});
  for (const std::uint16_t token : input.frequent_numbers) numbers_.emplace_back(token, place++);
  std::sort(numbers_.begin(), numbers_.end());
  missing_ = input.frequent_missing ? place : tokens.missing(at);
  if (levels_.empty()) return;

  // One bit in sixteen or more: it lets few rare levels through.
  const unsigned filter_bits = std::max(10u, static_cast<unsigned>(std::bit_width(levels_.size())) + 4);
  filter_shift_ = 32 - filter_bits;
  filter_.resize((std::size_t{1} << filter_bits) / 64);
  table_.resize(std::bit_ceil(2 * levels_.size()));
  for (std::uint32_t i = 0; i < levels_.size(); ++i) {
    const std::uint32_t upper = levels_[i].upper;
    filter_[upper >> filter_shift_ >> 6] |= std::uint64_t{1} << (upper >> filter_shift_ & 63);
    std::size_t slot = upper & (table_.size() - 1);
    while (table_[slot] != 0) slot = (slot + 1) & (table_.size() - 1);
    table_[slot] = i + 1;
  }
  make_cells();
}

void OwnPlaces::make_cells() {
  std::vector<std::uint32_t> eights;
  for (std::uint32_t i = 0; i < levels_.size(); ++i) {
    if (levels_[i].text.size() == 8) eights.push_back(i);
  }
  // Half full at most it works at once, unless somebody chose the levels so that it does not.
  const std::size_t cells = std::bit_ceil(2 * eights.size() + 2);
  for (const std::size_t size : {cells, 2 * cells, 4 * cells}) {
    cells_.assign(size, Cell{});
    if (fill_cells(eights)) return;
  }
  cells_.clear();
}

bool OwnPlaces::fill_cells(const std::vector<std::uint32_t>& eights) {
  constexpr int kMovesMax = 200;
  std::vector<std::uint32_t> held(cells_.size());  // the hash of each cell's level
  for (const std::uint32_t i : eights) {
    Cell cell;
    std::memcpy(&cell.eight, levels_[i].text.data(), sizeof cell.eight);
    cell.place = levels_[i].place;
    std::uint32_t upper = levels_[i].upper;
    std::size_t at = first_cell(upper);
    for (int moves = 0;; ++moves) {
      if (moves == kMovesMax) return false;
      std::swap(cell, cells_[at]);
      std::swap(upper, held[at]);
      if (cell.place == kNoSlot) break;
      at = at == first_cell(upper) ? second_cell(upper) : first_cell(upper);
    }
  }
  return true;
}

bool OwnPlaces::eights(const char* chars, std::size_t levels, const Tokens& tokens,
                       std::uint32_t* out) const noexcept {
  if (cells_.empty()) return false;
  constexpr std::size_t kAtOnce = 64;
  std::array<std::uint32_t, kAtOnce> which, where;  // those that the filter lets through
  const std::uint64_t* const filter = filter_.data();
  const Cell* const cells = cells_.data();
  const unsigned shift = filter_shift_;
  const Tokens shared = tokens;
  for (std::size_t first = 0; first < levels; first += kAtOnce) {
    const std::size_t count = std::min(kAtOnce, levels - first);
    std::uint32_t* const here = out + first;
    std::uint64_t maybe = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t bit = here[i] >> shift;
      maybe |= (filter[bit >> 6] >> (bit & 63) & 1) << i;
    }
    std::size_t found = 0;
    for (; maybe != 0; maybe &= maybe - 1) {
      const auto i = static_cast<std::uint32_t>(std::countr_zero(maybe));
      const std::uint32_t upper = here[i];
      std::uint64_t eight = 0;
      std::memcpy(&eight, chars + 8 * (first + i), sizeof eight);
      const Cell& a = cells[first_cell(upper)];
      const Cell& b = cells[second_cell(upper)];
      // All bits are 1 where it is not this level, which is kNoSlot.
      const std::uint32_t own =
          (a.place | none_unless(a.eight == eight)) & (b.place | none_unless(b.eight == eight));
      const std::uint32_t rare = none_unless(own != kNoSlot);
      which[found] = i;
      where[found++] = (shared.place(upper) & rare) | (own & ~rare);
    }
    for (std::size_t i = 0; i < count; ++i) here[i] = shared.place(here[i]);
    for (std::size_t i = 0; i < found; ++i) here[which[i]] = where[i];
  }
  return true;
}

std::uint32_t OwnPlaces::level(std::uint32_t upper, std::string_view text) const noexcept {
  for (std::size_t slot = upper & (table_.size() - 1); table_[slot] != 0;
       slot = (slot + 1) & (table_.size() - 1)) {
    const Level& level = levels_[table_[slot] - 1];
    if (level.upper == upper && level.text == text) return level.place;
  }
  return kNoSlot;
}

std::uint32_t OwnPlaces::number(std::uint16_t token) const noexcept {
  const auto at = std::lower_bound(numbers_.begin(), numbers_.end(), std::pair(token, std::uint32_t{0}));
  return at != numbers_.end() && at->first == token ? at->second : kNoSlot;
}

}  // namespace samovar::trainer
