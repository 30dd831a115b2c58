#include <algorithm>
#include <cstring>
#include <limits>

#include "base/assert.hpp"
#include "trainer/data/block.hpp"
#include "trainer/data/block_format.hpp"
#include "trainer/data/pack.hpp"

namespace samovar::trainer {

using namespace block_format;

namespace {

std::uint32_t packed_at(ByteView bytes, unsigned width, std::size_t index) noexcept {
  switch (width) {
    case 1:
      return bytes[index];
    case 2: {
      std::uint16_t value = 0;
      std::memcpy(&value, bytes.data() + index * 2, sizeof value);
      return value;
    }
    case 4: {
      std::uint32_t value = 0;
      std::memcpy(&value, bytes.data() + index * 4, sizeof value);
      return value;
    }
    default:
      return 0;
  }
}

bool bit(ByteView bits, std::size_t index) noexcept {
  return (bits.data()[index / 8] >> (index % 8) & 1) != 0;
}

// Overwrites what the bitmap says is missing: the loop takes whole bytes, the ends are done here.
template <class T>
void overwrite_missing(ByteView valid, std::size_t first, std::span<T> out, T value,
                       void (*whole)(const std::uint8_t*, std::size_t, T*)) {
  std::size_t i = 0;
  for (; i < out.size() && (first + i) % 8 != 0; ++i) {
    if (!bit(valid, first + i)) out[i] = value;
  }
  const std::size_t eights = (out.size() - i) / 8 * 8;
  if (eights != 0) whole(valid.data() + (first + i) / 8, eights, out.data() + i);
  for (i += eights; i < out.size(); ++i) {
    if (!bit(valid, first + i)) out[i] = value;
  }
}

void clear_missing(const std::uint8_t* valid, std::size_t n, std::int64_t* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] &= -static_cast<std::int64_t>(valid[i / 8] >> (i % 8) & 1);
}

// Bits as ones and zeros: the loop takes whole bytes, the ends are done here.
template <class T>
void spread(ByteView bits, std::size_t first, std::span<T> out,
            void (*whole)(const std::uint8_t*, std::size_t, T*)) {
  std::size_t i = 0;
  for (; i < out.size() && (first + i) % 8 != 0; ++i) out[i] = bit(bits, first + i) ? T{1} : T{0};
  const std::size_t eights = (out.size() - i) / 8 * 8;
  if (eights != 0) whole(bits.data() + (first + i) / 8, eights, out.data() + i);
  for (i += eights; i < out.size(); ++i) out[i] = bit(bits, first + i) ? T{1} : T{0};
}

}  // namespace

std::uint32_t BlockView::end(const ColumnView& column, std::size_t index) const noexcept {
  if (column.ends_width == 0) return static_cast<std::uint32_t>(column.extra * (index + 1));
  return packed_at(column.ends, column.ends_width, index);
}

std::uint32_t BlockView::code(const ColumnView& column, std::size_t row) const noexcept {
  const std::uint32_t code = packed_at(column.fixed, column.width, row);
  return code < column.count ? code : kMissingCode;
}

bool BlockView::all_valid(std::size_t column) const noexcept {
  SAMOVAR_ASSERT(column < columns_.size());
  return !columns_[column].has_missing;
}

bool BlockView::valid(std::size_t column, std::uint32_t row) const noexcept {
  SAMOVAR_ASSERT(column < columns_.size() && row < rows_);
  const ColumnView& view = columns_[column];
  if (!view.has_missing) return true;
  if (view.type == ColumnType::category) return code(view, row) != kMissingCode;
  return bit(view.valid, row);
}

template <class Real>
void BlockView::read_reals(const ColumnView& column, std::uint32_t first, std::span<Real> out) const {
  const pack::Table& loops = pack::table();
  const std::uint8_t* at = column.fixed.data() + first * std::size_t{column.width};
  switch (static_cast<Encoding>(column.encoding)) {
    case Encoding::packed:
    case Encoding::decimal: {
      const double divisor =
          column.encoding == static_cast<std::uint8_t>(Encoding::decimal) ? kPowersOfTen[column.extra] : 1.0;
      if (column.width == 0) {
        std::fill(out.begin(), out.end(), static_cast<Real>(static_cast<double>(column.base) / divisor));
      } else if constexpr (std::is_same_v<Real, double>) {
        loops.reals64(at, column.width, column.base, divisor, out.size(), out.data());
      } else {
        loops.reals32(at, column.width, column.base, divisor, out.size(), out.data());
      }
      break;
    }
    case Encoding::f32:  // missing ones are NaN already
      if constexpr (std::is_same_v<Real, float>) {
        std::memcpy(out.data(), at, out.size_bytes());
      } else {
        loops.f32_to_f64(at, out.size(), out.data());
      }
      return;
    case Encoding::f64:
      if constexpr (std::is_same_v<Real, double>) {
        std::memcpy(out.data(), at, out.size_bytes());
      } else {
        loops.f64_to_f32(at, out.size(), out.data());
      }
      return;
    case Encoding::bits:
      if constexpr (std::is_same_v<Real, double>) {
        spread(column.fixed, first, out, loops.bits_to_f64);
      } else {
        spread(column.fixed, first, out, loops.bits_to_f32);
      }
      break;
    default:
      SAMOVAR_ASSERT(!"a column without numbers");
  }
  if (!column.has_missing) return;
  constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();
  if constexpr (std::is_same_v<Real, double>) {
    overwrite_missing(column.valid, first, out, kNan, loops.blank_f64);
  } else {
    overwrite_missing(column.valid, first, out, kNan, loops.blank_f32);
  }
}

void BlockView::reals(std::size_t column, std::uint32_t first, std::span<double> out) const {
  SAMOVAR_ASSERT(column < columns_.size() && first <= rows_ && out.size() <= rows_ - first);
  if (!out.empty()) read_reals(columns_[column], first, out);
}
void BlockView::reals(std::size_t column, std::uint32_t first, std::span<float> out) const {
  SAMOVAR_ASSERT(column < columns_.size() && first <= rows_ && out.size() <= rows_ - first);
  if (!out.empty()) read_reals(columns_[column], first, out);
}

void BlockView::integers(std::size_t column, std::uint32_t first, std::span<std::int64_t> out) const {
  SAMOVAR_ASSERT(column < columns_.size() && first <= rows_ && out.size() <= rows_ - first);
  const ColumnView& view = columns_[column];
  if (out.empty()) return;
  if (view.encoding == static_cast<std::uint8_t>(Encoding::bits)) {
    spread(view.fixed, first, out, pack::table().bits_to_i64);
    return;  // missing ones are written as 0
  }
  SAMOVAR_ASSERT(view.encoding == static_cast<std::uint8_t>(Encoding::packed));
  if (view.width == 0) {
    std::fill(out.begin(), out.end(), view.base);
  } else {
    const std::uint8_t* at = view.fixed.data() + first * std::size_t{view.width};
    pack::table().widen64(at, view.width, view.base, out.size(), out.data());
  }
  if (view.has_missing) overwrite_missing<std::int64_t>(view.valid, first, out, 0, clear_missing);
}

void BlockView::codes(std::size_t column, std::uint32_t first, std::span<std::uint32_t> out) const {
  SAMOVAR_ASSERT(column < columns_.size() && first <= rows_ && out.size() <= rows_ - first);
  const ColumnView& view = columns_[column];
  SAMOVAR_ASSERT(view.type == ColumnType::category);
  if (out.empty()) return;
  if (view.width == 0) {
    std::fill(out.begin(), out.end(), view.count == 0 ? kMissingCode : 0);
    return;
  }
  const std::uint8_t* at = view.fixed.data() + first * std::size_t{view.width};
  pack::table().widen_codes(at, view.width, view.count, kMissingCode, out.size(), out.data());
}

std::uint32_t BlockView::levels(std::size_t column) const noexcept {
  SAMOVAR_ASSERT(column < columns_.size());
  return columns_[column].type == ColumnType::category ? columns_[column].count : 0;
}

std::string_view BlockView::level(std::size_t column, std::uint32_t code) const noexcept {
  SAMOVAR_ASSERT(column < columns_.size());
  const ColumnView& view = columns_[column];
  if (view.type != ColumnType::category || code >= view.count) return {};
  const std::uint32_t first = code == 0 ? 0 : end(view, code - 1);
  return view.chars.substr(first, end(view, code) - first);
}

std::string_view BlockView::text(std::size_t column, std::uint32_t row) const noexcept {
  SAMOVAR_ASSERT(column < columns_.size() && row < rows_);
  const ColumnView& view = columns_[column];
  if (view.type == ColumnType::category) return level(column, code(view, row));
  if (view.type != ColumnType::text || !valid(column, row)) return {};
  const std::uint32_t first = row == 0 ? 0 : end(view, row - 1);
  return view.chars.substr(first, end(view, row) - first);
}

BlockView::SparseRow BlockView::sparse(std::size_t column, std::uint32_t row) const noexcept {
  SAMOVAR_ASSERT(column < columns_.size() && row < rows_);
  const ColumnView& view = columns_[column];
  if (view.type != ColumnType::sparse || view.count == 0) return {};
  const std::uint32_t first = row == 0 ? 0 : end(view, row - 1);
  const std::size_t size = end(view, row) - first;
  return {{view.indices + first, size}, {view.values + first, size}};
}

}  // namespace samovar::trainer
