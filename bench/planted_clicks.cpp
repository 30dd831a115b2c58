#include "bench/planted_clicks.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "trainer/data/order.hpp"

namespace samovar::bench {
namespace {

constexpr std::size_t kCounts = 13;
constexpr std::size_t kCategories = 26;

constexpr std::array<double, kCounts> kMissing = {.454,  .0,   .215, .217, .026, .224, .043,
                                                  .0005, .043, .454, .043, .765, .217};
constexpr std::array<double, kCounts> kLogMean = {0.7, 1.6, 1.9, 1.8, 8.3, 3.6, 1.8,
                                                  2.2, 4.1, 0.4, 0.9, 0.5, 1.7};
constexpr std::array<double, kCounts> kLogSd = {1.1, 1.9, 1.3, 0.8, 1.9, 1.6, 1.5,
                                                1.0, 1.4, 0.5, 0.9, 0.8, 1.1};

// How many levels, how steeply their frequency falls, how strong their effects are.
struct Category {
  double levels, exponent, strength;
};
constexpr std::array<Category, kCategories> kCategory = {
    {{1461, 1.25, .25},    {584, 1.05, .35},   {10131227, 1.12, .55}, {2202608, 1.10, .45},
     {306, 1.45, .15},     {24, 1.20, .35},    {12518, 1.05, .30},    {634, 1.55, .15},
     {4, 1.60, .35},       {93146, 1.05, .35}, {5684, 1.05, .25},     {8351593, 1.12, .55},
     {3195, 1.05, .25},    {28, 1.30, .40},    {14993, 1.05, .35},    {5461306, 1.10, .50},
     {11, 1.00, .45},      {5653, 1.05, .30},  {2173, 1.60, .30},     {4, 1.10, .30},
     {7046547, 1.12, .55}, {18, 1.30, .25},    {16, 1.20, .35},       {286181, 1.10, .40},
     {105, 1.30, .30},     {142572, 1.10, .40}}};
// Those that are missing together, and the first group also shares what it is about.
constexpr std::array<std::size_t, 6> kTogether = {2, 3, 11, 15, 20, 23};
constexpr std::array<std::size_t, 4> kRareTogether = {18, 19, 24, 25};

struct PairEffect {
  std::size_t a, b;
  double strength;
};
constexpr std::array<PairEffect, 8> kPairs = {{{5, 13, .45},
                                               {8, 16, .40},
                                               {13, 22, .45},
                                               {1, 19, .30},
                                               {4, 5, .30},
                                               {16, 24, .35},
                                               {0, 13, .30},
                                               {7, 22, .30}}};
constexpr double kScale = 0.70;
constexpr double kCountScale = 0.8;
constexpr double kBias = -1.33;
constexpr double kPairScale = 1.15;

std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51'afd7'ed55'8ccd;
  x ^= x >> 33;
  x *= 0xc4ce'b9fe'1a85'ec53;
  return x ^ x >> 33;
}
std::uint64_t key(std::uint64_t a, std::uint64_t b) {
  return mix(a * 0x9e37'79b9'7f4a'7c15 + b + 0x632b'e59b'd9b4'e019);
}
// About normal: four uniforms of a hash.
double gauss(std::uint64_t hash) {
  double sum = 0;
  for (int shift = 0; shift < 64; shift += 16) sum += static_cast<double>(hash >> shift & 0xffff);
  return (sum / 65536 - 2) * std::sqrt(3.0);
}
// A third of the values matter.
double effect(std::size_t column, std::uint64_t value) {
  constexpr double kShare = .35;
  const std::uint64_t hash = key(1000 + column, value);
  if (static_cast<double>(hash >> 40) / (1 << 24) >= kShare) return 0;
  return gauss(mix(hash ^ 0xabcdef)) / std::sqrt(kShare);
}

template <std::size_t n>
bool among(const std::array<std::size_t, n>& columns, std::size_t column) {
  return std::find(columns.begin(), columns.end(), column) != columns.end();
}

class Row {
 public:
  Row(std::uint64_t number, std::uint64_t seed) : order_(trainer::SeededOrder::derive(seed, number)) {}

  void append(std::string& out) {
    const std::size_t label = out.size();
    out += "0";
    double logit = kBias;
    const double common = normal();
    std::array<double, kCounts> tamed{};
    std::array<bool, kCounts> missing{};
    for (std::size_t j = 0; j < kCounts; ++j) {
      out += '\t';
      logit += count(j, common, tamed[j], missing[j], out);
    }
    const double about = unit();
    const bool together = unit() < .034;
    const bool rare = unit() < .44;
    std::array<std::uint64_t, kCategories> levels{};
    for (std::size_t c = 0; c < kCategories; ++c) {
      out += '\t';
      levels[c] = category(c, about, together, rare, out);
      logit += kScale * kCategory[c].strength * effect(c, levels[c]);
    }
    for (std::size_t i = 0; i < kPairs.size(); ++i)
      logit += kScale * kPairScale * kPairs[i].strength *
               gauss(key(levels[kPairs[i].a] + 1000003 * (i + 1), levels[kPairs[i].b]));
    for (const auto& [j, c] : {std::pair<std::size_t, std::size_t>{5, 8}, {10, 16}}) {
      if (!missing[j]) logit += .25 * std::tanh(tamed[j]) * gauss(key(levels[c] + 5000 + j, 0));
    }
    if (unit() < 1 / (1 + std::exp(-logit))) out[label] = '1';
    out += '\n';
  }

 private:
  double unit() { return static_cast<double>(order_.next() >> 11) / 9007199254740992.0; }
  double normal() {
    const double u = 1 - unit();
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * M_PI * unit());
  }

  double count(std::size_t j, double common, double& tamed, bool& missing, std::string& out) {
    const double log = kLogMean[j] + kLogSd[j] * (0.5 * common + std::sqrt(.75) * normal());
    auto value = static_cast<std::int64_t>(std::min(std::floor(std::expm1(std::max(log, 0.0))), 9999999.0));
    if (j == 1 && unit() < .12) value = -1;
    missing = unit() < kMissing[j];
    tamed = (std::log1p(static_cast<double>(missing ? 0 : std::max<std::int64_t>(value, 0))) - kLogMean[j]) /
            kLogSd[j];
    if (missing) return kCountScale * .3 * gauss(key(79, j));
    out += std::to_string(value);
    return kCountScale * (.30 * gauss(key(77, j)) * std::tanh(tamed) +
                          .25 * gauss(key(78, j)) * (std::exp(-tamed * tamed) - .5));
  }

  std::uint64_t category(std::size_t c, double about, bool together, bool rare, std::string& out) {
    double u = unit();
    const bool grouped = among(kTogether, c);
    if (grouped && unit() < .6) u = about;
    bool missing = grouped ? together : among(kRareTogether, c) && rare;
    if (c == 5) missing = unit() < .12;
    if (c == 21) missing = unit() < .763;
    if (missing) return 0;
    const double most = kCategory[c].levels + 1;
    const double power = 1 - kCategory[c].exponent;
    const double rank = std::abs(power) < 1e-9 ? std::exp(u * std::log(most))
                                               : std::pow(u * (std::pow(most, power) - 1) + 1, 1 / power);
    const auto level = static_cast<std::uint64_t>(std::min(std::floor(rank), kCategory[c].levels));
    const std::uint64_t hash = key(c + 1, level) >> 32;
    for (int shift = 28; shift >= 0; shift -= 4) out += "0123456789abcdef"[hash >> shift & 15];
    return level;
  }

  trainer::SeededOrder order_;
};

}  // namespace

void append_planted_clicks(std::string& out, std::uint64_t first, std::uint64_t rows, std::uint64_t seed) {
  for (std::uint64_t row = first; row < first + rows; ++row) Row(row, seed).append(out);
}

}  // namespace samovar::bench
