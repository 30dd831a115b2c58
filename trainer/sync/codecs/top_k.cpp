// The cells that differ most, one of 32, as they are; the others wait until they are among them.
#include <bit>

#include "base/assert.hpp"
#include "trainer/sync/codecs/parts.hpp"

namespace samovar::trainer {

namespace {

using namespace codecs;

constexpr std::size_t kOneOf = 32;
// A cell is named by two bytes.
constexpr std::size_t kCellsMost = 65'536;
// Sizes are sorted into bins by exponent and four bits of the mantissa: near enough to tell large from small.
constexpr unsigned kBinShift = 19;
constexpr std::size_t kBins = (0x7fff'ffffu >> kBinShift) + 1;

// How much each cell differs. A sum of squares goes along with its cell: it counts little by itself.
SAMOVAR_CODEC_CLONES
void sizes_of(const float* x, const float* known, std::size_t cells, std::size_t lanes, const float* weight,
              std::uint32_t* out) {
  if (lanes == 2) {
    for (std::size_t i = 0; i < cells; ++i) {
      const float size = weight[0] * std::fabs(difference(x[2 * i], known[2 * i])) +
                         weight[1] * std::fabs(difference(x[2 * i + 1], known[2 * i + 1]));
      out[i] = std::bit_cast<std::uint32_t>(bounded(size));
    }
    return;
  }
  for (std::size_t i = 0; i < cells; ++i) {
    float size = 0;
    for (std::size_t lane = 0; lane < lanes; ++lane)
      size += weight[lane] * std::fabs(difference(x[i * lanes + lane], known[i * lanes + lane]));
    out[i] = std::bit_cast<std::uint32_t>(bounded(size));
  }
}

std::size_t most_cells(std::size_t cells) { return (cells + kOneOf - 1) / kOneOf; }

// The places of the `most` largest, those of the last bin as they come; none that is 0.
std::vector<std::uint16_t> largest_of(const std::vector<std::uint32_t>& sizes, std::size_t most) {
  std::vector<std::uint32_t> bins(kBins);
  for (const std::uint32_t size : sizes) ++bins[size >> kBinShift];
  std::size_t above = 0;
  std::size_t bin = kBins;
  while (bin > 0 && above + bins[bin - 1] <= most) above += bins[--bin];
  // All of `bin` and above it are taken, and some of the bin below.
  std::size_t of_last = most - above;
  std::vector<std::uint16_t> out;
  out.reserve(most);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::size_t own = sizes[i] >> kBinShift;
    if (sizes[i] == 0 || own + 1 < bin) continue;
    if (own + 1 == bin && of_last == 0) continue;
    if (own + 1 == bin) --of_last;
    out.push_back(static_cast<std::uint16_t>(i));
  }
  return out;
}

class TopK final : public Codec {
 public:
  std::string_view name() const override { return "top_k"; }
  std::size_t bytes_most(std::size_t floats, CellKind cell) const override {
    const std::size_t lanes = lanes_of(cell, floats);
    return most_cells(floats / lanes) * (sizeof(std::uint16_t) + lanes * sizeof(float));
  }

  // The cells' places, rising; then their floats.
  void encode(std::span<const float> x, std::span<float> known, std::span<const float>, CellKind cell,
              SeededOrder&, Bytes& out) const override {
    const std::size_t lanes = lanes_of(cell, x.size());
    const std::size_t cells = x.size() / lanes;
    SAMOVAR_ASSERT(cells <= kCellsMost && known.size() == x.size());
    float weight[4] = {1, 1, 1, 1};
    if (cell.squares && cell.squares_at < lanes) weight[cell.squares_at] = 0x1p-10f;
    std::vector<std::uint32_t> sizes(cells);
    sizes_of(x.data(), known.data(), cells, lanes, weight, sizes.data());
    const std::vector<std::uint16_t> places = largest_of(sizes, most_cells(cells));
    for (const std::uint16_t place : places) put_number(out, place);
    for (const std::uint16_t place : places) {
      for (std::size_t i = place * lanes; i < (place + std::size_t{1}) * lanes; ++i) {
        known[i] = finite(x[i]) ? x[i] : clean(known[i]);
        put_number(out, known[i]);
      }
    }
  }

  Result<void> decode(ByteView in, std::span<float> known, std::span<const float>,
                      CellKind cell) const override {
    const std::size_t lanes = lanes_of(cell, known.size());
    const std::size_t cells = known.size() / lanes;
    const std::size_t each = sizeof(std::uint16_t) + lanes * sizeof(float);
    const std::size_t count = in.size() / each;
    if (in.size() % each != 0 || count > most_cells(cells)) return damaged_piece();
    const ByteView floats = in.subspan(count * sizeof(std::uint16_t));
    std::size_t least = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t place = number_at<std::uint16_t>(in, i * sizeof(std::uint16_t));
      if (place < least || place >= cells) return damaged_piece();
      least = place + 1;
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const auto value = number_at<float>(floats, (i * lanes + lane) * sizeof(float));
        if (!finite(value)) return damaged_piece();
        known[place * lanes + lane] = value;
      }
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<Codec> make_top_k() { return std::make_unique<TopK>(); }

}  // namespace samovar::trainer
