// Sources over bytes in memory, and packers for them: what the tests of the input side need.
#pragma once
#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "daemon/ingest/detect.hpp"
#include "daemon/ingest/source.hpp"

namespace samovar::ingest {

// Gives at most `step` bytes a call: every boundary is met by some test.
class TextSource final : public Source {
 public:
  explicit TextSource(std::string_view text, std::size_t step = 1 << 20) : text_(text), step_(step) {}
  Result<std::size_t> read(MutableBytes out) override {
    const std::size_t size = std::min({out.size(), step_, text_.size() - at_});
    std::memcpy(out.data(), text_.data() + at_, size);
    at_ += size;
    return size;
  }
  std::uint64_t raw_bytes_read() const override { return at_; }

 private:
  const std::string_view text_;
  const std::size_t step_;
  std::size_t at_ = 0;
};

std::string gzip(std::string_view text);
std::string zstd(std::string_view text);
std::string xz(std::string_view text);

struct ZipMember {
  std::string name;
  std::string content;
  bool deflated = true;
  bool sizes_follow = false;  // bit 3: crc and sizes stand behind the data
  bool zip64 = false;
  std::uint16_t flags = 0;
  std::uint16_t method_override = 0;
  std::uint32_t mode = 0100644;
};
std::string zip(const std::vector<ZipMember>& members);

// Everything the source gives, or the error's sentence behind "error: ".
std::string read_all(Source& source, std::size_t piece = 4096);
// Unpacked and transcoded.
std::string decode(std::string_view file, Compression compression, Encoding encoding = Encoding::utf8,
                   const UnpackLimits& limits = {}, std::size_t step = 1 << 20);

Result<Detection> detect_text(std::string_view file, const ParseHints& hints = {},
                              std::string_view name = "file");

}  // namespace samovar::ingest
