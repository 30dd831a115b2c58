// Rows in an order of the caller's: each value straight out of its packed form.
#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/assert.hpp"
#include "trainer/data/block.hpp"
#include "trainer/data/block_format.hpp"
#include "trainer/data/pack.hpp"

namespace samovar::trainer {

using namespace block_format;

namespace {

template <class T>
T load(ByteView bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

bool bit(ByteView bits, std::size_t index) { return (bits.data()[index / 8] >> (index % 8) & 1) != 0; }

// Together first, still packed, then turned into floats as a run of rows is: by vectors.
template <class T, class Real>
void packed(ByteView bytes, std::int64_t base, double divisor, std::span<const std::uint32_t> rows,
            Real* out) {
  constexpr std::size_t kStep = 512;
  T together[kStep];
  for (std::size_t first = 0; first < rows.size(); first += kStep) {
    const std::size_t count = std::min(kStep, rows.size() - first);
    const std::uint32_t* from = rows.data() + first;
    for (std::size_t i = 0; i < count; ++i) together[i] = load<T>(bytes, from[i]);
    const auto* raw = reinterpret_cast<const std::uint8_t*>(together);
    if constexpr (std::is_same_v<Real, double>) {
      pack::table().reals64(raw, sizeof(T), base, divisor, count, out + first);
    } else {
      pack::table().reals32(raw, sizeof(T), base, divisor, count, out + first);
    }
  }
}

template <class T>
void gather_codes(ByteView bytes, std::uint32_t levels, std::span<const std::uint32_t> rows,
                  std::uint32_t* out) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::uint32_t code = load<T>(bytes, rows[i]);
    out[i] = code < levels ? code : BlockView::kMissingCode;
  }
}

// `at` tells which row is the i-th.
template <class T, class At>
void look_up(ByteView bytes, std::span<const std::uint32_t> table, std::size_t count, At at,
             std::uint32_t* out, std::size_t stride) {
  const auto missing = static_cast<std::uint32_t>(table.size() - 1);
  const std::uint32_t* known = table.data();
  const std::uint8_t* from = bytes.data();
  for (std::size_t i = 0; i < count; ++i) {
    T code;
    std::memcpy(&code, from + at(i) * sizeof(T), sizeof(T));
    out[i * stride] = known[std::min(std::uint32_t{code}, missing)];
  }
}
template <class At>
void look_up(ByteView bytes, unsigned width, std::span<const std::uint32_t> table, std::size_t count, At at,
             std::uint32_t* out, std::size_t stride) {
  switch (width) {
    case 1:
      return look_up<std::uint8_t>(bytes, table, count, at, out, stride);
    case 2:
      return look_up<std::uint16_t>(bytes, table, count, at, out, stride);
    case 4:
      return look_up<std::uint32_t>(bytes, table, count, at, out, stride);
    default:  // one level, or none at all
      for (std::size_t i = 0; i < count; ++i) out[i * stride] = table[0];
  }
}

}  // namespace

template <class Real>
void BlockView::gather_reals(std::size_t column, std::span<const std::uint32_t> rows,
                             std::span<Real> out) const {
  SAMOVAR_ASSERT(column < columns_.size() && rows.size() == out.size());
  if (rows.empty()) return;
  SAMOVAR_ASSERT(pack::table().max_code(rows.data(), nullptr, rows.size()) < rows_);
  const ColumnView& view = columns_[column];
  const auto encoding = static_cast<Encoding>(view.encoding);
  switch (encoding) {
    case Encoding::packed:
    case Encoding::decimal: {
      const double divisor = encoding == Encoding::decimal ? kPowersOfTen[view.extra] : 1.0;
      switch (view.width) {
        case 1:
          packed<std::uint8_t>(view.fixed, view.base, divisor, rows, out.data());
          break;
        case 2:
          packed<std::uint16_t>(view.fixed, view.base, divisor, rows, out.data());
          break;
        case 4:
          packed<std::uint32_t>(view.fixed, view.base, divisor, rows, out.data());
          break;
        case 8:
          packed<std::uint64_t>(view.fixed, view.base, divisor, rows, out.data());
          break;
        default:
          std::fill(out.begin(), out.end(), static_cast<Real>(static_cast<double>(view.base) / divisor));
      }
      break;
    }
    case Encoding::f32:  // missing ones are NaN already
      for (std::size_t i = 0; i < rows.size(); ++i)
        out[i] = static_cast<Real>(load<float>(view.fixed, rows[i]));
      return;
    case Encoding::f64:
      for (std::size_t i = 0; i < rows.size(); ++i)
        out[i] = static_cast<Real>(load<double>(view.fixed, rows[i]));
      return;
    case Encoding::bits:
      for (std::size_t i = 0; i < rows.size(); ++i) out[i] = bit(view.fixed, rows[i]) ? Real{1} : Real{0};
      break;
    default:
      SAMOVAR_ASSERT(!"a column without numbers");
  }
  if (!view.has_missing) return;
  // Chosen, not jumped to: where half the values are missing, a branch would be guessed wrong half the time.
  const std::uint32_t* const at = rows.data();
  const std::uint8_t* const valid = view.valid.data();
  Real* const to = out.data();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Real chosen[2] = {std::numeric_limits<Real>::quiet_NaN(), to[i]};
    to[i] = chosen[valid[at[i] / 8] >> (at[i] % 8) & 1];
  }
}

void BlockView::reals(std::size_t column, std::span<const std::uint32_t> rows, std::span<float> out) const {
  gather_reals(column, rows, out);
}
void BlockView::reals(std::size_t column, std::span<const std::uint32_t> rows, std::span<double> out) const {
  gather_reals(column, rows, out);
}

void BlockView::codes(std::size_t column, std::span<const std::uint32_t> rows,
                      std::span<std::uint32_t> out) const {
  SAMOVAR_ASSERT(column < columns_.size() && rows.size() == out.size());
  if (rows.empty()) return;
  SAMOVAR_ASSERT(pack::table().max_code(rows.data(), nullptr, rows.size()) < rows_);
  const ColumnView& view = columns_[column];
  SAMOVAR_ASSERT(view.type == ColumnType::category);
  switch (view.width) {
    case 1:
      return gather_codes<std::uint8_t>(view.fixed, view.count, rows, out.data());
    case 2:
      return gather_codes<std::uint16_t>(view.fixed, view.count, rows, out.data());
    case 4:
      return gather_codes<std::uint32_t>(view.fixed, view.count, rows, out.data());
    default:
      std::fill(out.begin(), out.end(), view.count == 0 ? kMissingCode : 0);
  }
}

void BlockView::map_codes(std::size_t column, std::uint32_t first, std::uint32_t count,
                          std::span<const std::uint32_t> table, std::uint32_t* out,
                          std::size_t stride) const {
  SAMOVAR_ASSERT(column < columns_.size() && first <= rows_ && count <= rows_ - first);
  const ColumnView& view = columns_[column];
  SAMOVAR_ASSERT(view.type == ColumnType::category && table.size() == view.count + std::size_t{1});
  look_up(
      view.fixed, view.width, table, count, [first](std::size_t i) { return first + i; }, out, stride);
}

bool BlockView::map_numbers(std::size_t column, std::uint32_t first, std::uint32_t count,
                            const std::uint32_t* table, std::uint16_t none, std::uint32_t* out,
                            std::size_t stride) const {
  SAMOVAR_ASSERT(column < columns_.size() && first <= rows_ && count <= rows_ - first);
  const ColumnView& view = columns_[column];
  const auto encoding = static_cast<Encoding>(view.encoding);
  constexpr std::int64_t kExact = std::int64_t{1} << 52;
  const bool whole = encoding == Encoding::packed || encoding == Encoding::decimal;
  if (!whole || view.width == 0 || view.width > 4 || view.base > kExact || view.base < -kExact ||
      first % 8 != 0 || count % 8 != 0)
    return false;
  const double divisor = encoding == Encoding::decimal ? kPowersOfTen[view.extra] : 1.0;
  constexpr std::uint32_t kStep = 256;
  std::uint32_t tokens[kStep];
  for (std::uint32_t at = 0; at < count; at += kStep) {
    const std::uint32_t height = std::min(kStep, count - at);
    const std::uint32_t row = first + at;
    pack::table().number_tokens(
        view.fixed.data() + std::size_t{row} * view.width, view.width, static_cast<double>(view.base),
        divisor, view.has_missing ? view.valid.data() + row / 8 : nullptr, none, height, tokens);
    std::uint32_t* const to = out + std::size_t{at} * stride;
    for (std::uint32_t i = 0; i < height; ++i) to[i * stride] = table[tokens[i]];
  }
  return true;
}

void BlockView::map_codes(std::size_t column, std::span<const std::uint32_t> rows,
                          std::span<const std::uint32_t> table, std::uint32_t* out,
                          std::size_t stride) const {
  SAMOVAR_ASSERT(column < columns_.size());
  if (rows.empty()) return;
  SAMOVAR_ASSERT(pack::table().max_code(rows.data(), nullptr, rows.size()) < rows_);
  const ColumnView& view = columns_[column];
  SAMOVAR_ASSERT(view.type == ColumnType::category && table.size() == view.count + std::size_t{1});
  look_up(
      view.fixed, view.width, table, rows.size(),
      [at = rows.data()](std::size_t i) -> std::size_t { return at[i]; }, out, stride);
}

}  // namespace samovar::trainer
