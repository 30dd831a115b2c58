// What the codecs have in common: differences that are always finite, cells, numbers as bytes.
//
// A codec that rounds sends differences between what the sender has and what the receiver knows. A value of
// the sender that is not finite counts as no difference (training has diverged there, and ends); a known one
// that is not finite counts as 0. Both ends work out the same floats: products and sums are not fused here
// (-ffp-contract=off), and what a message says is finite.
//
// Threading: pure.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "trainer/sync/codec.hpp"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)
#define SAMOVAR_CODEC_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SAMOVAR_CODEC_CLONES
#endif

namespace samovar::trainer::codecs {

inline constexpr float kMost = std::numeric_limits<float>::max();

// Not std::isfinite: this one the compiler makes a vector of.
inline bool finite(float value) { return std::fabs(value) <= kMost; }
inline float clean(float known) { return finite(known) ? known : 0.0f; }
inline float bounded(float value) { return std::min(std::max(value, -kMost), kMost); }
inline float difference(float x, float known) { return finite(x) ? bounded(x - clean(known)) : 0.0f; }
inline float moved(float known, float by) { return bounded(clean(known) + by); }

inline Error damaged_piece() { return {Errc::corrupt, "parameters that another worker sent are damaged"}; }

// Floats of one run: a whole number of cells of 1, 2, 3 or 4 floats, and of vectors of the processor.
inline constexpr std::size_t kRun = 48;
// Into how many kinds of floats a cell falls; cells of other sizes are taken for floats of one kind.
inline std::size_t lanes_of(CellKind cell, std::size_t floats) {
  return cell.floats != 0 && cell.floats <= 4 && floats % cell.floats == 0 ? cell.floats : 1;
}

template <class T>
void put_number(Bytes& out, T value) {
  const std::size_t at = out.size();
  out.resize(at + sizeof value);
  std::memcpy(out.data() + at, &value, sizeof value);
}
template <class T>
T number_at(ByteView in, std::size_t at) {
  T value;
  std::memcpy(&value, in.data() + at, sizeof value);
  return value;
}

}  // namespace samovar::trainer::codecs
