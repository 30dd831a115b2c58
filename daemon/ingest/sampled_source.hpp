// A source whose beginning was read ahead, to guess from it how large the whole is.
//
// Threading: one thread. Borrows the inner source.
#pragma once
#include <algorithm>
#include <cstring>
#include <memory>

#include "daemon/ingest/source.hpp"

namespace samovar::ingest {

// Room behind the first `have` bytes, more and more of it until there is `bytes_max` in all: most files are
// small.
inline MutableBytes more_room(Bytes& bytes, std::size_t have, std::size_t bytes_max) {
  constexpr std::size_t kFirst = 16u << 10;
  if (have == bytes.size()) bytes.resize(std::min(bytes_max, std::max(kFirst, 4 * have)));
  return MutableBytes(bytes).subspan(have);
}

class SampledSource final : public Source {
 public:
  static Result<std::unique_ptr<SampledSource>> open(Source& inner) {
    std::unique_ptr<SampledSource> source(new SampledSource(inner));
    std::size_t size = 0;
    while (size < kSampleBytes) {
      SAMOVAR_TRY(const std::size_t got, inner.read(more_room(source->sample_, size, kSampleBytes)));
      if (got == 0) {
        source->whole_ = true;
        break;
      }
      size += got;
    }
    source->sample_.resize(size);
    source->packed_ = inner.raw_bytes_read();
    return source;
  }

  // Unpacked bytes of a file of so many packed ones; 0: not known.
  std::uint64_t estimate(std::uint64_t raw_bytes) const noexcept {
    if (whole_) return sample_.size();
    if (raw_bytes == 0 || packed_ == 0) return kUnknownBytes;
    const double ratio = static_cast<double>(sample_.size()) / static_cast<double>(packed_);
    return std::max<std::uint64_t>(sample_.size(),
                                   static_cast<std::uint64_t>(ratio * static_cast<double>(raw_bytes)));
  }

  Result<std::size_t> read(MutableBytes out) override {
    if (at_ == sample_.size()) {
      if (!sample_.empty()) sample_ = Bytes(), at_ = 0;
      return whole_ ? Result<std::size_t>(std::size_t{0}) : inner_.read(out);
    }
    const std::size_t bytes = std::min(out.size(), sample_.size() - at_);
    std::memcpy(out.data(), sample_.data() + at_, bytes);
    at_ += bytes;
    return bytes;
  }
  std::uint64_t raw_bytes_read() const override { return inner_.raw_bytes_read(); }

 private:
  static constexpr std::size_t kSampleBytes = 4u << 20;
  static constexpr std::uint64_t kUnknownBytes = std::uint64_t{1} << 30;
  explicit SampledSource(Source& inner) : inner_(inner) {}

  Source& inner_;
  Bytes sample_;
  std::size_t at_ = 0;
  std::uint64_t packed_ = 0;
  bool whole_ = false;
};

}  // namespace samovar::ingest
