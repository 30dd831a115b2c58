// idx, the format of MNIST: a head of dimensions, then plain numbers in big-endian order. Written out as CSV
// with a header, so that the rest of the way knows nothing of it: one row for each entry of the first
// dimension.
//
//   0 0 type dimensions | size of each dimension, u32 | numbers …
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <iterator>
#include <string>

#include "daemon/ingest/decoders.hpp"
#include "daemon/ingest/infer.hpp"
#include "daemon/ingest/packed_input.hpp"

namespace samovar::ingest {
namespace {

std::size_t size_of(std::uint8_t type) {
  switch (type) {
    case 0x08:
    case 0x09:
      return 1;
    case 0x0b:
      return 2;
    case 0x0c:
    case 0x0d:
      return 4;
    case 0x0e:
      return 8;
    default:
      return 0;
  }
}

std::uint64_t big_endian(const std::uint8_t* at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value = value << 8 | at[i];
  return value;
}

class IdxSource final : public Source {
 public:
  explicit IdxSource(std::unique_ptr<Source> inner) : inner_(std::move(inner)), input_(*inner_) {}

  Result<std::size_t> read(MutableBytes out) override {
    if (at_ == text_.size()) {
      text_.clear();
      at_ = 0;
      if (!begun_) {
        SAMOVAR_CHECK(read_head());
      } else {
        SAMOVAR_CHECK(add_rows());
      }
    }
    const std::size_t size = std::min(out.size(), text_.size() - at_);
    std::memcpy(out.data(), text_.data() + at_, size);
    at_ += size;
    return size;
  }
  std::uint64_t raw_bytes_read() const override { return inner_->raw_bytes_read(); }

 private:
  static constexpr std::size_t kTextBytes = 64 << 10;

  Result<ByteView> need(std::size_t size) {
    SAMOVAR_TRY(const ByteView bytes, input_.peek(size));
    if (bytes.size() < size) return Error{Errc::invalid, "the idx file ends in the middle: upload it again"};
    return bytes;
  }

  Result<void> read_head() {
    begun_ = true;
    SAMOVAR_TRY(ByteView head, need(4));
    type_ = head[2];
    const std::size_t dimensions = head[3];
    if (size_of(type_) == 0 || dimensions == 0)
      return Error{Errc::invalid, "the head of the idx file is damaged: copy it again"};
    SAMOVAR_TRY(head, need(4 + 4 * dimensions));
    rows_ = big_endian(head.data() + 4, 4);
    for (std::size_t i = 1; i < dimensions; ++i) {
      columns_ *= big_endian(head.data() + 4 + 4 * i, 4);
      if (columns_ == 0 || columns_ > trainer::kColumnsMax)
        return Error{Errc::invalid,
                     "each entry of the idx file has " + std::string(columns_ == 0 ? "no" : "too many") +
                         " numbers: " + grouped(trainer::kColumnsMax) + " columns are the limit"};
    }
    input_.eat(4 + 4 * dimensions);
    if (dimensions == 1)
      text_ = "value\n";
    else
      for (std::uint64_t i = 1; i <= columns_; ++i)
        text_ += fmt::format("p{}{}", i, i == columns_ ? '\n' : ',');
    return {};
  }

  Result<void> add_rows() {
    const std::size_t size = size_of(type_);
    for (; row_ < rows_ && text_.size() < kTextBytes; ++row_) {
      SAMOVAR_TRY(const ByteView bytes, need(columns_ * size));
      for (std::size_t i = 0; i < columns_; ++i) {
        add_number(bytes.data() + i * size, size);
        text_ += i + 1 == columns_ ? '\n' : ',';
      }
      input_.eat(columns_ * size);
    }
    if (row_ < rows_) return {};
    SAMOVAR_TRY(const ByteView rest, input_.peek(1));
    if (!rest.empty())
      return Error{Errc::invalid, "the idx file is longer than its head says: copy it again"};
    return {};
  }

  // Pixels: nearly all there is.
  void add_byte(unsigned value) {
    if (value >= 100) text_ += static_cast<char>('0' + value / 100);
    if (value >= 10) text_ += static_cast<char>('0' + value / 10 % 10);
    text_ += static_cast<char>('0' + value % 10);
  }

  void add_number(const std::uint8_t* at, std::size_t size) {
    if (type_ == 0x08) return add_byte(*at);
    const std::uint64_t bits = big_endian(at, size);
    const auto to = std::back_inserter(text_);
    switch (type_) {
      case 0x09:
        fmt::format_to(to, "{}", static_cast<int>(static_cast<std::int8_t>(bits)));
        break;
      case 0x0b:
        fmt::format_to(to, "{}", static_cast<std::int16_t>(bits));
        break;
      case 0x0c:
        fmt::format_to(to, "{}", static_cast<std::int32_t>(bits));
        break;
      case 0x0d:
        fmt::format_to(to, "{}", std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
        break;
      default:
        fmt::format_to(to, "{}", std::bit_cast<double>(bits));
        break;
    }
  }

  std::unique_ptr<Source> inner_;
  PackedInput input_;
  std::string text_;
  std::size_t at_ = 0;
  bool begun_ = false;
  std::uint8_t type_ = 0;
  std::uint64_t rows_ = 0;
  std::uint64_t row_ = 0;
  std::uint64_t columns_ = 1;
};

}  // namespace

bool is_idx(ByteView head) noexcept {
  if (head.size() < 8 || head[0] != 0 || head[1] != 0 || size_of(head[2]) == 0) return false;
  return head[3] >= 1 && head[3] <= 8;
}

std::unique_ptr<Source> make_idx_source(std::unique_ptr<Source> inner) {
  return std::make_unique<IdxSource>(std::move(inner));
}

}  // namespace samovar::ingest
