// Differences in 16 bits: 5 of exponent, 10 of mantissa, each kind of float under a power of two of its own,
// so that the largest difference is just within reach. The highest exponent is one like the others: there is
// no infinity and no NaN.
#include <array>
#include <bit>

#include "trainer/sync/codecs/parts.hpp"

namespace samovar::trainer {

namespace {

using namespace codecs;

constexpr std::uint32_t kBias = 112u << 23;         // between the exponents of the two formats
constexpr std::uint32_t kLeastNormal = 113u << 23;  // 2^-14
constexpr float kHalf = 0.5f;                       // its last bit is worth 2^-24, as the smallest of 16 bits

// To the nearest, ties to even. |value| < 2^17.
inline std::uint16_t narrow(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t size = bits & 0x7fff'ffffu;
  const std::uint32_t normal = (size - kBias + 0xfffu + ((size >> 13) & 1u)) >> 13;
  const std::uint32_t small =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) + kHalf) - std::bit_cast<std::uint32_t>(kHalf);
  const std::uint32_t rounded = size < kLeastNormal ? small : normal;
  return static_cast<std::uint16_t>(rounded | ((bits >> 16) & 0x8000u));
}
inline float widen(std::uint16_t narrow) {
  const std::uint32_t size = narrow & 0x7fffu;
  const auto normal = std::bit_cast<float>((size << 13) + kBias);
  const float small = std::bit_cast<float>(size + std::bit_cast<std::uint32_t>(kHalf)) - kHalf;
  const float value = size < 0x400u ? small : normal;
  return (narrow & 0x8000u) != 0 ? -value : value;
}

constexpr std::size_t kChunk = 32 * kRun;
// Scales by place in a run.
using Run = std::array<float, kRun>;

SAMOVAR_CODEC_CLONES
void largest_of(const float* x, const float* known, std::size_t count, float* most) {
  std::size_t i = 0;
  for (; i + kRun <= count; i += kRun) {
    for (std::size_t j = 0; j < kRun; ++j)
      most[j] = std::max(most[j], std::fabs(difference(x[i + j], known[i + j])));
  }
  for (std::size_t j = 0; i + j < count; ++j)
    most[j] = std::max(most[j], std::fabs(difference(x[i + j], known[i + j])));
}

inline void write_one(float x, float& known, float scale, float inverse, std::uint16_t& out) {
  out = narrow(difference(x, known) * inverse);
  known = moved(known, widen(out) * scale);
}
SAMOVAR_CODEC_CLONES
void write_all(const float* x, float* known, std::size_t count, const float* scale, const float* inverse,
               std::uint16_t* out) {
  std::size_t i = 0;
  for (; i + kRun <= count; i += kRun) {
    for (std::size_t j = 0; j < kRun; ++j)
      write_one(x[i + j], known[i + j], scale[j], inverse[j], out[i + j]);
  }
  for (std::size_t j = 0; i + j < count; ++j)
    write_one(x[i + j], known[i + j], scale[j], inverse[j], out[i + j]);
}

SAMOVAR_CODEC_CLONES
void read_all(const std::uint16_t* in, float* known, std::size_t count, const float* scale) {
  std::size_t i = 0;
  for (; i + kRun <= count; i += kRun) {
    for (std::size_t j = 0; j < kRun; ++j) known[i + j] = moved(known[i + j], widen(in[i + j]) * scale[j]);
  }
  for (std::size_t j = 0; i + j < count; ++j) known[i + j] = moved(known[i + j], widen(in[i + j]) * scale[j]);
}

class Fp16 final : public Codec {
 public:
  std::string_view name() const override { return "fp16"; }
  std::size_t bytes_most(std::size_t floats, CellKind cell) const override {
    return floats == 0 ? 0 : lanes_of(cell, floats) * sizeof(float) + floats * sizeof(std::uint16_t);
  }

  void encode(std::span<const float> x, std::span<float> known, std::span<const float>, CellKind cell,
              SeededOrder&, Bytes& out) const override {
    if (x.empty()) return;
    const std::size_t lanes = lanes_of(cell, x.size());
    Run most{}, scale{}, inverse{};
    largest_of(x.data(), known.data(), x.size(), most.data());
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      float size = 0;
      for (std::size_t j = lane; j < kRun; j += lanes) size = std::max(size, most[j]);
      // The largest is from 2^15 to 2^16.
      const int exponent = size > 0 ? std::max(std::ilogb(size) - 15, -126) : -126;
      for (std::size_t j = lane; j < kRun; j += lanes) {
        scale[j] = std::ldexp(1.0f, exponent);
        inverse[j] = std::ldexp(1.0f, -exponent);
      }
      put_number(out, scale[lane]);
    }
    std::size_t at = out.size();
    out.resize(at + x.size() * sizeof(std::uint16_t));
    std::array<std::uint16_t, kChunk> halves;
    for (std::size_t first = 0; first < x.size(); first += kChunk) {
      const std::size_t count = std::min(kChunk, x.size() - first);
      write_all(x.data() + first, known.data() + first, count, scale.data(), inverse.data(), halves.data());
      std::memcpy(out.data() + at, halves.data(), count * sizeof(std::uint16_t));
      at += count * sizeof(std::uint16_t);
    }
  }

  Result<void> decode(ByteView in, std::span<float> known, std::span<const float>,
                      CellKind cell) const override {
    if (in.size() != bytes_most(known.size(), cell)) return damaged_piece();
    if (known.empty()) return {};
    const std::size_t lanes = lanes_of(cell, known.size());
    Run scale{};
    for (std::size_t j = 0; j < kRun; ++j) {
      scale[j] = number_at<float>(in, j % lanes * sizeof(float));
      if (!(scale[j] >= 0) || !finite(scale[j])) return damaged_piece();
    }
    in = in.subspan(lanes * sizeof(float));
    std::array<std::uint16_t, kChunk> halves;
    for (std::size_t first = 0; first < known.size(); first += kChunk) {
      const std::size_t count = std::min(kChunk, known.size() - first);
      std::memcpy(halves.data(), in.data() + first * sizeof(std::uint16_t), count * sizeof(std::uint16_t));
      read_all(halves.data(), known.data() + first, count, scale.data());
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<Codec> make_fp16() { return std::make_unique<Fp16>(); }

}  // namespace samovar::trainer
