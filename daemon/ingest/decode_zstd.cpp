// Zstandard, RFC 8878: frames one after the other, skippable ones skipped.
#include <zstd.h>
#include <zstd_errors.h>

#include "daemon/ingest/decoders.hpp"
#include "daemon/ingest/packed_input.hpp"

namespace samovar::ingest {
namespace {

struct FreeStream {
  void operator()(ZSTD_DStream* stream) const noexcept { ZSTD_freeDStream(stream); }
};

class ZstdSource final : public Source {
 public:
  explicit ZstdSource(Source& raw) : input_(raw), stream_(ZSTD_createDStream()) {
    SAMOVAR_ASSERT(stream_ != nullptr);
    // `zstd --long=27` needs 128 MiB; what asks for more would not fit beside the parsers.
    constexpr int kWindowLogMax = 27;
    SAMOVAR_ASSERT(ZSTD_isError(ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, kWindowLogMax)) ==
                   0);
  }

  Result<std::size_t> read(MutableBytes out) override {
    if (out.empty()) return std::size_t{0};
    ZSTD_outBuffer unpacked{out.data(), out.size(), 0};
    while (unpacked.pos == 0) {
      SAMOVAR_TRY(const ByteView packed, input_.peek());
      if (packed.empty() && (at_frame_end_ || !flushing_)) {
        if (at_frame_end_) return std::size_t{0};
        return Error{Errc::invalid, "the zstd file ends in the middle: upload it again"};
      }
      ZSTD_inBuffer in{packed.data(), packed.size(), 0};
      const std::size_t status = ZSTD_decompressStream(stream_.get(), &unpacked, &in);
      if (ZSTD_isError(status) != 0) return failure(status);
      input_.eat(in.pos);
      at_frame_end_ = status == 0;
      // A full output may hide more that needs no further input.
      flushing_ = unpacked.pos == unpacked.size;
    }
    return unpacked.pos;
  }
  std::uint64_t raw_bytes_read() const override { return input_.raw_bytes_read(); }

 private:
  static Error failure(std::size_t status) {
    if (ZSTD_getErrorCode(status) == ZSTD_error_frameParameter_windowTooLarge)
      return Error{Errc::invalid,
                   "the zstd file was packed with a window above 128 MB: pack it again without --ultra and "
                   "with --long=27 at most"};
    return Error{Errc::invalid,
                 "the zstd file is damaged: check it with `zstd -t`, and pack or copy it again"};
  }

  PackedInput input_;
  std::unique_ptr<ZSTD_DStream, FreeStream> stream_;
  bool at_frame_end_ = false;
  bool flushing_ = false;
};

}  // namespace

std::unique_ptr<Source> make_zstd_source(Source& raw) { return std::make_unique<ZstdSource>(raw); }

}  // namespace samovar::ingest
