#include "daemon/cluster/name_key.hpp"

#include <cstdint>

#include <fmt/format.h>

#include "daemon/cluster/dataset_types.hpp"
#include "daemon/cluster/fields.hpp"

namespace samovar::cluster {
namespace {

// Only letters of two bytes: what is longer stands for itself.
std::uint32_t lower(std::uint32_t c) {
  if (c >= 0xc0 && c <= 0xde && c != 0xd7) return c + 0x20;
  // Capital and small letter side by side; in two stretches the capital is the odd one.
  if (c >= 0x100 && c <= 0x17e) {
    if (c == 0x130 || c == 0x131 || c == 0x138 || c == 0x149) return c;
    if (c == 0x178) return 0xff;
    const bool odd_capitals = (c >= 0x139 && c <= 0x148) || c >= 0x179;
    return (c % 2 == 1) == odd_capitals ? c + 1 : c;
  }
  if (c >= 0x391 && c <= 0x3a9 && c != 0x3a2) return c + 0x20;
  if (c >= 0x410 && c <= 0x42f) return c + 0x20;
  if (c >= 0x400 && c <= 0x40f) return c + 0x50;
  return c;
}

}  // namespace

std::string name_key(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte >= 'A' && byte <= 'Z') {
      out += static_cast<char>(byte - 'A' + 'a');
    } else if (byte >= 0xc2 && byte <= 0xdf && at + 1 < text.size()) {
      const auto next = static_cast<unsigned char>(text[++at]);
      const std::uint32_t c = lower(((byte & 0x1fu) << 6) | (next & 0x3fu));
      out += static_cast<char>(0xc0 | (c >> 6));
      out += static_cast<char>(0x80 | (c & 0x3f));
    } else {
      out += static_cast<char>(byte);
    }
  }
  return out;
}

Result<void> check_dataset_name(std::string_view name) {
  if (name.empty()) return Error{Errc::invalid, "name: must not be empty"};
  if (name.size() > kDatasetNameBytesMax)
    return Error{Errc::invalid, fmt::format("name: must have at most {} bytes", kDatasetNameBytesMax)};
  if (name.front() == ' ' || name.back() == ' ')
    return Error{Errc::invalid, "name: must not begin or end with a space"};
  if (!is_utf8_text(name)) return Error{Errc::invalid, "name: must be plain text without control characters"};
  return {};
}

}  // namespace samovar::cluster
