#include "trainer/features/column_stats.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "trainer/data/order.hpp"
#include "trainer/data/reader.hpp"
#include "trainer/features/words.hpp"

namespace samovar::trainer {

std::uint64_t hash_of(std::string_view text) noexcept {
  const HashedLevels low(31, 1), high(31, 2);
  return SeededOrder::mix(std::uint64_t{high.code(0, text)} << 31 | low.code(0, text));
}

void DistinctCount::add(std::uint64_t hash) {
  if (heap_.size() == kKept && hash >= heap_.front()) return;
  recent_.resize(kKept);
  if (std::exchange(recent_[hash % kKept], hash) == hash) return;
  if (std::find(heap_.begin(), heap_.end(), hash) != heap_.end()) return;
  if (heap_.size() == kKept) {
    std::pop_heap(heap_.begin(), heap_.end());
    heap_.pop_back();
  }
  heap_.push_back(hash);
  std::push_heap(heap_.begin(), heap_.end());
}

double DistinctCount::estimate() const {
  if (heap_.size() < kKept) return static_cast<double>(heap_.size());
  return static_cast<double>(kKept - 1) / (static_cast<double>(heap_.front()) * 0x1p-64);
}

void NumberStats::add(std::span<double> values, std::span<const std::uint8_t> use, bool times,
                      bool identity) {
  // Those that count to the front, then two sums over them while they are in the cache.
  std::size_t kept = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (use[i] == 0) continue;
    const double value = values[i];
    if (std::isfinite(value)) {
      values[kept++] = value;
    } else {
      ++missing;
      infinite += std::isinf(value) ? 1 : 0;
    }
  }
  if (kept == 0) return;
  const std::span<const double> here = values.first(kept);
  // From the first value on, so that times in microseconds lose nothing.
  const double origin = here[0];
  double sum = 0;
  for (const double value : here) {
    sum += value - origin;
    min = std::min(min, value);
    max = std::max(max, value);
  }
  const double count = static_cast<double>(kept);
  const double here_mean = origin + sum / count;
  double here_squares = 0;
  for (const double value : here) here_squares += (value - here_mean) * (value - here_mean);
  combine(kept, here_mean, here_squares);
  if (identity) {
    double last = -std::numeric_limits<double>::infinity();  // blocks come in any order
    for (const double value : here) {
      rising = rising && value > last;
      last = value;
      distinct.add(SeededOrder::mix(std::bit_cast<std::uint64_t>(value + 0.0)));
    }
  }
  if (times) {
    for (const double value : here) {
      if (std::abs(value) > 1e17) continue;
      const auto hour = static_cast<std::int64_t>(std::floor(value / 3600e6));
      hours |= 1u << ((hour % 24 + 24) % 24);
      const auto day = static_cast<std::int64_t>(std::floor(value / 86'400e6));
      weekdays |= 1u << ((day % 7 + 7) % 7);
    }
  }
}

// Chan et al. 1979.
void NumberStats::combine(std::uint64_t kept, double their_mean, double their_squares) {
  const double count = static_cast<double>(kept);
  const double before = static_cast<double>(present);
  const double apart = their_mean - mean;
  mean = present == 0 ? their_mean : mean + apart * count / (before + count);
  squares += their_squares + (present == 0 ? 0 : apart * apart * before * count / (before + count));
  present += kept;
}

double NumberStats::deviation() const {
  return present == 0 ? 0 : std::sqrt(squares / static_cast<double>(present));
}

void LevelCounts::add(const BlockView& block, std::size_t column, std::span<const std::uint8_t> use) {
  const std::uint32_t levels = block.levels(column);
  std::vector<std::uint32_t> codes(block.rows());
  block.codes(column, 0, codes);
  std::vector<std::uint64_t> here(levels + std::size_t{1});
  for (std::size_t row = 0; row < codes.size(); ++row) here[std::min(codes[row], levels)] += use[row];
  missing_ += here[levels];
  for (std::uint32_t level = 0; level < levels; ++level) {
    if (here[level] == 0) continue;
    const std::string_view text = block.level(column, level);
    if (text.empty()) {
      missing_ += here[level];
      continue;
    }
    present_ += here[level];
    distinct_.add(hash_of(text));
    count(text, here[level]);
  }
}

void LevelCounts::count(std::string_view level, std::uint64_t rows) {
  if (too_many_) return;
  counts_[std::string(level)] += rows;
  if (exact_ && counts_.size() > levels_max_) {
    too_many_ = true;
    counts_.clear();
  } else if (counts_.size() > 4 * levels_max_ + 4096) {
    make_room();
  }
}

void LevelCounts::make_room() {
  // The rarer half goes. A level that is frequent on the whole comes back; its count is a little low.
  std::vector<std::uint64_t> sizes;
  sizes.reserve(counts_.size());
  for (const auto& [level, count] : counts_) sizes.push_back(count);
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  const std::uint64_t least = *middle;
  std::erase_if(counts_, [&](const auto& item) { return item.second <= least; });
  pruned_ = true;
}

std::vector<std::string> LevelCounts::levels(bool& rest) const {
  std::vector<std::pair<std::string_view, std::uint64_t>> sorted(counts_.begin(), counts_.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  rest = pruned_ || sorted.size() > levels_max_;
  if (sorted.size() > levels_max_) sorted.resize(levels_max_);
  std::vector<std::string> out;
  out.reserve(sorted.size());
  for (const auto& [level, count] : sorted) out.emplace_back(level);
  return out;
}

void TextStats::add(const BlockView& block, std::size_t column, std::span<const std::uint8_t> use) {
  constexpr std::uint64_t kEnough = 20'000;
  for (std::uint32_t row = 0; row < block.rows(); ++row) {
    if (use[row] == 0 || !block.valid(column, row)) continue;
    const std::string_view text = block.text(column, row);
    if (text.empty()) continue;
    ++present;
    if (looked_at >= kEnough) continue;
    ++looked_at;
    distinct.add(hash_of(text));
    Words each(text);
    while (!each.next().empty()) ++words;
  }
}

void SparseStats::add(const BlockView& block, std::size_t column, std::span<const std::uint8_t> use) {
  for (std::uint32_t row = 0; row < block.rows(); ++row) {
    if (use[row] == 0) continue;
    const auto here = block.sparse(column, row);
    pairs += here.indices.size();
    if (!here.indices.empty()) index_max = std::max(index_max, here.indices.back());
  }
}

}  // namespace samovar::trainer
