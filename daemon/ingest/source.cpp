#include "daemon/ingest/source.hpp"

#include <algorithm>

#include "daemon/ingest/decoders.hpp"

namespace samovar::ingest {
namespace {

class PlainSource final : public Source {
 public:
  explicit PlainSource(Source& raw) : raw_(raw) {}
  Result<std::size_t> read(MutableBytes out) override { return raw_.read(out); }
  std::uint64_t raw_bytes_read() const override { return raw_.raw_bytes_read(); }

 private:
  Source& raw_;
};

std::string gigabytes(std::uint64_t bytes) { return std::to_string(bytes >> 30) + " GB"; }

// Stands between unpacking and everything else: a file that grows out of all proportion is refused before
// anybody has to cope with what it holds.
class LimitedSource final : public Source {
 public:
  LimitedSource(std::unique_ptr<Source> inner, const UnpackLimits& limits)
      : inner_(std::move(inner)), limits_(limits) {}

  Result<std::size_t> read(MutableBytes out) override {
    SAMOVAR_TRY(const std::size_t size, inner_->read(out));
    unpacked_ += size;
    if (unpacked_ > limits_.bytes_max)
      return Error{Errc::invalid, "the file unpacks to more than " + gigabytes(limits_.bytes_max) +
                                      ": split it into smaller files"};
    const std::uint64_t raw = std::max<std::uint64_t>(inner_->raw_bytes_read(), 1);
    if (unpacked_ > limits_.ratio_free_bytes && unpacked_ / raw >= limits_.ratio_max)
      return Error{Errc::invalid, "the file unpacks to more than " + std::to_string(limits_.ratio_max) +
                                      " times its size, as a zip bomb does: if it is what it should be, "
                                      "unpack it first and upload the plain file"};
    return size;
  }
  std::uint64_t raw_bytes_read() const override { return inner_->raw_bytes_read(); }

 private:
  std::unique_ptr<Source> inner_;
  const UnpackLimits limits_;
  std::uint64_t unpacked_ = 0;
};

std::unique_ptr<Source> unpacker(Source& raw, Compression compression) {
  switch (compression) {
    case Compression::none:
      return std::make_unique<PlainSource>(raw);
    case Compression::gzip:
      return make_gzip_source(raw);
    case Compression::zstd:
      return make_zstd_source(raw);
    case Compression::xz:
      return make_xz_source(raw);
    case Compression::zip:
      return make_zip_source(raw);
  }
  return nullptr;
}

bool starts_with(ByteView head, std::initializer_list<std::uint8_t> magic) noexcept {
  return head.size() >= magic.size() && std::equal(magic.begin(), magic.end(), head.begin());
}

}  // namespace

Result<std::unique_ptr<Source>> open_decoded(Source& raw, Compression compression, Encoding encoding,
                                             const UnpackLimits& limits) {
  auto unpacked = std::make_unique<LimitedSource>(unpacker(raw, compression), limits);
  return make_transcoder(std::move(unpacked), encoding);
}

Result<std::unique_ptr<Source>> open_unpacked(Source& raw, Compression compression,
                                              const UnpackLimits& limits) {
  std::unique_ptr<Source> unpacked = std::make_unique<LimitedSource>(unpacker(raw, compression), limits);
  return unpacked;
}

Compression detect_compression(ByteView head) noexcept {
  if (starts_with(head, {0x1f, 0x8b, 0x08})) return Compression::gzip;
  if (starts_with(head, {0x28, 0xb5, 0x2f, 0xfd})) return Compression::zstd;
  // A skippable frame, as pzstd and seekable archives begin.
  if (head.size() >= 4 && (head[0] & 0xf0) == 0x50 && head[1] == 0x2a && head[2] == 0x4d && head[3] == 0x18)
    return Compression::zstd;
  if (starts_with(head, {0xfd, '7', 'z', 'X', 'Z', 0x00})) return Compression::xz;
  if (starts_with(head, {'P', 'K', 0x03, 0x04}) || starts_with(head, {'P', 'K', 0x05, 0x06}))
    return Compression::zip;
  return Compression::none;
}

}  // namespace samovar::ingest
