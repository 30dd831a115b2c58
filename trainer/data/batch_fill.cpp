#include "trainer/data/batch_fill.hpp"

#include <algorithm>
#include <cstring>

#include "base/assert.hpp"

namespace samovar::trainer {

namespace {

// A tile is read by columns and written by rows: 16 values are a cache line, and the tile stays in the first
// cache.
constexpr std::uint32_t kTileRows = 256;
constexpr std::size_t kTileColumns = 16;

template <class T>
using Tile = T[kTileColumns][kTileRows];

// A known width lets the compiler write a line in one go.
template <std::size_t kWidth, class T>
void write_lines(const Tile<T>& tile, std::uint32_t height, std::size_t stride, T* out) {
  for (std::uint32_t r = 0; r < height; ++r) {
    T line[kWidth];
    for (std::size_t c = 0; c < kWidth; ++c) line[c] = tile[c][r];
    std::memcpy(out + r * stride, line, sizeof line);
  }
}
template <class T>
void write_tile(const Tile<T>& tile, std::uint32_t height, std::size_t width, std::size_t stride, T* out) {
  if (width == kTileColumns) return write_lines<kTileColumns>(tile, height, stride, out);
  for (std::uint32_t r = 0; r < height; ++r) {
    for (std::size_t c = 0; c < width; ++c) out[r * stride + c] = tile[c][r];
  }
}

template <class T, class Read>
void lay_out(std::uint32_t rows, std::size_t columns, ReadPlan::Layout layout, T* out, Read read) {
  if (layout == ReadPlan::Layout::columns) {
    for (std::size_t c = 0; c < columns; ++c) read(c, 0u, std::span<T>(out + c * rows, rows));
    return;
  }
  Tile<T> tile;
  for (std::uint32_t row = 0; row < rows; row += kTileRows) {
    const std::uint32_t height = std::min(kTileRows, rows - row);
    for (std::size_t column = 0; column < columns; column += kTileColumns) {
      const std::size_t width = std::min(kTileColumns, columns - column);
      for (std::size_t c = 0; c < width; ++c) read(column + c, row, std::span<T>(tile[c], height));
      write_tile(tile, height, width, columns, out + row * columns + column);
    }
  }
}

}  // namespace

void fill_numbers(const RowChoice& choice, std::span<const std::size_t> columns, ReadPlan::Layout layout,
                  std::span<float> out) {
  SAMOVAR_ASSERT(out.size() == choice.rows * columns.size());
  lay_out(choice.rows, columns.size(), layout, out.data(),
          [&](std::size_t c, std::uint32_t row, std::span<float> to) {
            if (choice.order.empty()) {
              choice.view.reals(columns[c], choice.first + row, to);
            } else {
              choice.view.reals(columns[c], choice.order.subspan(choice.first + row, to.size()), to);
            }
          });
}

void fill_codes(const RowChoice& choice, std::span<const std::size_t> columns, ReadPlan::Layout layout,
                std::span<const std::vector<std::uint32_t>> levels, std::span<std::uint32_t> out) {
  SAMOVAR_ASSERT(out.size() == choice.rows * columns.size());
  SAMOVAR_ASSERT(levels.empty() || levels.size() == columns.size());
  lay_out(choice.rows, columns.size(), layout, out.data(),
          [&](std::size_t c, std::uint32_t row, std::span<std::uint32_t> to) {
            if (choice.order.empty()) {
              choice.view.codes(columns[c], choice.first + row, to);
            } else {
              choice.view.codes(columns[c], choice.order.subspan(choice.first + row, to.size()), to);
            }
            if (levels.empty()) return;
            // A view gives no code that is neither a level's nor the missing one, which comes last.
            const std::uint32_t* known = levels[c].data();
            const auto missing = static_cast<std::uint32_t>(levels[c].size() - 1);
            for (std::uint32_t& code : to) code = known[std::min(code, missing)];
          });
}

}  // namespace samovar::trainer
