// Every packing and every encoding over whatever bytes: sentences or UTF-8, never more than the limits allow.
#include <algorithm>
#include <cstring>

#include "base/assert.hpp"
#include "daemon/ingest/source.hpp"
#include "daemon/ingest/utf8.hpp"

namespace {

using namespace samovar;
using namespace samovar::ingest;

class BytesSource final : public Source {
 public:
  BytesSource(ByteView bytes, std::size_t step) : bytes_(bytes), step_(step) {}
  Result<std::size_t> read(MutableBytes out) override {
    const std::size_t size = std::min({out.size(), step_, bytes_.size() - at_});
    if (size > 0) std::memcpy(out.data(), bytes_.data() + at_, size);
    at_ += size;
    return size;
  }
  std::uint64_t raw_bytes_read() const override { return at_; }

 private:
  const ByteView bytes_;
  const std::size_t step_;
  std::size_t at_ = 0;
};

}  // namespace

// The first byte chooses the encoding and how the bytes arrive; the file says itself how it is packed.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto encoding = (data[0] & 8) != 0 ? Encoding::idx : static_cast<Encoding>(data[0] & 3);
  const std::size_t step = (data[0] & 4) != 0 ? 3 : 1 << 16;
  const ByteView file(data + 1, size - 1);
  UnpackLimits limits;
  limits.ratio_free_bytes = 64 << 10;
  limits.bytes_max = 4 << 20;
  BytesSource raw(file, step);
  auto source = open_decoded(raw, detect_compression(file), encoding, limits);
  if (!source) return 0;
  Bytes piece(4096);
  std::uint64_t total = 0;
  for (;;) {
    const auto got = (*source)->read(piece);
    if (!got) {
      SAMOVAR_ASSERT(!got.error().message().empty());
      break;
    }
    if (*got == 0) break;
    SAMOVAR_ASSERT(*got <= piece.size());
    total += *got;
  }
  // A character of four bytes may come from two; nothing grows more.
  SAMOVAR_ASSERT(total <= 3 * limits.bytes_max);
  return 0;
}
