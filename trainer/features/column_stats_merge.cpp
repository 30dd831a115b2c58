// Parts of column statistics as bytes, and one out of several.
#include <algorithm>
#include <vector>

#include "trainer/features/column_stats.hpp"

namespace samovar::trainer {

void DistinctCount::merge(StateReader& in) {
  std::vector<std::uint64_t> theirs;
  in.get(theirs);
  for (const std::uint64_t hash : theirs) add(hash);
}

void NumberStats::put(StateWriter& out) const {
  for (const std::uint64_t count : {present, missing, infinite}) out.put(count);
  for (const double number : {mean, squares, min, max}) out.put(number);
  out.put(static_cast<std::uint8_t>(rising));
  out.put(hours);
  out.put(weekdays);
  distinct.put(out);
}

void NumberStats::merge(StateReader& in) {
  const auto their_present = in.get<std::uint64_t>();
  missing += in.get<std::uint64_t>();
  infinite += in.get<std::uint64_t>();
  const auto their_mean = in.get<double>();
  const auto their_squares = in.get<double>();
  min = std::min(min, in.get<double>());
  max = std::max(max, in.get<double>());
  rising = in.get<std::uint8_t>() != 0 && rising;
  hours |= in.get<std::uint32_t>();
  weekdays |= in.get<std::uint32_t>();
  distinct.merge(in);
  if (their_present != 0 && !in.failed()) combine(their_present, their_mean, their_squares);
}

void LevelCounts::put(StateWriter& out) const {
  out.put(static_cast<std::uint8_t>(too_many_));
  out.put(static_cast<std::uint8_t>(pruned_));
  out.put(present_);
  out.put(missing_);
  out.put(std::uint64_t{counts_.size()});
  // In one order, whatever the hash table's: the same rows give the same bytes.
  std::vector<std::pair<std::string_view, std::uint64_t>> sorted(counts_.begin(), counts_.end());
  std::sort(sorted.begin(), sorted.end());
  for (const auto& [level, rows] : sorted) {
    out.put(level);
    out.put(rows);
  }
  distinct_.put(out);
}

void LevelCounts::merge(StateReader& in) {
  const bool many = in.get<std::uint8_t>() != 0;
  pruned_ = in.get<std::uint8_t>() != 0 || pruned_;
  present_ += in.get<std::uint64_t>();
  missing_ += in.get<std::uint64_t>();
  if (many) {
    too_many_ = true;
    counts_.clear();
  }
  const auto levels = in.get<std::uint64_t>();
  for (std::uint64_t i = 0; i < levels && !in.failed(); ++i) {
    const std::string level = in.text();
    count(level, in.get<std::uint64_t>());
  }
  distinct_.merge(in);
}

void TextStats::put(StateWriter& out) const {
  for (const std::uint64_t number : {present, looked_at, words}) out.put(number);
  distinct.put(out);
}

void TextStats::merge(StateReader& in) {
  for (std::uint64_t* number : {&present, &looked_at, &words}) *number += in.get<std::uint64_t>();
  distinct.merge(in);
}

void SparseStats::put(StateWriter& out) const {
  out.put(pairs);
  out.put(index_max);
}

void SparseStats::merge(StateReader& in) {
  pairs += in.get<std::uint64_t>();
  index_max = std::max(index_max, in.get<std::uint32_t>());
}

}  // namespace samovar::trainer
