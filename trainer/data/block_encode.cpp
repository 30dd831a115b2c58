#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/assert.hpp"
#include "trainer/data/block_encode.hpp"
#include "trainer/data/block_format.hpp"
#include "trainer/data/chars.hpp"
#include "trainer/data/pack.hpp"

namespace samovar::trainer {

namespace {

using namespace block_format;

unsigned width_of(std::uint64_t most) noexcept {
  if (most == 0) return 0;
  if (most <= 0xff) return 1;
  if (most <= 0xffff) return 2;
  return most <= 0xffff'ffff ? 4 : 8;
}

// One block while it is written. Everything is appended, each part padded with zeros to the next 8 bytes.
// There is room for all of it, and nothing is cleared that is written anyway.
class Encoder {
 public:
  void begin(std::uint32_t rows, std::size_t head) {
    rows_ = rows;
    size_ = head;
  }
  std::size_t size() const noexcept { return size_; }
  void write_to(std::uint8_t* out) noexcept { out_ = out; }

  void column(const BlockColumn& in, ColumnHead& head) {
    head.type = static_cast<std::uint8_t>(in.type);
    SAMOVAR_ASSERT(in.valid.empty() || in.valid.size() == rows_);
    valid_ = in.valid.empty() || loops_.all_present(in.valid.data(), rows_) ? nullptr : in.valid.data();
    if (valid_ != nullptr) head.flags |= kHasMissing;
    if (valid_ != nullptr && in.type != ColumnType::category)
      loops_.to_bits(valid_, rows_, part(bitmap_bytes(rows_)));
    switch (in.type) {
      case ColumnType::real:
        return reals(in, head);
      case ColumnType::integer:
      case ColumnType::time:
        return integers(in, head);
      case ColumnType::boolean:
        return booleans(in, head);
      case ColumnType::category:
        return category(in, head);
      case ColumnType::text:
        return text(in, head);
      case ColumnType::sparse:
        return sparse(in, head);
    }
    SAMOVAR_ASSERT(!"a type that is none");
  }

 private:
  std::uint8_t* part(std::size_t bytes) {
    std::uint8_t* const at = out_ + size_;
    std::memset(at + bytes, 0, padded(bytes) - bytes);
    size_ += padded(bytes);
    return at;
  }

  // The first present row, or none.
  std::optional<std::size_t> first_present() const {
    if (rows_ == 0) return std::nullopt;
    if (valid_ == nullptr) return 0;
    const void* found = std::memchr(valid_, 1, rows_);
    if (found == nullptr) return std::nullopt;
    return static_cast<std::size_t>(static_cast<const std::uint8_t*>(found) - valid_);
  }

  void integers(const BlockColumn& in, ColumnHead& head) {
    SAMOVAR_ASSERT(in.integers.size() == rows_);
    head.encoding = static_cast<std::uint8_t>(Encoding::packed);
    const auto present = first_present();
    if (!present) return;  // width 0: nothing but base
    const auto range = loops_.range64(in.integers.data(), valid_, in.integers[*present], rows_);
    head.base = range.min;
    const unsigned width =
        width_of(static_cast<std::uint64_t>(range.max) - static_cast<std::uint64_t>(range.min));
    head.width = static_cast<std::uint8_t>(width);
    if (width != 0)
      loops_.narrow64(in.integers.data(), valid_, range.min, rows_, width, part(rows_ * std::size_t{width}));
  }

  void booleans(const BlockColumn& in, ColumnHead& head) {
    SAMOVAR_ASSERT(in.integers.size() == rows_);
    head.encoding = static_cast<std::uint8_t>(Encoding::bits);
    loops_.booleans_to_bits(in.integers.data(), valid_, rows_, part(bitmap_bytes(rows_)));
  }

  // How many decimal places some present values need; none when they are not short decimals.
  std::optional<std::uint32_t> sampled_scale(const BlockColumn& in) const {
    constexpr std::size_t kSamples = 64;
    const std::size_t step = std::max<std::size_t>(1, rows_ / kSamples);
    std::uint32_t scale = 0;
    for (std::size_t first = 0; first < rows_; first += step) {
      std::size_t row = first;
      const std::size_t end = std::min<std::size_t>(rows_, first + step);
      while (valid_ != nullptr && row < end && valid_[row] == 0) ++row;
      if (row == end) continue;
      std::int32_t whole = 0;
      while (!loops_.decimals(&in.reals[row], nullptr, kPowersOfTen[scale], 0, 1, &whole)) {
        if (++scale > kScaleMax) return std::nullopt;
      }
    }
    return scale;
  }

  void reals(const BlockColumn& in, ColumnHead& head) {
    SAMOVAR_ASSERT(in.reals.size() == rows_);
    const double* values = in.reals.data();
    const auto scale = sampled_scale(in);
    const auto present = first_present();
    pack::Range range;
    std::optional<unsigned> decimal_width;
    if (scale && present) {
      std::int32_t fill = 0;
      whole_.resize(rows_);
      const double power = kPowersOfTen[*scale];
      // The samples do not cover every value, so this may still fail.
      if (loops_.decimals(values + *present, nullptr, power, 0, 1, &fill) &&
          loops_.decimals(values, valid_, power, fill, rows_, whole_.data())) {
        range = loops_.range32(whole_.data(), rows_);
        decimal_width = width_of(static_cast<std::uint64_t>(range.max - range.min));
      }
    }
    // At four bytes a float is the same size and quicker to read.
    const bool narrow = decimal_width && *decimal_width <= 2;
    if (!present || (!narrow && loops_.fits_f32(values, valid_, rows_))) {
      head.encoding = static_cast<std::uint8_t>(Encoding::f32);
      head.width = 4;
      loops_.to_f32(values, valid_, rows_, part(rows_ * sizeof(float)));
    } else if (decimal_width) {
      head.encoding = static_cast<std::uint8_t>(Encoding::decimal);
      head.width = static_cast<std::uint8_t>(*decimal_width);
      head.base = range.min;
      head.extra = *scale;
      if (head.width != 0)
        loops_.narrow32(whole_.data(), static_cast<std::int32_t>(range.min), rows_, head.width,
                        part(rows_ * std::size_t{head.width}));
    } else {
      head.encoding = static_cast<std::uint8_t>(Encoding::f64);
      head.width = 8;
      loops_.copy_f64(values, valid_, rows_, part(rows_ * sizeof(double)));
    }
  }

  // Ends as they are, as narrow as the last one allows; none when all are the same distance apart.
  void ends(const std::vector<std::uint32_t>& ends, std::size_t total, ColumnHead& head) {
    SAMOVAR_ASSERT((ends.empty() ? 0 : ends.back()) == total);
    const auto* raw = reinterpret_cast<const std::uint8_t*>(ends.data());
    SAMOVAR_ASSERT(loops_.never_falls(raw, 4, ends.size()));
    if (ends.empty()) return;
    const std::uint32_t stride = ends.front();
    if (total == std::uint64_t{stride} * ends.size() && even_steps(ends, stride)) {
      head.extra = stride;
      return;
    }
    const unsigned width = width_of(total);
    head.ends_width = static_cast<std::uint8_t>(width);
    loops_.narrow_codes(ends.data(), nullptr, 0, ends.size(), width, part(ends.size() * std::size_t{width}));
  }
  static bool even_steps(const std::vector<std::uint32_t>& ends, std::uint32_t stride) {
    std::uint32_t differs = 0;
    for (std::size_t i = 0; i < ends.size(); ++i)
      differs |= ends[i] ^ static_cast<std::uint32_t>(stride * (i + 1));
    return differs == 0;
  }

  void chars(const std::vector<char>& chars, ColumnHead& head) {
    head.chars = static_cast<std::uint32_t>(chars.size());
    const PackedChars packed = pack_chars(chars, out_ + size_);
    head.packing = static_cast<std::uint8_t>(packed.packing);
    head.stored = packed.stored;
    static_cast<void>(part(packed.stored));
  }

  void category(const BlockColumn& in, ColumnHead& head) {
    SAMOVAR_ASSERT(in.codes.size() == rows_);
    head.encoding = static_cast<std::uint8_t>(Encoding::codes);
    const auto levels = static_cast<std::uint32_t>(in.ends.size());
    SAMOVAR_ASSERT(in.ends.size() <= kBlockRowsMax);
    SAMOVAR_ASSERT(!first_present() || loops_.max_code(in.codes.data(), valid_, rows_) < levels);
    head.count = levels;
    // The code after the last level stands for a missing value.
    const std::uint32_t most = valid_ != nullptr ? levels : std::max(levels, 1u) - 1;
    const unsigned width = width_of(most);
    head.width = static_cast<std::uint8_t>(width);
    if (width != 0)
      loops_.narrow_codes(in.codes.data(), valid_, levels, rows_, width, part(rows_ * std::size_t{width}));
    ends(in.ends, in.chars.size(), head);
    chars(in.chars, head);
  }

  void text(const BlockColumn& in, ColumnHead& head) {
    SAMOVAR_ASSERT(in.ends.size() == rows_);
    head.encoding = static_cast<std::uint8_t>(Encoding::text);
    ends(in.ends, in.chars.size(), head);
    chars(in.chars, head);
  }

  void sparse(const BlockColumn& in, ColumnHead& head) {
    SAMOVAR_ASSERT(in.ends.size() == rows_ && in.values.size() == in.indices.size());
    head.encoding = static_cast<std::uint8_t>(Encoding::sparse);
    const std::size_t pairs = in.indices.size();
    head.count = static_cast<std::uint32_t>(pairs);
    ends(in.ends, pairs, head);
    if (pairs == 0) return;
    const unsigned width = std::max(1u, width_of(loops_.max_code(in.indices.data(), nullptr, pairs)));
    head.width = static_cast<std::uint8_t>(width);
    loops_.narrow_codes(in.indices.data(), nullptr, 0, pairs, width, part(pairs * std::size_t{width}));
    std::uint32_t first = 0;
    std::memcpy(&first, in.values.data(), sizeof first);
    if (std::memcmp(in.values.data(), in.values.data() + 1, (pairs - 1) * sizeof(float)) == 0) {
      head.packing = static_cast<std::uint8_t>(SparseValues::same);
      head.base = first;
      return;
    }
    std::memcpy(part(pairs * sizeof(float)), in.values.data(), pairs * sizeof(float));
  }

  const pack::Table& loops_ = pack::table();
  std::uint32_t rows_ = 0;
  std::uint8_t* out_ = nullptr;
  std::size_t size_ = 0;
  const std::uint8_t* valid_ = nullptr;  // of the column at hand; null: every value is present
  std::vector<std::int32_t> whole_;
};

std::size_t column_bytes_max(const BlockColumn& column, std::uint32_t rows) noexcept {
  constexpr std::size_t kParts = 5;
  std::size_t bytes = kParts * kAlign + bitmap_bytes(rows);
  switch (column.type) {
    case ColumnType::real:
      return bytes + column.reals.size() * sizeof(double);
    case ColumnType::integer:
    case ColumnType::time:
    case ColumnType::boolean:
      return bytes + column.integers.size() * sizeof(std::int64_t);
    case ColumnType::category:
      return bytes + (column.codes.size() + column.ends.size()) * 4 + column.chars.size();
    case ColumnType::text:
      return bytes + column.ends.size() * 4 + column.chars.size();
    case ColumnType::sparse:
      break;
  }
  return bytes + (column.ends.size() + column.indices.size() + column.values.size()) * 4;
}

}  // namespace

std::size_t block_bytes_max(const BlockColumns& block) noexcept {
  std::size_t bytes = sizeof(BlockHead) + block.columns.size() * sizeof(ColumnHead);
  for (const BlockColumn& column : block.columns) bytes += column_bytes_max(column, block.rows);
  return bytes;
}

struct BlockEncoder::State {
  Encoder encoder;
  Bytes* room = nullptr;
  std::uint32_t rows = 0;
  std::size_t columns = 0;
  std::size_t added = 0;
  std::size_t bound = 0;  // of block_bytes_max, so far
};

BlockEncoder::BlockEncoder() : state_(std::make_unique<State>()) {}
BlockEncoder::~BlockEncoder() = default;

void BlockEncoder::begin(std::uint32_t rows, std::size_t columns, Bytes& room) {
  SAMOVAR_ASSERT(rows <= kBlockRowsMax && columns <= kColumnsMax);
  State& state = *state_;
  state.room = &room;
  state.rows = rows;
  state.columns = columns;
  state.added = 0;
  state.bound = sizeof(BlockHead) + columns * sizeof(ColumnHead);
  if (room.size() < state.bound) room.resize(state.bound);
  state.encoder.begin(rows, state.bound);
}

void BlockEncoder::add(const BlockColumn& column) {
  State& state = *state_;
  SAMOVAR_ASSERT(state.added < state.columns);
  const std::size_t most = column_bytes_max(column, state.rows);
  state.bound += most;
  SAMOVAR_ASSERT(state.bound <= kBlockBytesMax);  // nobody could read it
  const std::size_t needed = state.encoder.size() + most;
  // With more than this one needs: the next ones are as large as a rule.
  if (state.room->size() < needed)
    state.room->resize(std::max(needed, needed + most * (state.columns - state.added - 1) / 2));
  state.encoder.write_to(state.room->data());
  ColumnHead head;
  state.encoder.column(column, head);
  SAMOVAR_ASSERT(state.encoder.size() <= needed);
  std::memcpy(state.room->data() + sizeof(BlockHead) + state.added * sizeof head, &head, sizeof head);
  ++state.added;
}

ByteView BlockEncoder::finish() {
  const State& state = *state_;
  SAMOVAR_ASSERT(state.added == state.columns);
  BlockHead head;
  head.columns = static_cast<std::uint16_t>(state.columns);
  head.rows = state.rows;
  head.bytes = static_cast<std::uint32_t>(state.encoder.size());
  std::memcpy(state.room->data(), &head, sizeof head);
  return ByteView(*state.room).first(state.encoder.size());
}

void encode_block(const BlockColumns& block, Bytes& out) {
  Bytes room(block_bytes_max(block));
  BlockEncoder encoder;
  encoder.begin(block.rows, block.columns.size(), room);
  for (const BlockColumn& column : block.columns) encoder.add(column);
  const ByteView encoded = encoder.finish();
  out.insert(out.end(), encoded.begin(), encoded.end());
}

}  // namespace samovar::trainer
