// The loops over every value that statistics need: plain code, compiled once for each kind of vectors.
//
// Threading: any thread; pure. The result is the same with every variant.
#pragma once
#include <cstddef>
#include <cstdint>

namespace samovar::ingest::stats_loops {

struct Moments {
  double count = 0;
  double min = 0;
  double max = 0;
  double mean = 0;
  double m2 = 0;
};
// Missing ones are kNoInteger and NaN. Without any value, count is 0 and the rest has no meaning.
void moments(const std::int64_t* values, std::size_t count, Moments& out);
void moments(const double* values, std::size_t count, Moments& out);

// Over the rows where both are present (1; otherwise 0, and then the value is 0 too). Null: all are.
struct PairSums {
  double count = 0;
  double x = 0;
  double y = 0;
  double xx = 0;
  double yy = 0;
  double xy = 0;
};
void pair_sums(const double* x, const double* y, const double* x_present, const double* y_present,
               std::size_t count, PairSums& out);

// The cells of keys: eight hexadecimal digits, the first from the lowest bits.
void hex_cells(const std::uint32_t* keys, std::size_t count, std::uint64_t* out);

// out[i] = mix_word(words[i]).
void mix_words(const std::uint64_t* words, std::size_t count, std::uint64_t* out);

}  // namespace samovar::ingest::stats_loops
