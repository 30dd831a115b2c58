// From columns to rows of weights. Column by column over a few rows at a time, so that what is written stays
// in the first cache until its last column.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "trainer/features/columns.hpp"
#include "trainer/features/words.hpp"

namespace samovar::trainer {

namespace {

using Kind = InteractionPlan::Kind;

constexpr std::uint32_t kTileRows = 128;
// Far beyond what any standardised value is, and products of two of them are still numbers.
constexpr double kValueMax = 1e15;

class RowEncoder {
 public:
  RowEncoder(const PipelinePlan& plan, const LevelCodes& codes, const InputColumns& columns,
             EncodedBatch& out)
      : plan_(plan), codes_(codes), tokens_(codes.tokens()), columns_(columns), out_(out) {}

  void run(std::uint32_t rows) {
    for (std::uint32_t first = 0; first < rows; first += kTileRows) {
      const std::uint32_t height = std::min(kTileRows, rows - first);
      tile(first, height, first);
      if (plan_.ragged) {
        for (std::uint32_t row = first; row < first + height; ++row) ragged(row, row);
      }
    }
  }

  // There is room for a tile after the last of the chosen rows.
  void run(std::uint32_t rows, std::span<const std::uint32_t> chosen) {
    std::uint32_t kept = 0;
    for (std::uint32_t first = 0; first < rows; first += kTileRows) {
      const std::uint32_t height = std::min(kTileRows, rows - first);
      const std::uint32_t start = kept;
      tile(first, height, start);
      while (kept < chosen.size() && chosen[kept] < first + height) {
        // Those that follow each other move together.
        const std::uint32_t row = chosen[kept];
        std::uint32_t run = 1;
        while (kept + run < chosen.size() && chosen[kept + run] == row + run && row + run < first + height)
          ++run;
        const std::uint32_t from = start + (row - first);
        if (from != kept) {
          move_rows(out_.dense.data(), plan_.dense_width, from, kept, run);
          move_rows(out_.slots.data(), plan_.slot_width, from, kept, run);
        }
        if (plan_.ragged) {
          for (std::uint32_t i = 0; i < run; ++i) ragged(row + i, kept + i);
        }
        kept += run;
      }
    }
  }

 private:
  template <class T>
  static void move_rows(T* values, std::size_t width, std::size_t from, std::size_t to, std::size_t rows) {
    std::copy_n(values + from * width, rows * width, values + to * width);  // to < from: they may overlap
  }

  // Rows [first, first + height) of the columns, from row `to` of the batch on.
  void tile(std::uint32_t first, std::uint32_t height, std::uint32_t to) {
    float* dense = out_.dense.data() + to * plan_.dense_width;
    std::uint32_t* slots = out_.slots.data() + to * plan_.slot_width;
    for (std::size_t i = 0; i < plan_.inputs.size(); ++i) input(i, first, height, dense, slots);
    for (std::size_t i = 0; i < plan_.interactions.size(); ++i) interaction(i, height, dense, slots);
  }

  void input(std::size_t i, std::uint32_t first, std::uint32_t rows, float* dense, std::uint32_t* slots) {
    const InputPlan& input = plan_.inputs[i];
    switch (input.treatment) {
      case Treatment::number:
        return number(i, first, rows, dense);
      case Treatment::number_hash:
        return number_hash(i, first, rows, slots + input.slot);
      case Treatment::levels:
      case Treatment::level_hash:
        return columns_.slots(i, first, rows, slots + input.slot, plan_.slot_width);
      case Treatment::weekday:
      case Treatment::hour:
        return calendar(i, first, rows, slots + input.slot);
      default:
        return;
    }
  }

  void number(std::size_t i, std::uint32_t first, std::uint32_t rows, float* dense) {
    const InputPlan& input = plan_.inputs[i];
    columns_.numbers(i, first, std::span(numbers_).first(rows));
    const double center = input.center;
    const double scale = input.scale;
    const float fill = bounded((input.fill - center) * scale);
    const std::size_t width = plan_.dense_width;
    float* out = dense + input.first;
    for (std::uint32_t row = 0; row < rows; ++row) {
      const double value = numbers_[row];
      const float here = bounded((value - center) * scale);
      out[row * width] = present(value) ? here : fill;
    }
    if (!input.indicator) return;
    out = dense + input.indicator_weight;
    for (std::uint32_t row = 0; row < rows; ++row)
      out[row * width] = static_cast<float>(static_cast<std::int32_t>(gone(numbers_[row])));
  }

  void number_hash(std::size_t i, std::uint32_t first, std::uint32_t rows, std::uint32_t* out) {
    const std::size_t width = plan_.slot_width;
    if (columns_.number_slots(i, first, rows, out, width)) return;
    columns_.numbers(i, first, std::span(numbers_).first(rows));
    if (const std::uint32_t* places = columns_.number_places(i)) {
      for (std::uint32_t row = 0; row < rows; ++row)
        out[row * width] = places[Tokens::number_token(numbers_[row])];
      return;
    }
    const std::uint64_t key = tokens_.number_key(i);
    const std::uint32_t missing = codes_.missing(i);
    for (std::uint32_t row = 0; row < rows; ++row) {
      // Masked, not jumped over: where half the values are missing, half the jumps would be guessed wrong.
      const std::uint32_t here = tokens_.number(key, numbers_[row]);
      const auto mask = static_cast<std::uint32_t>(-gone(numbers_[row]));
      out[row * width] = (here & ~mask) | (missing & mask);
    }
    if (!codes_.own(i).has_numbers()) return;
    for (std::uint32_t row = 0; row < rows; ++row) {
      const std::uint32_t own = codes_.own(i).number(Tokens::number_token(numbers_[row]));
      if (own != kNoSlot) out[row * width] = own;
    }
  }

  void calendar(std::size_t i, std::uint32_t first, std::uint32_t rows, std::uint32_t* out) {
    const InputPlan& input = plan_.inputs[i];
    columns_.numbers(i, first, std::span(numbers_).first(rows));
    constexpr double kHour = 3600e6;
    constexpr double kLatest = 1e17;  // beyond the year 5000
    const std::size_t width = plan_.slot_width;
    for (std::uint32_t row = 0; row < rows; ++row) {
      const double value = numbers_[row];
      std::uint32_t slot = kNoSlot;
      if (std::abs(value) <= kLatest) {
        const auto hours = static_cast<std::int64_t>(std::floor(value / kHour));
        const std::int64_t days = (hours - (((hours % 24) + 24) % 24)) / 24;
        // 1970-01-01 was a Thursday, the fourth day of its week.
        const std::int64_t part =
            input.treatment == Treatment::hour ? hours - days * 24 : ((days + 3) % 7 + 7) % 7;
        slot = input.first + static_cast<std::uint32_t>(part);
      }
      out[row * width] = slot;
    }
  }

  void interaction(std::size_t i, std::uint32_t rows, float* dense, std::uint32_t* slots) {
    const InteractionPlan& pair = plan_.interactions[i];
    const InputPlan& a = plan_.inputs[pair.a];
    const InputPlan& b = plan_.inputs[pair.b];
    const std::size_t width = plan_.slot_width;
    if (pair.kind == Kind::product) {
      for (std::uint32_t row = 0; row < rows; ++row, dense += plan_.dense_width)
        dense[pair.first] = dense[a.first] * dense[b.first];
    } else if (pair.kind == Kind::cross) {
      for (std::uint32_t row = 0; row < rows; ++row, slots += width) {
        const std::uint32_t at_a = slots[a.slot];
        const std::uint32_t at_b = slots[b.slot];
        const std::uint32_t both = pair.first + (at_a - a.first) * b.count + (at_b - b.first);
        slots[pair.slot] = at_a == kNoSlot || at_b == kNoSlot ? kNoSlot : both;
      }
    } else if (pair.kind == Kind::cross_hash) {
      const std::uint64_t key = tokens_.pair_key(i);
      for (std::uint32_t row = 0; row < rows; ++row, slots += width) {
        const std::uint32_t at_a = slots[a.slot];
        const std::uint32_t at_b = slots[b.slot];
        const std::uint32_t both = tokens_.whole(key, std::uint64_t{at_a} << 32 | at_b);
        slots[pair.slot] = at_a == kNoSlot || at_b == kNoSlot ? kNoSlot : both;
      }
    }
  }

  // Row `row` of the columns, which is row `to` of the batch.
  void ragged(std::uint32_t row, std::uint32_t to) {
    for (std::size_t i = 0; i < plan_.inputs.size(); ++i) {
      const InputPlan& input = plan_.inputs[i];
      if (input.treatment == Treatment::words) {
        words(i, columns_.text(i, row));
      } else if (input.treatment == Treatment::places || input.treatment == Treatment::place_hash) {
        pairs(i, columns_.sparse(i, row));
      }
    }
    for (std::size_t i = 0; i < plan_.interactions.size(); ++i) {
      const InteractionPlan& pair = plan_.interactions[i];
      if (pair.kind != Kind::scaled && pair.kind != Kind::scaled_hash) continue;
      const InputPlan& a = plan_.inputs[pair.a];
      const std::uint32_t slot = out_.slots[to * plan_.slot_width + a.slot];
      if (slot == kNoSlot) continue;
      const std::uint32_t place = pair.kind == Kind::scaled ? pair.first + (slot - a.first)
                                                            : tokens_.whole(tokens_.pair_key(i), slot);
      add(a, place, out_.dense[to * plan_.dense_width + plan_.inputs[pair.b].first]);
    }
    out_.ragged_ends.push_back(static_cast<std::uint32_t>(out_.ragged_slots.size()));
  }

  // Each word once, however often it is there; all of them together have length 1.
  void words(std::size_t i, std::string_view text) {
    places_.clear();
    Words words(text);
    for (std::string_view word = words.next(); !word.empty(); word = words.next())
      places_.push_back(tokens_.level(i, word));
    std::sort(places_.begin(), places_.end());
    places_.erase(std::unique(places_.begin(), places_.end()), places_.end());
    if (places_.empty()) return;
    const auto value = static_cast<float>(1 / std::sqrt(static_cast<double>(places_.size())));
    for (const std::uint32_t place : places_) add(plan_.inputs[i], place, value);
  }

  void pairs(std::size_t i, const BlockView::SparseRow& pairs) {
    const InputPlan& input = plan_.inputs[i];
    const bool hashed = input.treatment == Treatment::place_hash;
    const std::uint64_t key = tokens_.index_key(i);
    for (std::size_t at = 0; at < pairs.indices.size(); ++at) {
      const std::uint32_t index = pairs.indices[at];
      if (!hashed && index >= input.count) continue;
      if (!present(pairs.values[at])) continue;
      add(input, hashed ? tokens_.whole(key, index) : input.first + index, bounded(pairs.values[at]));
    }
  }

  void add(const InputPlan& input, std::uint32_t place, float value) {
    out_.ragged_inputs.push_back(input.column);
    out_.ragged_slots.push_back(place);
    out_.ragged_values.push_back(value);
  }

  // 1 for NaN and infinities, by whole-number arithmetic.
  static std::int64_t gone(double value) {
    constexpr std::uint64_t kExponent = 0x7ff0'0000'0000'0000;
    return static_cast<std::int64_t>((std::bit_cast<std::uint64_t>(value) & kExponent) == kExponent);
  }
  static bool present(double value) { return std::abs(value) <= std::numeric_limits<double>::max(); }
  static float bounded(double value) {
    return static_cast<float>(std::min(std::max(value, -kValueMax), kValueMax));
  }

  const PipelinePlan& plan_;
  const LevelCodes& codes_;
  const Tokens& tokens_;
  const InputColumns& columns_;
  EncodedBatch& out_;
  std::array<double, kTileRows> numbers_;
  std::vector<std::uint32_t> places_;
};

}  // namespace

namespace {

void resize(const PipelinePlan& plan, std::uint32_t rows, EncodedBatch& out) {
  out.rows = rows;
  out.dense.resize(rows * plan.dense_width);
  out.slots.resize(rows * plan.slot_width);
}
void begin(const PipelinePlan& plan, std::uint32_t rows, EncodedBatch& out) {
  resize(plan, rows, out);
  out.dense_width = plan.dense_width;
  out.slot_width = plan.slot_width;
  out.ragged_ends.clear();
  out.ragged_slots.clear();
  out.ragged_values.clear();
  out.ragged_inputs.clear();
}

}  // namespace

void encode_rows(const PipelinePlan& plan, const LevelCodes& codes, const InputColumns& columns,
                 std::uint32_t rows, EncodedBatch& out) {
  begin(plan, rows, out);
  RowEncoder(plan, codes, columns, out).run(rows);
}

void encode_most_rows(const PipelinePlan& plan, const LevelCodes& codes, const InputColumns& columns,
                      std::uint32_t rows, std::span<const std::uint32_t> chosen, EncodedBatch& out) {
  begin(plan, static_cast<std::uint32_t>(chosen.size()) + kTileRows, out);
  RowEncoder(plan, codes, columns, out).run(rows, chosen);
  resize(plan, static_cast<std::uint32_t>(chosen.size()), out);
}

}  // namespace samovar::trainer
