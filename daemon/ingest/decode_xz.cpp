// xz: streams one after the other, with padding between them.
#include <lzma.h>

#include "daemon/ingest/decoders.hpp"
#include "daemon/ingest/packed_input.hpp"

namespace samovar::ingest {
namespace {

class XzSource final : public Source {
 public:
  explicit XzSource(Source& raw) : input_(raw) {
    // `xz -9` needs 65 MiB to unpack.
    constexpr std::uint64_t kMemoryBytesMax = 160u << 20;
    SAMOVAR_ASSERT(lzma_stream_decoder(&stream_, kMemoryBytesMax, LZMA_CONCATENATED) == LZMA_OK);
  }
  ~XzSource() override { lzma_end(&stream_); }
  XzSource(const XzSource&) = delete;
  XzSource& operator=(const XzSource&) = delete;

  Result<std::size_t> read(MutableBytes out) override {
    if (out.empty()) return std::size_t{0};
    stream_.next_out = out.data();
    stream_.avail_out = out.size();
    while (stream_.avail_out == out.size() && !ended_) {
      SAMOVAR_TRY(const ByteView packed, input_.peek());
      stream_.next_in = packed.data();
      stream_.avail_in = packed.size();
      const lzma_ret status = lzma_code(&stream_, packed.empty() ? LZMA_FINISH : LZMA_RUN);
      input_.eat(packed.size() - stream_.avail_in);
      if (status == LZMA_STREAM_END)
        ended_ = true;
      else if (status != LZMA_OK)
        return failure(status, packed.empty());
    }
    return out.size() - stream_.avail_out;
  }
  std::uint64_t raw_bytes_read() const override { return input_.raw_bytes_read(); }

 private:
  static Error failure(lzma_ret status, bool at_end) {
    if (status == LZMA_MEMLIMIT_ERROR)
      return Error{Errc::invalid,
                   "the xz file needs more than 160 MB to unpack: pack it again with `xz -9` or less"};
    if (status == LZMA_BUF_ERROR && at_end)
      return Error{Errc::invalid, "the xz file ends in the middle: upload it again"};
    return Error{Errc::invalid, "the xz file is damaged: check it with `xz -t`, and pack or copy it again"};
  }

  PackedInput input_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<Source> make_xz_source(Source& raw) { return std::make_unique<XzSource>(raw); }

}  // namespace samovar::ingest
