// Bytes in, one after the other: a sealed upload, a decompressor over it, a transcoder over that.
//
// Threading: one thread at a time.
#pragma once
#include <cstdint>
#include <memory>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "daemon/ingest/options.hpp"

namespace samovar::ingest {

class Source {
 public:
  virtual ~Source() = default;
  // 0 only at the end.
  virtual Result<std::size_t> read(MutableBytes out) = 0;
  // Of the file as it was uploaded: for progress and for the ratio of a bomb.
  virtual std::uint64_t raw_bytes_read() const = 0;
};

struct UnpackLimits {
  std::uint64_t ratio_max = 100;  // unpacked : packed, once past ratio_free_bytes
  std::uint64_t ratio_free_bytes = 64 << 20;
  std::uint64_t bytes_max = std::uint64_t{1} << 40;
};

// Unpacks and transcodes to UTF-8 without BOM. Borrows `raw`. Errors are sentences for the user:
// "the gzip file ends in the middle: upload it again".
Result<std::unique_ptr<Source>> open_decoded(Source& raw, Compression compression, Encoding encoding,
                                             const UnpackLimits& limits = {});
// The first bytes of the file as uploaded say how it is packed; the name only breaks ties.
Compression detect_compression(ByteView head) noexcept;

}  // namespace samovar::ingest
