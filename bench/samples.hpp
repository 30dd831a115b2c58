// Blocks for timing: rows as advertising logs have them, and one column of each kind.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "trainer/data/block.hpp"

namespace samovar::bench {

// A small generator of its own: the same blocks on every machine.
class Luck {
 public:
  explicit Luck(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t x = state_ += 0x9e37'79b9'7f4a'7c15;
    x = (x ^ (x >> 30)) * 0xbf58'476d'1ce4'e5b9;
    x = (x ^ (x >> 27)) * 0x94d0'49bb'1331'11eb;
    return x ^ (x >> 31);
  }
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  bool chance(double share) { return unit() < share; }

 private:
  std::uint64_t state_;
};

struct Sample {
  std::string name;
  trainer::ColumnType type = trainer::ColumnType::integer;
  trainer::BlockColumn column;
};

// One column of each kind, `rows` long.
std::vector<Sample> single_columns(std::uint32_t rows);

// Label, 13 counts and 26 categories of 8 hexadecimal digits, with the holes and the few common levels that
// such logs have.
std::pair<trainer::Schema, trainer::BlockColumns> click_log(std::uint32_t rows, std::uint64_t seed);
// 90 measurements of up to 8 digits.
std::pair<trainer::Schema, trainer::BlockColumns> measurements(std::uint32_t rows, std::uint64_t seed);

// What the columns hold as plain values: 8 bytes a number, 4 a code, the characters of dictionary and text.
std::uint64_t plain_bytes(const trainer::BlockColumns& block);

}  // namespace samovar::bench
