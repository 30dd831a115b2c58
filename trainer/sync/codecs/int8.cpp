// Differences in 8 bits, in groups of 384 floats: in each the largest of a kind is 127 units, and what lies
// between two units is rounded to either by chance, so that the mean of what arrives is what was sent.
#include <array>

#include "trainer/sync/codecs/parts.hpp"

namespace samovar::trainer {

namespace {

using namespace codecs;

constexpr std::size_t kGroup = 8 * kRun;
constexpr float kUnits = 127;
constexpr float kLeastNormal = std::numeric_limits<float>::min();

using Run = std::array<float, kRun>;
// As many xorshift generators as a run has floats: chance for a whole vector at a time.
using Chances = std::array<std::uint32_t, kRun>;

Chances seeded(SeededOrder& luck) {
  Chances out;
  for (std::uint32_t& each : out) each = static_cast<std::uint32_t>(luck.next() >> 32) | 1u;
  return out;
}

// Differences of a whole group, and the largest by place in a run.
SAMOVAR_CODEC_CLONES
void differences(const float* x, const float* known, float* by, float* most) {
  for (std::size_t i = 0; i < kGroup; i += kRun) {
    for (std::size_t j = 0; j < kRun; ++j) {
      by[i + j] = difference(x[i + j], known[i + j]);
      most[j] = std::max(most[j], std::fabs(by[i + j]));
    }
  }
}

SAMOVAR_CODEC_CLONES
void round_group(const float* by, const float* inverse, std::uint32_t* chance, std::int8_t* out) {
  for (std::size_t i = 0; i < kGroup; i += kRun) {
    for (std::size_t j = 0; j < kRun; ++j) {
      std::uint32_t c = chance[j];
      c ^= c << 13;
      c ^= c >> 17;
      c ^= c << 5;
      chance[j] = c;
      const float part = static_cast<float>(static_cast<std::int32_t>(c >> 8)) * 0x1p-24f;
      // Above 0, so that cutting off is rounding down.
      const auto up = static_cast<std::int32_t>(by[i + j] * inverse[j] + 128.0f + part);
      out[i + j] = static_cast<std::int8_t>(std::min(std::max(up - 128, -127), 127));
    }
  }
}

SAMOVAR_CODEC_CLONES
void move_group(const std::int8_t* units, const float* scale, float* known) {
  for (std::size_t i = 0; i < kGroup; i += kRun) {
    for (std::size_t j = 0; j < kRun; ++j)
      known[i + j] = moved(known[i + j], static_cast<float>(units[i + j]) * scale[j]);
  }
}

class Int8 final : public Codec {
 public:
  std::string_view name() const override { return "int8"; }
  std::size_t bytes_most(std::size_t floats, CellKind cell) const override {
    return floats + (floats + kGroup - 1) / kGroup * lanes_of(cell, floats) * sizeof(float);
  }

  void encode(std::span<const float> x, std::span<float> known, std::span<const float>, CellKind cell,
              SeededOrder& luck, Bytes& out) const override {
    const std::size_t lanes = lanes_of(cell, x.size());
    Chances chances = seeded(luck);
    std::array<float, kGroup> last_x, last_known, by;
    std::array<std::int8_t, kGroup> units;
    for (std::size_t first = 0; first < x.size(); first += kGroup) {
      const std::size_t count = std::min(kGroup, x.size() - first);
      const float* from = x.data() + first;
      float* to = known.data() + first;
      // The last group is filled up with what does not differ.
      if (count < kGroup) {
        last_x.fill(0);
        last_known.fill(0);
        std::copy_n(from, count, last_x.begin());
        std::copy_n(to, count, last_known.begin());
        from = last_x.data();
        to = last_known.data();
      }
      Run most{}, scale{}, inverse{};
      differences(from, to, by.data(), most.data());
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        float size = 0;
        for (std::size_t j = lane; j < kRun; j += lanes) size = std::max(size, most[j]);
        const float unit = size > 0 ? std::max(size / kUnits, kLeastNormal) : 0;
        for (std::size_t j = lane; j < kRun; j += lanes) {
          scale[j] = unit;
          inverse[j] = unit > 0 ? 1 / unit : 0;
        }
        put_number(out, unit);
      }
      round_group(by.data(), inverse.data(), chances.data(), units.data());
      move_group(units.data(), scale.data(), to);
      const auto* const bytes = reinterpret_cast<const std::uint8_t*>(units.data());
      out.insert(out.end(), bytes, bytes + count);
      if (count < kGroup) std::copy_n(last_known.begin(), count, known.data() + first);
    }
  }

  Result<void> decode(ByteView in, std::span<float> known, std::span<const float>,
                      CellKind cell) const override {
    if (in.size() != bytes_most(known.size(), cell)) return damaged_piece();
    const std::size_t lanes = lanes_of(cell, known.size());
    std::array<float, kGroup> last_known;
    std::array<std::int8_t, kGroup> units{};
    for (std::size_t first = 0; first < known.size(); first += kGroup) {
      const std::size_t count = std::min(kGroup, known.size() - first);
      Run scale{};
      for (std::size_t j = 0; j < kRun; ++j) {
        scale[j] = number_at<float>(in, j % lanes * sizeof(float));
        if (!(scale[j] >= 0) || !finite(scale[j])) return damaged_piece();
      }
      in = in.subspan(lanes * sizeof(float));
      std::memcpy(units.data(), in.data(), count);
      in = in.subspan(count);
      float* to = known.data() + first;
      if (count < kGroup) {
        last_known.fill(0);
        std::copy_n(to, count, last_known.begin());
        to = last_known.data();
      }
      move_group(units.data(), scale.data(), to);
      if (count < kGroup) std::copy_n(last_known.begin(), count, known.data() + first);
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<Codec> make_int8() { return std::make_unique<Int8>(); }

}  // namespace samovar::trainer
