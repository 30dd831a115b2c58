// Only the cells that changed, to the bit: for hashed models, most of whose cells no row has met yet or for
// long. When most did change, floats as they are.
#include <bit>

#include "base/assert.hpp"
#include "trainer/sync/codecs/parts.hpp"

namespace samovar::trainer {

namespace {

using namespace codecs;

// Named by a bit for each cell, or by two bytes for each that changed: whatever is shorter.
enum Form : std::uint8_t { kWhole, kMarks, kPlaces };
constexpr std::size_t kCellsMost = 65'536;

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

SAMOVAR_CODEC_CLONES
void changed(const float* x, const float* known, std::size_t cells, std::size_t lanes, std::uint8_t* out) {
  if (lanes == 2) {
    for (std::size_t i = 0; i < cells; ++i) {
      const std::uint32_t other =
          (bits_of(x[2 * i]) ^ bits_of(known[2 * i])) | (bits_of(x[2 * i + 1]) ^ bits_of(known[2 * i + 1]));
      out[i] = other != 0 ? 1 : 0;
    }
    return;
  }
  for (std::size_t i = 0; i < cells; ++i) {
    std::uint32_t other = 0;
    for (std::size_t lane = 0; lane < lanes; ++lane)
      other |= bits_of(x[i * lanes + lane]) ^ bits_of(known[i * lanes + lane]);
    out[i] = other != 0 ? 1 : 0;
  }
}

class Sparse final : public Codec {
 public:
  std::string_view name() const override { return "sparse"; }
  bool exact() const override { return true; }
  std::size_t bytes_most(std::size_t floats, CellKind) const override {
    return floats == 0 ? 0 : 1 + floats * sizeof(float);
  }

  void encode(std::span<const float> x, std::span<float> known, std::span<const float>, CellKind cell,
              SeededOrder&, Bytes& out) const override {
    if (x.empty()) return;
    const std::size_t lanes = lanes_of(cell, x.size());
    const std::size_t cells = x.size() / lanes;
    SAMOVAR_ASSERT(cells <= kCellsMost && known.size() == x.size());
    std::vector<std::uint8_t> marks(cells);
    changed(x.data(), known.data(), cells, lanes, marks.data());
    std::size_t count = 0;
    for (const std::uint8_t mark : marks) count += mark;
    const std::size_t plane = (cells + 7) / 8;
    const std::size_t named = std::min(plane, count * sizeof(std::uint16_t));
    const bool whole = named + count * lanes * sizeof(float) >= x.size_bytes();
    const Form form = whole ? kWhole : named < plane ? kPlaces : kMarks;
    put_number(out, form);
    std::size_t at = out.size();
    if (form == kWhole) {
      out.resize(at + x.size_bytes());
      std::memcpy(out.data() + at, x.data(), x.size_bytes());
      std::memcpy(known.data(), x.data(), x.size_bytes());
      return;
    }
    out.resize(at + named + count * lanes * sizeof(float));
    std::size_t floats_at = at + named;
    for (std::size_t i = 0; i < cells; ++i) {
      if (marks[i] == 0) continue;
      if (form == kMarks) {
        out[at + i / 8] = static_cast<std::uint8_t>(out[at + i / 8] | 1u << (i % 8));
      } else {
        const auto place = static_cast<std::uint16_t>(i);
        std::memcpy(out.data() + at, &place, sizeof place);
        at += sizeof place;
      }
      std::memcpy(out.data() + floats_at, x.data() + i * lanes, lanes * sizeof(float));
      std::memcpy(known.data() + i * lanes, x.data() + i * lanes, lanes * sizeof(float));
      floats_at += lanes * sizeof(float);
    }
  }

  Result<void> decode(ByteView in, std::span<float> known, std::span<const float>,
                      CellKind cell) const override {
    if (known.empty()) return in.empty() ? Result<void>{} : damaged_piece();
    const std::size_t lanes = lanes_of(cell, known.size());
    const std::size_t cells = known.size() / lanes;
    if (in.empty() || in.size() > bytes_most(known.size(), cell)) return damaged_piece();
    const std::uint8_t form = in[0];
    in = in.subspan(1);
    if (form == kWhole) {
      if (in.size() != known.size_bytes()) return damaged_piece();
      std::memcpy(known.data(), in.data(), in.size());
      return {};
    }
    if (form == kMarks) return by_marks(in, known, cells, lanes);
    if (form == kPlaces) return by_places(in, known, cells, lanes);
    return damaged_piece();
  }

 private:
  static Result<void> by_marks(ByteView in, std::span<float> known, std::size_t cells, std::size_t lanes) {
    const std::size_t plane = (cells + 7) / 8;
    if (in.size() < plane) return damaged_piece();
    std::size_t count = 0;
    for (std::size_t i = 0; i < plane; ++i) count += static_cast<std::size_t>(std::popcount(in[i]));
    const bool beyond = cells % 8 != 0 && in[plane - 1] >> (cells % 8) != 0;
    if (beyond || in.size() != plane + count * lanes * sizeof(float)) return damaged_piece();
    const std::uint8_t* floats = in.data() + plane;
    for (std::size_t i = 0; i < cells; ++i) {
      if ((in[i / 8] >> (i % 8) & 1) == 0) continue;
      std::memcpy(known.data() + i * lanes, floats, lanes * sizeof(float));
      floats += lanes * sizeof(float);
    }
    return {};
  }
  static Result<void> by_places(ByteView in, std::span<float> known, std::size_t cells, std::size_t lanes) {
    const std::size_t each = sizeof(std::uint16_t) + lanes * sizeof(float);
    const std::size_t count = in.size() / each;
    if (in.size() % each != 0) return damaged_piece();
    const std::uint8_t* const floats = in.data() + count * sizeof(std::uint16_t);
    std::size_t least = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t place = number_at<std::uint16_t>(in, i * sizeof(std::uint16_t));
      if (place < least || place >= cells) return damaged_piece();
      least = place + 1;
      std::memcpy(known.data() + place * lanes, floats + i * lanes * sizeof(float), lanes * sizeof(float));
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<Codec> make_sparse() { return std::make_unique<Sparse>(); }

}  // namespace samovar::trainer
