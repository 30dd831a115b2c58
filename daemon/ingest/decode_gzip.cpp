// gzip, RFC 1952: members one after the other are one file, as `cat a.gz b.gz` and bgzip make them.
#include <algorithm>

#include "daemon/ingest/decoders.hpp"
#include "daemon/ingest/inflater.hpp"

namespace samovar::ingest {
namespace {

class GzipSource final : public Source {
 public:
  explicit GzipSource(Source& raw) : input_(raw), inflater_(Inflater::Wrap::gzip) {}

  Result<std::size_t> read(MutableBytes out) override {
    if (out.empty()) return std::size_t{0};
    for (;;) {
      auto size = inflater_.read(input_, out);
      if (!size) return failure(std::move(size).error());
      if (*size > 0) return *size;
      SAMOVAR_TRY(const bool more, next_member());
      if (!more) return std::size_t{0};
    }
  }
  std::uint64_t raw_bytes_read() const override { return input_.raw_bytes_read(); }

 private:
  static Error failure(Error error) {
    if (error.code() == Errc::invalid)
      return Error{Errc::invalid, "the gzip file ends in the middle: upload it again"};
    if (error.code() == Errc::corrupt)
      return Error{Errc::invalid,
                   "the gzip file is damaged: check it with `gzip -t`, and pack or copy it again"};
    return error;
  }

  Result<bool> next_member() {
    for (;;) {
      SAMOVAR_TRY(const ByteView rest, input_.peek(2));
      if (rest.empty()) return false;
      if (rest.size() >= 2 && rest[0] == 0x1f && rest[1] == 0x8b) break;
      // Tapes and some tools fill up with zeros.
      if (rest[0] != 0)
        return Error{Errc::invalid,
                     "there are bytes behind the gzip data that are none: pack the file again"};
      const auto zeros = std::find_if(rest.begin(), rest.end(), [](std::uint8_t b) { return b != 0; });
      input_.eat(static_cast<std::size_t>(zeros - rest.begin()));
    }
    inflater_.restart();
    return true;
  }

  PackedInput input_;
  Inflater inflater_;
};

}  // namespace

std::unique_ptr<Source> make_gzip_source(Source& raw) { return std::make_unique<GzipSource>(raw); }

}  // namespace samovar::ingest
