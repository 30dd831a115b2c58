// A window on the packed bytes: libraries eat from its front, and it fills itself behind.
//
// Threading: one thread at a time. Borrows the source.
#pragma once
#include <cstring>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "daemon/ingest/source.hpp"

namespace samovar::ingest {

class PackedInput {
 public:
  explicit PackedInput(Source& raw) : raw_(raw), buffer_(kBufferBytes) {}

  // At least `wanted` bytes unless the file ends before. wanted ≤ kBufferBytes.
  Result<ByteView> peek(std::size_t wanted = 1) {
    if (end_ - at_ >= wanted || over_) return left();
    std::memmove(buffer_.data(), buffer_.data() + at_, end_ - at_);
    end_ -= at_;
    at_ = 0;
    while (end_ < wanted) {
      SAMOVAR_TRY(const std::size_t size, raw_.read(MutableBytes(buffer_).subspan(end_)));
      if (size == 0) {
        over_ = true;
        break;
      }
      end_ += size;
    }
    return left();
  }
  void eat(std::size_t size) { at_ += size; }
  std::uint64_t raw_bytes_read() const { return raw_.raw_bytes_read(); }

  static constexpr std::size_t kBufferBytes = 256 << 10;

 private:
  ByteView left() const { return ByteView(buffer_).subspan(at_, end_ - at_); }

  Source& raw_;
  Bytes buffer_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  bool over_ = false;
};

}  // namespace samovar::ingest
