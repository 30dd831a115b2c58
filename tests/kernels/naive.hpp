// What the operations should give, in double precision and the plainest way.
#pragma once
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "tests/kernels/devices.hpp"

namespace samovar::kernels {

using Matrix = std::vector<std::vector<double>>;

// Random rows of all kinds: numbers, slots with gaps and repeats, pairs of differing number.
struct Sample {
  std::uint32_t rows = 0;
  std::uint32_t dense_width = 0;
  std::uint32_t slot_width = 0;
  std::uint32_t width = 0;  // weights in all
  bool ragged = false;
  std::vector<float> dense;
  std::vector<std::uint32_t> slots;
  std::vector<std::uint32_t> ends;
  std::vector<std::uint32_t> ragged_slots;
  std::vector<float> ragged_values;

  // As a matrix, rows × width.
  Matrix matrix() const {
    Matrix x(rows, std::vector<double>(width));
    std::uint32_t begin = 0;
    for (std::uint32_t row = 0; row < rows; ++row) {
      for (std::uint32_t i = 0; i < dense_width; ++i)
        x[row][i] += static_cast<double>(dense[std::size_t{row} * dense_width + i]);
      for (std::uint32_t i = 0; i < slot_width; ++i) {
        const std::uint32_t slot = slots[std::size_t{row} * slot_width + i];
        if (slot != kNoSlot) x[row][slot] += 1;
      }
      if (!ragged) continue;
      for (std::uint32_t i = begin; i < ends[row]; ++i)
        x[row][ragged_slots[i]] += static_cast<double>(ragged_values[i]);
      begin = ends[row];
    }
    return x;
  }
};

struct SampleShape {
  std::uint32_t rows;
  std::uint32_t dense_width;
  std::uint32_t slot_width;
  bool ragged;
};
inline const SampleShape kShapes[] = {{1, 1, 0, false},   {1, 0, 1, false},   {7, 3, 0, false},
                                      {5, 0, 3, false},   {33, 0, 39, false}, {9, 17, 11, true},
                                      {70, 40, 8, false}, {12, 0, 0, true},   {300, 2, 9, true}};

inline Sample make_sample(const SampleShape& shape, std::uint32_t levels = 60) {
  std::mt19937 random(shape.rows * 131 + shape.dense_width * 17 + shape.slot_width);
  std::normal_distribution<float> normal;
  Sample s;
  s.rows = shape.rows;
  s.dense_width = shape.dense_width;
  s.slot_width = shape.slot_width;
  s.ragged = shape.ragged;
  s.width = shape.dense_width + levels;
  for (std::size_t i = 0; i < std::size_t{s.rows} * s.dense_width; ++i) s.dense.push_back(normal(random));
  for (std::size_t i = 0; i < std::size_t{s.rows} * s.slot_width; ++i)
    s.slots.push_back(random() % 13 == 0 ? kNoSlot : s.dense_width + random() % levels);
  for (std::uint32_t row = 0; s.ragged && row < s.rows; ++row) {
    for (unsigned left = random() % 5; left > 0; --left) {
      s.ragged_slots.push_back(s.dense_width + random() % levels);
      s.ragged_values.push_back(normal(random));
    }
    s.ends.push_back(static_cast<std::uint32_t>(s.ragged_slots.size()));
  }
  return s;
}

// A sample in a device's memory.
class DeviceRows {
 public:
  DeviceRows(const Table& table, const Sample& s)
      : dense_(table, s.dense),
        slots_(table, s.slots),
        ends_(table, s.ends),
        ragged_(table, s.ragged_slots),
        values_(table, s.ragged_values) {
    rows_.rows = s.rows;
    rows_.dense_width = s.dense_width;
    rows_.slot_width = s.slot_width;
    rows_.dense = s.dense_width != 0 ? dense_.data() : nullptr;
    rows_.slots = s.slot_width != 0 ? slots_.data() : nullptr;
    if (s.ragged) {
      rows_.ragged_ends = ends_.data();
      rows_.ragged_slots = ragged_.data();
      rows_.ragged_values = values_.data();
    }
  }
  const Rows& operator*() const { return rows_; }

 private:
  Buffer<float> dense_;
  Buffer<std::uint32_t> slots_;
  Buffer<std::uint32_t> ends_;
  Buffer<std::uint32_t> ragged_;
  Buffer<float> values_;
  Rows rows_;
};

inline std::vector<float> normals(std::size_t n, unsigned seed, float scale = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, scale);
  std::vector<float> out(n);
  for (float& x : out) x = normal(random);
  return out;
}
inline std::vector<double> doubles(const std::vector<float>& in) { return {in.begin(), in.end()}; }

// |a - b| ≤ tolerance · max(1, |b|)
inline void expect_close(double a, double b, double tolerance, const std::string& what) {
  EXPECT_LE(std::abs(a - b), tolerance * std::max(1.0, std::abs(b))) << what << ": " << a << " and " << b;
}

}  // namespace samovar::kernels
