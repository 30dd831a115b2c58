// Latin-1 (read as Windows-1252, as browsers do) and UTF-16 into UTF-8; a byte order mark goes away.
#include <algorithm>
#include <array>
#include <cstring>

#include "daemon/ingest/decoders.hpp"

namespace samovar::ingest {
namespace {

// Bytes 0x80 to 0x9f of Windows-1252; the five it leaves open stay what Latin-1 says.
constexpr std::array<std::uint16_t, 32> kWindows1252{
    0x20ac, 0x0081, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x008d, 0x017d, 0x008f, 0x0090, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x009d, 0x017e, 0x0178};

std::size_t put_utf8(std::uint32_t code, std::uint8_t* out) {
  if (code < 0x80) {
    out[0] = static_cast<std::uint8_t>(code);
    return 1;
  }
  if (code < 0x800) {
    out[0] = static_cast<std::uint8_t>(0xc0 | (code >> 6));
    out[1] = static_cast<std::uint8_t>(0x80 | (code & 0x3f));
    return 2;
  }
  if (code < 0x10000) {
    out[0] = static_cast<std::uint8_t>(0xe0 | (code >> 12));
    out[1] = static_cast<std::uint8_t>(0x80 | ((code >> 6) & 0x3f));
    out[2] = static_cast<std::uint8_t>(0x80 | (code & 0x3f));
    return 3;
  }
  out[0] = static_cast<std::uint8_t>(0xf0 | (code >> 18));
  out[1] = static_cast<std::uint8_t>(0x80 | ((code >> 12) & 0x3f));
  out[2] = static_cast<std::uint8_t>(0x80 | ((code >> 6) & 0x3f));
  out[3] = static_cast<std::uint8_t>(0x80 | (code & 0x3f));
  return 4;
}

constexpr std::size_t kBytesPerCharacterMax = 4;
constexpr std::uint32_t kReplacement = 0xfffd;

// UTF-8: straight into the caller's buffer; only the first three bytes may be a mark.
class Utf8Source final : public Source {
 public:
  explicit Utf8Source(std::unique_ptr<Source> inner) : inner_(std::move(inner)) {}

  Result<std::size_t> read(MutableBytes out) override {
    if (!looked_) SAMOVAR_CHECK(look());
    if (at_ < head_size_ && !out.empty()) {
      const std::size_t size = std::min(head_size_ - at_, out.size());
      std::memcpy(out.data(), head_.data() + at_, size);
      at_ += size;
      return size;
    }
    return inner_->read(out);
  }
  std::uint64_t raw_bytes_read() const override { return inner_->raw_bytes_read(); }

 private:
  Result<void> look() {
    looked_ = true;
    while (head_size_ < head_.size()) {
      SAMOVAR_TRY(const std::size_t size, inner_->read(MutableBytes(head_).subspan(head_size_)));
      if (size == 0) break;
      head_size_ += size;
    }
    if (head_size_ == 3 && head_[0] == 0xef && head_[1] == 0xbb && head_[2] == 0xbf) at_ = 3;
    return {};
  }

  std::unique_ptr<Source> inner_;
  std::array<std::uint8_t, 3> head_{};
  std::size_t head_size_ = 0;
  std::size_t at_ = 0;
  bool looked_ = false;
};

class Transcoder : public Source {
 public:
  explicit Transcoder(std::unique_ptr<Source> inner) : inner_(std::move(inner)), in_(kInBytes) {}

  Result<std::size_t> read(MutableBytes out) final {
    if (out.empty()) return std::size_t{0};
    while (out_at_ == out_.size()) {
      if (over_) return std::size_t{0};
      SAMOVAR_CHECK(fill());
    }
    const std::size_t size = std::min(out.size(), out_.size() - out_at_);
    std::memcpy(out.data(), out_.data() + out_at_, size);
    out_at_ += size;
    return size;
  }
  std::uint64_t raw_bytes_read() const final { return inner_->raw_bytes_read(); }

 protected:
  // Reads whole characters off the front of `in`, returns how many bytes that were. `last`: nothing follows.
  virtual std::size_t convert(ByteView in, bool last, Bytes& out) = 0;

 private:
  static constexpr std::size_t kInBytes = 64 << 10;

  Result<void> fill() {
    SAMOVAR_TRY(const std::size_t size, inner_->read(MutableBytes(in_).subspan(kept_)));
    over_ = size == 0;
    const std::size_t have = kept_ + size;
    out_.clear();
    out_at_ = 0;
    const std::size_t used = convert(ByteView(in_).first(have), over_, out_);
    kept_ = have - used;
    std::memmove(in_.data(), in_.data() + used, kept_);
    return {};
  }

  std::unique_ptr<Source> inner_;
  Bytes in_;
  std::size_t kept_ = 0;
  Bytes out_;
  std::size_t out_at_ = 0;
  bool over_ = false;
};

class Windows1252Source final : public Transcoder {
 public:
  using Transcoder::Transcoder;

 private:
  std::size_t convert(ByteView in, bool, Bytes& out) override {
    out.resize(in.size() * 3);
    std::uint8_t* to = out.data();
    for (const std::uint8_t byte : in) {
      const bool special = byte >= 0x80 && byte < 0xa0;
      to += put_utf8(special ? kWindows1252[byte - 0x80] : byte, to);
    }
    out.resize(static_cast<std::size_t>(to - out.data()));
    return in.size();
  }
};

class Utf16Source final : public Transcoder {
 public:
  Utf16Source(std::unique_ptr<Source> inner, bool big_endian)
      : Transcoder(std::move(inner)), big_endian_(big_endian) {}

 private:
  std::uint32_t unit(ByteView in, std::size_t at) const {
    const auto first = static_cast<std::uint32_t>(in[at]);
    const auto second = static_cast<std::uint32_t>(in[at + 1]);
    return big_endian_ ? first << 8 | second : second << 8 | first;
  }

  std::size_t convert(ByteView in, bool last, Bytes& out) override {
    out.resize((in.size() / 2 + 1) * kBytesPerCharacterMax);
    std::uint8_t* to = out.data();
    std::size_t at = 0;
    while (at + 2 <= in.size()) {
      std::uint32_t code = unit(in, at);
      const bool high = code >= 0xd800 && code < 0xdc00;
      if (high && at + 4 > in.size() && !last) break;
      std::size_t size = 2;
      if (high && at + 4 <= in.size() && (unit(in, at + 2) & 0xfc00) == 0xdc00) {
        code = 0x10000 + ((code - 0xd800) << 10) + (unit(in, at + 2) - 0xdc00);
        size = 4;
      } else if (code >= 0xd800 && code < 0xe000) {
        code = kReplacement;  // half a pair
      }
      const bool mark = !begun_ && code == 0xfeff;
      if (!mark) to += put_utf8(code, to);
      begun_ = true;
      at += size;
    }
    if (last && at + 1 == in.size()) {
      to += put_utf8(kReplacement, to);
      at += 1;
    }
    out.resize(static_cast<std::size_t>(to - out.data()));
    return at;
  }

  const bool big_endian_;
  bool begun_ = false;
};

}  // namespace

std::unique_ptr<Source> make_transcoder(std::unique_ptr<Source> inner, Encoding encoding) {
  switch (encoding) {
    case Encoding::utf8:
      return std::make_unique<Utf8Source>(std::move(inner));
    case Encoding::latin1:
      return std::make_unique<Windows1252Source>(std::move(inner));
    case Encoding::utf16le:
      return std::make_unique<Utf16Source>(std::move(inner), false);
    case Encoding::utf16be:
      return std::make_unique<Utf16Source>(std::move(inner), true);
    case Encoding::idx:
      return make_idx_source(std::move(inner));
  }
  return nullptr;
}

}  // namespace samovar::ingest
