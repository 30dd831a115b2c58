// One bit a float, with error feedback (Seide et al. 2014): a bit says on which side of its class's mean a
// difference lies, and the class which number that stands for. The mean of a class arrives as it was; what a
// float differs from its number is told with later messages.
//
// Cells of a hashed model differ by orders of magnitude in how much they change, so one pair of numbers for
// all would drown the rare ones in noise. The classes are made of what both ends know before: by the size of
// the sum of squares, which says how much a cell was used, or else of the first float. And the bit of the sum
// of squares says whether a cell was used this time: the cell's other floats have a pair of numbers for
// either.
#include <array>
#include <bit>

#include "base/assert.hpp"
#include "trainer/sync/codecs/parts.hpp"

namespace samovar::trainer {

namespace {

using namespace codecs;

constexpr std::size_t kClasses = 16;
constexpr std::size_t kLanesMost = 4;
// By class, whether the cell was used, and the bit.
constexpr std::size_t kNumbers = kClasses * 4;
using Numbers = std::array<float, kNumbers>;

// Upper half of a float: the numbers need no more, what is left out is told later.
std::uint16_t short_of(float value) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
}
float long_of(std::uint16_t value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16); }

struct Shape {
  Shape(std::size_t floats, CellKind cell) : lanes(lanes_of(cell, floats)), cells(floats / lanes) {
    squares = cell.squares && lanes == cell.floats && cell.squares_at < lanes;
    first = squares ? cell.squares_at : 0;
  }
  std::size_t lanes = 1;
  std::size_t cells = 0;
  bool squares = false;
  std::size_t first = 0;  // the lane that makes the classes, and is sent first
  std::size_t plane() const { return (cells + 7) / 8; }
  // Of a class: two numbers for each lane, and two more for those that ask whether the cell was used.
  std::size_t numbers() const { return 2 * lanes + (squares ? 2 * (lanes - 1) : 0); }
  std::size_t lane_at(std::size_t turn) const { return turn == 0 ? first : turn <= first ? turn - 1 : turn; }
};

// 0: nothing there yet; else by two powers of two each.
SAMOVAR_CODEC_CLONES
void classes_of(const float* like, std::size_t cells, std::size_t stride, int lowest, std::uint8_t* out) {
  for (std::size_t i = 0; i < cells; ++i) {
    const std::uint32_t size = std::bit_cast<std::uint32_t>(like[i * stride]) & 0x7fff'ffffu;
    const int exponent = static_cast<int>(size >> 23) - 127;
    const int wide = std::min(std::max((exponent - lowest) >> 1, 0), static_cast<int>(kClasses) - 2) + 1;
    out[i] = static_cast<std::uint8_t>(size == 0 ? 0 : wide);
  }
}
std::vector<std::uint8_t> classes_of(const Shape& shape, std::span<const float> like) {
  std::vector<std::uint8_t> out(shape.cells);
  // A sum of squares of a step or two is about 2^-8; weights are smaller.
  classes_of(like.data() + shape.first, shape.cells, shape.lanes, shape.squares ? -8 : -20, out.data());
  return out;
}

struct Sum {
  double sum = 0;
  std::uint32_t count = 0;
  void add(float value) {
    sum += static_cast<double>(value);
    ++count;
  }
  float mean() const { return count == 0 ? 0 : static_cast<float>(sum / count); }
};

// Added up in four places in turn: neighbours are often of one class, and an addition would wait for the
// other.
constexpr std::size_t kTurns = 4;
template <std::size_t kCount>
using Sums = std::array<std::array<Sum, kCount>, kTurns>;
template <std::size_t kCount>
std::array<float, kCount> means_of(const Sums<kCount>& sums) {
  std::array<float, kCount> out{};
  for (std::size_t i = 0; i < kCount; ++i) {
    Sum all;
    for (const auto& turn : sums) {
      all.sum += turn[i].sum;
      all.count += turn[i].count;
    }
    out[i] = all.mean();
  }
  return out;
}

// A context is class * 2 + (used or not).
constexpr std::size_t kContexts = 2 * kClasses;

SAMOVAR_CODEC_CLONES
void differences(const float* x, const float* known, std::size_t cells, std::size_t stride, float* out) {
  for (std::size_t i = 0; i < cells; ++i) out[i] = difference(x[i * stride], known[i * stride]);
}

std::array<float, kContexts> means_of(const std::vector<float>& by,
                                      const std::vector<std::uint8_t>& context) {
  Sums<kContexts> sums{};
  for (std::size_t i = 0; i < by.size(); ++i) sums[i % kTurns][context[i]].add(by[i]);
  return means_of(sums);
}

// On which side of its context's limit each lies, and what the sides stand for.
Numbers sides_of(const std::vector<float>& by, const std::vector<std::uint8_t>& context,
                 const std::array<float, kContexts>& limit, std::uint8_t* bits) {
  Sums<kNumbers> sums{};
  for (std::size_t first = 0; first < by.size(); first += 8) {
    unsigned byte = 0;
    const std::size_t count = std::min<std::size_t>(8, by.size() - first);
    for (std::size_t i = 0; i < count; ++i) {
      const float value = by[first + i];
      const std::size_t at = context[first + i];
      const unsigned bit = value >= limit[at] ? 1 : 0;
      sums[i % kTurns][at * 2 + bit].add(value);
      byte |= bit << i;
    }
    bits[first / 8] = static_cast<std::uint8_t>(byte);
  }
  Numbers out = means_of(sums);
  for (float& number : out) number = long_of(short_of(number));
  return out;
}
void move_lane(float* known, std::size_t stride, const std::vector<std::uint8_t>& context,
               const std::uint8_t* bits, const Numbers& numbers) {
  for (std::size_t i = 0; i < context.size(); ++i) {
    const unsigned bit = bits[i / 8] >> (i % 8) & 1u;
    known[i * stride] = moved(known[i * stride], numbers[context[i] * 2u + bit]);
  }
}
// The context of the lanes after the first.
void note_used(const std::uint8_t* bits, std::vector<std::uint8_t>& context) {
  for (std::size_t i = 0; i < context.size(); ++i)
    context[i] = static_cast<std::uint8_t>((context[i] & ~1u) | (bits[i / 8] >> (i % 8) & 1u));
}

class OneBit final : public Codec {
 public:
  std::string_view name() const override { return "one_bit"; }
  std::size_t bytes_most(std::size_t floats, CellKind cell) const override {
    const Shape shape(floats, cell);
    if (floats == 0) return 0;
    return sizeof(std::uint16_t) * (1 + kClasses * shape.numbers()) + shape.lanes * shape.plane();
  }

  // Which classes there are; their numbers, class by class; the bits, lane by lane.
  void encode(std::span<const float> x, std::span<float> known, std::span<const float> like, CellKind cell,
              SeededOrder&, Bytes& out) const override {
    if (x.empty()) return;
    SAMOVAR_ASSERT(like.size() == x.size() && known.size() == x.size());
    const Shape shape(x.size(), cell);
    std::vector<std::uint8_t> context = classes_of(shape, like);
    std::uint16_t present = 0;
    for (std::uint8_t& each : context) {
      present = static_cast<std::uint16_t>(present | 1u << each);
      each = static_cast<std::uint8_t>(each * 2);
    }
    Bytes bits(shape.lanes * shape.plane());
    std::vector<float> by(shape.cells);
    std::array<Numbers, kLanesMost> numbers{};
    for (std::size_t turn = 0; turn < shape.lanes; ++turn) {
      const std::size_t at = shape.lane_at(turn);
      std::uint8_t* const plane = bits.data() + turn * shape.plane();
      differences(x.data() + at, known.data() + at, shape.cells, shape.lanes, by.data());
      // Sums of squares mostly grow: which of them did is told by the mean, not by the sign.
      std::array<float, kContexts> limit{};
      if (turn == 0 && shape.squares) limit = means_of(by, context);
      numbers[turn] = sides_of(by, context, limit, plane);
      move_lane(known.data() + at, shape.lanes, context, plane, numbers[turn]);
      if (turn == 0 && shape.squares) note_used(plane, context);
    }
    put_number(out, present);
    for (std::size_t which = 0; which < kClasses; ++which) {
      if ((present >> which & 1) == 0) continue;
      for (std::size_t turn = 0; turn < shape.lanes; ++turn) {
        for (std::size_t i = 0; i < (turn > 0 && shape.squares ? 4u : 2u); ++i)
          put_number(out, short_of(numbers[turn][which * 4 + i]));
      }
    }
    out.insert(out.end(), bits.begin(), bits.end());
  }

  Result<void> decode(ByteView in, std::span<float> known, std::span<const float> like,
                      CellKind cell) const override {
    if (known.empty()) return in.empty() ? Result<void>{} : damaged_piece();
    SAMOVAR_ASSERT(like.size() == known.size());
    const Shape shape(known.size(), cell);
    if (in.size() < sizeof(std::uint16_t)) return damaged_piece();
    const auto present = number_at<std::uint16_t>(in, 0);
    in = in.subspan(sizeof present);
    const std::size_t tables =
        static_cast<std::size_t>(std::popcount(present)) * shape.numbers() * sizeof(std::uint16_t);
    if (in.size() != tables + shape.lanes * shape.plane()) return damaged_piece();
    std::array<Numbers, kLanesMost> numbers{};
    for (std::size_t which = 0; which < kClasses; ++which) {
      if ((present >> which & 1) == 0) continue;
      for (std::size_t turn = 0; turn < shape.lanes; ++turn) {
        for (std::size_t i = 0; i < (turn > 0 && shape.squares ? 4u : 2u); ++i) {
          const float number = long_of(number_at<std::uint16_t>(in, 0));
          if (!finite(number)) return damaged_piece();
          numbers[turn][which * 4 + i] = number;
          in = in.subspan(sizeof(std::uint16_t));
        }
      }
    }
    std::vector<std::uint8_t> context = classes_of(shape, like);
    for (std::uint8_t& each : context) each = static_cast<std::uint8_t>(each * 2);
    for (std::size_t turn = 0; turn < shape.lanes; ++turn) {
      const std::size_t at = shape.lane_at(turn);
      const std::uint8_t* const plane = in.data() + turn * shape.plane();
      move_lane(known.data() + at, shape.lanes, context, plane, numbers[turn]);
      if (turn == 0 && shape.squares) note_used(plane, context);
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<Codec> make_one_bit() { return std::make_unique<OneBit>(); }

}  // namespace samovar::trainer
