#include "daemon/ingest/block_stats.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "daemon/ingest/stats_loops.hpp"

namespace samovar::ingest {

using trainer::BlockColumn;
using trainer::ColumnType;

namespace {

constexpr std::uint64_t kSampleRows = 16'384;  // quantiles within half a percent
constexpr std::size_t kLevelsCounted = 256;    // more in one block of many: only the common ones matter
constexpr std::uint64_t kValuesSpan = 4096;
constexpr auto kNoWord = static_cast<std::uint64_t>(kNoInteger);

inline bool absent(double value) noexcept { return value != value; }
inline bool absent(std::int64_t value) noexcept { return value == kNoInteger; }

// Of bytes that are 0 or 1, eight at a time.
std::uint64_t count_ones(const std::vector<std::uint8_t>& bytes) noexcept {
  std::uint64_t count = 0;
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, bytes.data() + i, sizeof eight);
    count += eight * 0x0101'0101'0101'0101 >> 56;
  }
  for (; i < bytes.size(); ++i) count += bytes[i];
  return count;
}

template <class T>
void add_moments(const std::vector<T>& values, ColumnStats& stats) {
  stats_loops::Moments moments;
  stats_loops::moments(values.data(), values.size(), moments);
  stats.present = static_cast<std::uint64_t>(moments.count);
  stats.missing = values.size() - stats.present;
  stats.min = moments.min;
  stats.max = moments.max;
  stats.mean = moments.mean;
  stats.m2 = moments.m2;
}

}  // namespace

DistinctCounters::DistinctCounters(std::size_t columns)
    : registers_(std::make_unique<std::atomic<std::uint8_t>[]>(columns << kBits)) {}

void DistinctCounters::raise(std::atomic<std::uint8_t>& cell, std::uint64_t rest) noexcept {
  const auto rank = static_cast<std::uint8_t>(__builtin_clzll(rest) + 1);
  std::uint8_t seen = cell.load(std::memory_order_relaxed);
  while (seen < rank && !cell.compare_exchange_weak(seen, rank, std::memory_order_relaxed)) {
  }
}

std::uint64_t DistinctCounters::estimate(std::size_t column) const noexcept {
  constexpr double kRegisters = 1u << kBits;
  double sum = 0;
  double zeros = 0;
  for (std::size_t i = 0; i < std::size_t{1} << kBits; ++i) {
    const std::uint8_t rank = registers_[column << kBits | i].load(std::memory_order_relaxed);
    sum += std::ldexp(1.0, -rank);
    zeros += rank == 0 ? 1 : 0;
  }
  const double raw = 0.7213 / (1 + 1.079 / kRegisters) * kRegisters * kRegisters / sum;
  // Few values: how many registers are still empty says more (Flajolet et al. 2007).
  const double few = kRegisters * std::log(kRegisters / std::max(zeros, 1.0));
  return static_cast<std::uint64_t>(std::llround(raw <= 2.5 * kRegisters && zeros > 0 ? few : raw));
}

void ColumnStats::merge(const ColumnStats& other) noexcept {
  const auto before = static_cast<double>(present);
  const auto added = static_cast<double>(other.present);
  present += other.present;
  missing += other.missing;
  min = std::min(min, other.min);
  max = std::max(max, other.max);
  length_min = std::min(length_min, other.length_min);
  length_max = std::max(length_max, other.length_max);
  length_sum += other.length_sum;
  if (other.present == 0) return;
  const double step = other.mean - mean;
  mean += step * added / (before + added);
  m2 += other.m2 + step * step * before * added / (before + added);
}

void PairMoments::merge(const PairMoments& other) noexcept {
  if (other.count == 0) return;
  const double total = count + other.count;
  const double x = other.mean_x - mean_x;
  const double y = other.mean_y - mean_y;
  const double weight = count * other.count / total;
  xx += other.xx + x * x * weight;
  yy += other.yy + y * y * weight;
  xy += other.xy + x * y * weight;
  mean_x += x * other.count / total;
  mean_y += y * other.count / total;
  count = total;
}

bool is_number(ColumnType type) noexcept {
  return type == ColumnType::real || type == ColumnType::integer || type == ColumnType::boolean ||
         type == ColumnType::time;
}

StatsPlan StatsPlan::make(const trainer::Schema& schema, std::uint64_t rows_expected) {
  std::uint64_t numbers = 1;
  for (const auto& column : schema.columns) numbers += is_number(column.type) ? 1 : 0;
  numbers = std::min<std::uint64_t>(numbers, Comoments::kColumnsMax);
  const auto rows = static_cast<double>(std::max<std::uint64_t>(rows_expected, 1));
  const std::uint64_t moment_rows =
      std::clamp<std::uint64_t>((1u << 28) / (numbers * numbers), 4096, kSampleRows);
  StatsPlan plan;
  plan.sample_share = std::min(1.0, static_cast<double>(kSampleRows) / rows);
  plan.moments_share = std::min(1.0, static_cast<double>(moment_rows) / rows);
  return plan;
}

StatsMaker::StatsMaker(const trainer::Schema& schema, DistinctCounters& distinct)
    : distinct_(distinct),
      association_(AssociationPlan::make(schema)),
      place_(schema.columns.size(), AssociationPlan::kNone) {
  for (std::size_t c = 0; c < schema.columns.size() && numbers_.size() < Comoments::kColumnsMax; ++c) {
    if (!is_number(schema.columns[c].type)) continue;
    place_[c] = static_cast<std::uint32_t>(numbers_.size());
    numbers_.push_back(static_cast<std::uint32_t>(c));
  }
  deviations_.resize(numbers_.size());
  presence_.resize(numbers_.size());
}

void StatsMaker::begin(const StatsPlan& plan, std::uint32_t rows, BlockStats& out) {
  out_ = &out;
  rows_ = rows;
  const auto share = [rows](double part) {
    return std::min(rows, static_cast<std::uint32_t>(std::ceil(part * rows)));
  };
  out.sampled_rows = share(plan.sample_share);
  moment_rows_ = share(plan.moments_share);
  out.rows.columns.assign(association_.size(), {});
}

template <class Word>
void StatsMaker::add_rows(std::size_t column, Word word) {
  if (association_.place[column] == AssociationPlan::kNone) return;
  std::vector<std::uint64_t>& out = out_->rows.columns[association_.place[column]];
  const std::size_t rows = std::min<std::size_t>(moment_rows_, AssociationPlan::kRowsMax);
  out.resize(rows);
  for (std::size_t i = 0; i < rows; ++i) out[i] = word(i);
}

void StatsMaker::add(std::size_t column, const BlockColumn& data, const BlockDictionary& dictionary,
                     const char* text) {
  if (out_->columns.size() <= column) out_->columns.resize(column + 1);
  ColumnStats& stats = out_->columns[column];
  stats = ColumnStats{};
  switch (data.type) {
    case ColumnType::real:
      return add_reals(column, data, stats);
    case ColumnType::category:
      return add_category(column, data, dictionary, text, stats);
    case ColumnType::text:
      return add_text(column, data, stats);
    case ColumnType::sparse:
      stats.present = rows_;
      return;
    default:
      return add_integers(column, data, stats);
  }
}

void StatsMaker::add_integers(std::size_t column, const BlockColumn& data, ColumnStats& stats) {
  const std::vector<std::int64_t>& values = data.integers;
  add_moments(values, stats);
  add_deviations(column, values, stats.mean);
  add_rows(column, [&](std::size_t i) {
    return absent(values[i]) ? RowSample::kMissing
                             : std::bit_cast<std::uint64_t>(static_cast<double>(values[i]));
  });
  stats.sample.reserve(out_->sampled_rows);
  for (std::size_t i = 0; i < out_->sampled_rows; ++i) {
    if (!absent(values.data()[i])) stats.sample.push_back(static_cast<double>(values.data()[i]));
  }
  if (stats.present == 0) {
    stats.values_complete = true;
    return;
  }
  constexpr double kExactMax = 9007199254740992.0;  // beyond it f64 is not exact
  if (stats.max - stats.min >= static_cast<double>(kValuesSpan) || stats.min < -kExactMax ||
      stats.max > kExactMax) {
    count_distinct(column, reinterpret_cast<const std::uint64_t*>(values.data()), values.size(),
                   mix_word(kNoWord));
    return;
  }
  // Close together: a bit for each value, and only the different ones are counted.
  std::uint8_t seen[kValuesSpan] = {};
  const auto first = static_cast<std::int64_t>(stats.min);
  for (const std::int64_t value : values) {
    // A missing one marks the smallest value, which is there.
    const std::int64_t at = absent(value) ? 0 : value - first;
    seen[static_cast<std::uint64_t>(at) % kValuesSpan] = 1;
  }
  const auto span = static_cast<std::uint64_t>(stats.max - stats.min) + 1;
  for (std::uint64_t from = 0; from < span; from += sizeof(std::uint64_t)) {
    std::uint64_t eight = load_word(reinterpret_cast<const char*>(seen) + from);
    for (; eight != 0; eight &= eight - 1) {
      const std::uint64_t at = from + static_cast<std::uint64_t>(__builtin_ctzll(eight)) / 8;
      const std::int64_t value = first + static_cast<std::int64_t>(at);
      stats.values.push_back(value);
      distinct_.add(column, mix_word(static_cast<std::uint64_t>(value)));
    }
  }
  stats.values_complete = true;
  if (data.type != ColumnType::boolean) return;
  const auto ones = static_cast<std::uint64_t>(std::llround(stats.mean * static_cast<double>(stats.present)));
  if (ones > 0) stats.levels.push_back({1, ones, "true"});
  if (ones < stats.present) stats.levels.push_back({0, stats.present - ones, "false"});
}

void StatsMaker::add_reals(std::size_t column, const BlockColumn& data, ColumnStats& stats) {
  add_moments(data.reals, stats);
  add_deviations(column, data.reals, stats.mean);
  add_rows(column, [&](std::size_t i) {
    return absent(data.reals[i]) ? RowSample::kMissing : std::bit_cast<std::uint64_t>(data.reals[i]);
  });
  for (std::size_t i = 0; i < out_->sampled_rows; ++i) {
    if (!absent(data.reals.data()[i])) stats.sample.push_back(data.reals.data()[i]);
  }
  words_.resize(data.reals.size());
  constexpr std::uint64_t kNanWord = 0x7ff8'0000'0000'0000;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const double value = data.reals.data()[i] + 0.0;  // -0 is 0
    std::uint64_t word = kNanWord;
    if (!absent(value)) std::memcpy(&word, &value, sizeof word);
    words_.data()[i] = word;
  }
  count_distinct(column, words_.data(), words_.size(), mix_word(kNanWord));
}

void StatsMaker::count_distinct(std::size_t column, const std::uint64_t* words, std::size_t count,
                                std::uint64_t missing) {
  hashes_.resize(count);
  stats_loops::mix_words(words, count, hashes_.data());
  for (const std::uint64_t hash : hashes_) {
    if (hash != missing) distinct_.add(column, hash);
  }
}

void StatsMaker::add_category(std::size_t column, const BlockColumn& data, const BlockDictionary& dictionary,
                              const char* text, ColumnStats& stats) {
  const std::size_t levels = dictionary.size();
  stats.present = data.valid.empty() ? rows_ : count_ones(data.valid);
  stats.missing = rows_ - stats.present;
  stats.levels_complete = levels <= kLevelsCounted || out_->sampled_rows == rows_;
  hashes_.resize(levels);
  std::uint64_t* const hashes = hashes_.data();
  stats_loops::mix_words(dictionary.levels(), levels, hashes);
  for (std::size_t code = 0; code < levels; ++code) {
    const Cell& level = dictionary.levels()[code];
    if (cell_is_long(level)) [[unlikely]]
      hashes[code] = hash_text(cell_text(level, text));
    distinct_.add(column, hashes[code]);
  }
  add_rows(column, [&](std::size_t i) {
    return data.codes[i] < levels ? hashes[data.codes[i]] : RowSample::kMissing;
  });
  const auto add = [&](std::size_t code, std::uint64_t count) {
    const Cell& level = dictionary.levels()[code];
    stats.levels.push_back(
        {hashes[code], count, std::string(cell_text(level, text).substr(0, kLevelBytesMax + 8))});
  };
  if (!stats.levels_complete) {
    // Of so many only the common ones matter, and a few rows show those.
    const std::size_t looked_at = (out_->sampled_rows + 3) / 4;
    counts_.assign(data.codes.begin(), data.codes.begin() + static_cast<std::ptrdiff_t>(looked_at));
    std::sort(counts_.begin(), counts_.end());
    for (std::size_t i = 0; i < looked_at && counts_[i] < levels;) {
      const std::size_t first = i;
      while (i < looked_at && counts_[i] == counts_[first]) ++i;
      add(counts_[first], std::uint64_t{i - first} * rows_ / looked_at);
    }
    return;
  }
  // Four tables side by side: counting the same level again need not wait for the last time.
  constexpr std::size_t kTables = 4;
  const std::size_t table = levels + 1;
  const std::uint32_t* const codes = data.codes.data();
  const auto last = static_cast<std::uint32_t>(levels);
  counts_.assign(kTables * table, 0);
  std::uint32_t* const counts = counts_.data();
  std::size_t row = 0;
  for (; row + kTables <= rows_; row += kTables) {
    ++counts[std::min(codes[row], last)];
    ++counts[table + std::min(codes[row + 1], last)];
    ++counts[2 * table + std::min(codes[row + 2], last)];
    ++counts[3 * table + std::min(codes[row + 3], last)];
  }
  for (; row < rows_; ++row) ++counts[std::min(codes[row], last)];
  for (std::size_t code = 0; code < levels; ++code) {
    const std::uint64_t count = std::uint64_t{counts[code]} + counts[table + code] +
                                counts[2 * table + code] + counts[3 * table + code];
    if (count > 0) add(code, count);
  }
}

void StatsMaker::add_text(std::size_t column, const BlockColumn& data, ColumnStats& stats) {
  std::vector<LevelCount> seen;
  std::uint32_t begin = 0;
  for (std::size_t i = 0; i < rows_; ++i) {
    const std::string_view value(data.chars.data() + begin, data.ends[i] - begin);
    begin = data.ends[i];
    if (!data.valid.empty() && data.valid[i] == 0) {
      ++stats.missing;
      continue;
    }
    ++stats.present;
    stats.length_min = std::min<std::uint64_t>(stats.length_min, value.size());
    stats.length_max = std::max<std::uint64_t>(stats.length_max, value.size());
    stats.length_sum += static_cast<double>(value.size());
    const std::uint64_t hash = hash_text(value);
    distinct_.add(column, hash);
    if (i < out_->sampled_rows) seen.push_back({hash, 1, std::string(value.substr(0, kLevelBytesMax + 8))});
  }
  std::stable_sort(seen.begin(), seen.end(),
                   [](const LevelCount& a, const LevelCount& b) { return a.hash < b.hash; });
  for (LevelCount& level : seen) {
    if (!stats.levels.empty() && stats.levels.back().hash == level.hash)
      ++stats.levels.back().count;
    else
      stats.levels.push_back(std::move(level));
  }
  stats.levels_complete = out_->sampled_rows == rows_;
  if (stats.levels_complete) return;
  for (LevelCount& level : stats.levels) level.count = level.count * rows_ / out_->sampled_rows;
}

template <class T>
void StatsMaker::add_deviations(std::size_t column, const std::vector<T>& values, double mean) {
  const std::size_t k = place_[column];
  if (k == AssociationPlan::kNone) return;
  deviations_[k].resize(moment_rows_);
  presence_[k].resize(moment_rows_);
  bool complete = true;
  for (std::size_t i = 0; i < moment_rows_; ++i) {
    const bool gone = absent(values[i]);
    deviations_[k][i] = gone ? 0.0 : static_cast<double>(values[i]) - mean;
    presence_[k][i] = gone ? 0.0 : 1.0;
    complete &= !gone;
  }
  if (complete) presence_[k].clear();
}

void StatsMaker::finish() {
  Comoments& moments = out_->comoments;
  moments.columns = numbers_;
  moments.pairs.clear();
  for (std::size_t x = 0; x < numbers_.size(); ++x) {
    for (std::size_t y = x + 1; y < numbers_.size(); ++y) moments.pairs.push_back(pair(x, y));
  }
}

PairMoments StatsMaker::pair(std::size_t x, std::size_t y) const {
  const auto present = [&](std::size_t k) { return presence_[k].empty() ? nullptr : presence_[k].data(); };
  stats_loops::PairSums sums;
  stats_loops::pair_sums(deviations_[x].data(), deviations_[y].data(), present(x), present(y), moment_rows_,
                         sums);
  PairMoments out;
  if (sums.count == 0) return out;
  out.count = sums.count;
  out.mean_x = sums.x / sums.count + out_->columns[numbers_[x]].mean;
  out.mean_y = sums.y / sums.count + out_->columns[numbers_[y]].mean;
  out.xx = sums.xx - sums.x * sums.x / sums.count;
  out.yy = sums.yy - sums.y * sums.y / sums.count;
  out.xy = sums.xy - sums.x * sums.y / sums.count;
  return out;
}

}  // namespace samovar::ingest
