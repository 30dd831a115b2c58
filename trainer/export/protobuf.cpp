#include "trainer/export/protobuf.hpp"

namespace samovar::trainer {

namespace {
constexpr std::uint64_t kVarint = 0;
constexpr std::uint64_t kLength = 2;
}  // namespace

void ProtoWriter::varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out_ += static_cast<char>(0x80 | (value & 0x7f));
  out_ += static_cast<char>(value);
}

void ProtoWriter::number(std::uint32_t field, std::uint64_t value) {
  varint(std::uint64_t{field} << 3 | kVarint);
  varint(value);
}

void ProtoWriter::bytes(std::uint32_t field, std::string_view value) {
  varint(std::uint64_t{field} << 3 | kLength);
  varint(value.size());
  out_ += value;
}

bool ProtoReader::varint(std::uint64_t& out) {
  out = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (left_.empty()) return false;
    const auto byte = static_cast<unsigned char>(left_.front());
    left_.remove_prefix(1);
    out |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

std::optional<ProtoReader::Field> ProtoReader::next() {
  if (!ok_ || left_.empty()) return std::nullopt;
  std::uint64_t tag = 0, value = 0;
  ok_ = varint(tag) && ((tag & 7) == kVarint || (tag & 7) == kLength) && varint(value);
  if (!ok_) return std::nullopt;
  Field field{static_cast<std::uint32_t>(tag >> 3), value, {}};
  if ((tag & 7) == kVarint) return field;
  ok_ = value <= left_.size();
  if (!ok_) return std::nullopt;
  field.bytes = left_.substr(0, value);
  left_.remove_prefix(value);
  return field;
}

}  // namespace samovar::trainer
