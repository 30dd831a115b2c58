// A vector in two pieces of memory: the cells of the inputs, and those of the intercepts.
//
// Threading: values.
#pragma once
#include <algorithm>
#include <cstring>
#include <span>

namespace samovar::trainer {

struct FlatVector {
  std::span<float> head;
  std::span<float> tail;
  std::size_t size() const noexcept { return head.size() + tail.size(); }
  // Calls take(floats, count, from where in the range) for each run of memory that the range has.
  template <class Take>
  void each_run(std::size_t first, std::size_t count, Take take) const {
    const std::size_t in_head = first < head.size() ? std::min(count, head.size() - first) : 0;
    if (in_head != 0) take(head.data() + first, in_head, std::size_t{0});
    if (in_head != count) take(tail.data() + (first + in_head - head.size()), count - in_head, in_head);
  }
  void copy_to(std::size_t first, std::span<float> out) const {
    each_run(first, out.size(), [&](const float* from, std::size_t count, std::size_t at) {
      std::memcpy(out.data() + at, from, count * sizeof(float));
    });
  }
  void copy_from(std::size_t first, std::span<const float> in) const {
    each_run(first, in.size(), [&](float* to, std::size_t count, std::size_t at) {
      std::memcpy(to, in.data() + at, count * sizeof(float));
    });
  }
};

// What the floats of the vector are: `floats` of them belong together, a cell.
struct CellKind {
  std::size_t floats = 2;
  // One of a cell is a sum of squares: it never falls below 0, and says how much a cell is used.
  bool squares = false;
  std::size_t squares_at = 1;  // which one
  // All of a cell are sums over rows (AdaGrad, FTRL): those of several workers can be added up.
  bool sums() const noexcept { return squares && floats == 2; }
  friend bool operator==(const CellKind&, const CellKind&) = default;
};

}  // namespace samovar::trainer
