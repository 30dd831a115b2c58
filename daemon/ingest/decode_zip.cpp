// zip with exactly one file in it, read from front to back: local header, data, next local header … until the
// central directory, which is then checked against what came.
//
//   local header ─▶ data (stored | deflated) ─▶ [descriptor] ─▶ local header | central directory ─▶ end
//
// Reading forwards needs no seeking in a sealed upload. The price: that there is a second file in the archive
// shows only behind the first.
#include <zlib.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "daemon/ingest/decoders.hpp"
#include "daemon/ingest/inflater.hpp"
#include "daemon/ingest/packed_input.hpp"
#include "daemon/ingest/utf8.hpp"

namespace samovar::ingest {
namespace {

constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kCentralHeader = 0x02014b50;
constexpr std::uint32_t kDescriptor = 0x08074b50;
constexpr std::uint32_t kEnd = 0x06054b50;
constexpr std::uint32_t kEnd64 = 0x06064b50;
constexpr std::uint32_t kEncryptedDirectory = 0x08064b50;
constexpr std::size_t kLocalHeaderBytes = 30;
constexpr std::size_t kCentralHeaderBytes = 46;
constexpr std::uint32_t kInExtra = 0xffffffff;

std::uint16_t u16(ByteView bytes, std::size_t at) {
  return static_cast<std::uint16_t>(bytes[at] | bytes[at + 1] << 8);
}
std::uint32_t u32(ByteView bytes, std::size_t at) {
  return u16(bytes, at) | static_cast<std::uint32_t>(u16(bytes, at + 2)) << 16;
}
std::uint64_t u64(ByteView bytes, std::size_t at) {
  return u32(bytes, at) | static_cast<std::uint64_t>(u32(bytes, at + 4)) << 32;
}

Error cut() { return Error{Errc::invalid, "the zip file ends in the middle: upload it again"}; }
Error damaged() {
  return Error{Errc::invalid, "the zip file is damaged: check it with `unzip -t`, and pack or copy it again"};
}
Error several() {
  return Error{Errc::invalid,
               "the zip file holds more than one file: pack the one you want alone, or upload it unpacked"};
}

struct Member {
  std::string name;
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint32_t crc = 0;
  std::uint64_t packed_bytes = 0;
  std::uint64_t bytes = 0;
  bool zip64 = false;

  bool sizes_follow() const { return (flags & 0x08) != 0; }
  bool folder() const { return !name.empty() && name.back() == '/'; }
  // What macOS puts beside every file.
  bool clutter() const {
    return name.rfind("__MACOSX/", 0) == 0 || name == ".DS_Store" ||
           (name.size() > 10 && name.compare(name.size() - 10, 10, "/.DS_Store") == 0);
  }
};

Result<void> check_name(std::string_view name) {
  if (name == "[Content_Types].xml" || name.rfind("xl/", 0) == 0 || name.rfind("_rels/", 0) == 0 ||
      name.rfind("word/", 0) == 0 || name.rfind("docProps/", 0) == 0)
    return Error{
        Errc::invalid,
        "this is an Excel or Office document, not a table of text: save the sheet as CSV (UTF-8) and "
        "upload that"};
  if (name == "mimetype")
    return Error{Errc::invalid,
                 "this is an OpenDocument file, not a table of text: save the sheet as CSV and upload that"};
  if (name.rfind("META-INF/", 0) == 0)
    return Error{Errc::invalid, "this is a Java archive, not a table of text"};
  bool bad = name.empty() || name[0] == '/' || name.find('\\') != name.npos || name.find('\0') != name.npos ||
             (name.size() > 1 && name[1] == ':');
  for (std::size_t at = 0; at <= name.size() && !bad;) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    bad = name.substr(at, end - at) == "..";
    at = end + 1;
  }
  if (bad)
    return Error{Errc::invalid, "the zip file names its content \"" + printable(name, 100) +
                                    "\", which is no plain file name: pack it again"};
  return {};
}

std::string method_name(std::uint16_t method) {
  switch (method) {
    case 9:
      return "deflate64";
    case 12:
      return "bzip2";
    case 14:
      return "LZMA";
    case 93:
      return "zstd";
    case 95:
      return "xz";
    case 99:
      return "AES encryption";
    default:
      return "method " + std::to_string(method);
  }
}

class ZipSource final : public Source {
 public:
  explicit ZipSource(Source& raw) : input_(raw), inflater_(Inflater::Wrap::none) {}

  Result<std::size_t> read(MutableBytes out) override {
    if (out.empty()) return std::size_t{0};
    for (;;) {
      if (!in_member_) {
        if (over_) return std::size_t{0};
        SAMOVAR_CHECK(next_record());
        continue;
      }
      SAMOVAR_TRY(const std::size_t size, read_member(out));
      if (size == 0) SAMOVAR_CHECK(end_member());
      if (size > 0 && !ignored_) return size;
    }
  }
  std::uint64_t raw_bytes_read() const override { return input_.raw_bytes_read(); }

 private:
  Result<ByteView> need(std::size_t size) {
    SAMOVAR_TRY(const ByteView bytes, input_.peek(size));
    if (bytes.size() < size) return cut();
    return bytes;
  }

  Result<void> next_record() {
    SAMOVAR_TRY(const ByteView bytes, need(4));
    switch (u32(bytes, 0)) {
      case kLocalHeader:
        return begin_member();
      case kCentralHeader:
        return check_directory_entry();
      case kEnd:
      case kEnd64:
        over_ = true;
        if (files_ == 0) return Error{Errc::invalid, "the zip file is empty"};
        return {};
      case kEncryptedDirectory:
        return Error{Errc::invalid, "the zip file is encrypted: unpack it and upload the plain file"};
      default:
        return damaged();
    }
  }

  Result<void> begin_member() {
    SAMOVAR_TRY(const ByteView head, need(kLocalHeaderBytes));
    member_ = Member{};
    member_.flags = u16(head, 6);
    member_.method = u16(head, 8);
    member_.crc = u32(head, 14);
    member_.packed_bytes = u32(head, 18);
    member_.bytes = u32(head, 22);
    const std::size_t name_bytes = u16(head, 26);
    const std::size_t extra_bytes = u16(head, 28);
    SAMOVAR_TRY(const ByteView all, need(kLocalHeaderBytes + name_bytes + extra_bytes));
    member_.name = std::string(as_text(all.subspan(kLocalHeaderBytes, name_bytes)));
    SAMOVAR_CHECK(read_extra(all.subspan(kLocalHeaderBytes + name_bytes, extra_bytes)));
    input_.eat(kLocalHeaderBytes + name_bytes + extra_bytes);
    SAMOVAR_CHECK(check_name(member_.name));
    ignored_ = member_.folder() || member_.clutter();
    if (!ignored_ && ++files_ > 1) return several();
    SAMOVAR_CHECK(check_packing());
    if (member_.method == Z_DEFLATED) inflater_.restart();
    left_ = member_.packed_bytes;
    unpacked_ = 0;
    crc_ = 0;
    in_member_ = true;
    return {};
  }

  // Sizes beyond 4 GB stand in the zip64 field.
  Result<void> read_extra(ByteView extra) {
    while (extra.size() >= 4) {
      const std::size_t size = u16(extra, 2);
      if (size > extra.size() - 4) return damaged();
      if (u16(extra, 0) == 0x0001) {
        member_.zip64 = true;
        ByteView field = extra.subspan(4, size);
        for (std::uint64_t* value : {&member_.bytes, &member_.packed_bytes}) {
          if (*value != kInExtra) continue;
          if (field.size() < 8) return damaged();
          *value = u64(field, 0);
          field = field.subspan(8);
        }
      }
      extra = extra.subspan(4 + size);
    }
    return {};
  }

  Result<void> check_packing() const {
    if ((member_.flags & 0x41) != 0 || member_.method == 99)
      return Error{Errc::invalid, "the zip file is encrypted: unpack it and upload the plain file"};
    if (member_.method != 0 && member_.method != Z_DEFLATED)
      return Error{Errc::invalid, "the zip file is packed with " + method_name(member_.method) +
                                      ", which is not read here: pack it again the usual way (deflate)"};
    if (member_.method == 0 && member_.sizes_follow() && member_.packed_bytes == 0 && !member_.folder())
      return Error{
          Errc::invalid,
          "the zip file does not say how long its content is: pack it again the usual way (deflate)"};
    return {};
  }

  Result<std::size_t> read_member(MutableBytes out) {
    std::size_t size = 0;
    if (member_.method == Z_DEFLATED) {
      auto inflated = inflater_.read(input_, out);
      if (!inflated) {
        if (inflated.error().code() == Errc::invalid) return cut();
        if (inflated.error().code() == Errc::corrupt) return damaged();
        return std::move(inflated).error();
      }
      size = *inflated;
    } else if (left_ > 0) {
      SAMOVAR_TRY(const ByteView bytes, need(1));
      size = static_cast<std::size_t>(
          std::min<std::uint64_t>({left_, bytes.size(), static_cast<std::uint64_t>(out.size())}));
      std::copy_n(bytes.begin(), size, out.begin());
      input_.eat(size);
      left_ -= size;
    }
    crc_ = static_cast<std::uint32_t>(crc32_z(crc_, out.data(), size));
    unpacked_ += size;
    return size;
  }

  Result<void> end_member() {
    in_member_ = false;
    if (member_.sizes_follow()) SAMOVAR_CHECK(read_descriptor());
    if (crc_ != member_.crc || unpacked_ != member_.bytes) return damaged();
    return {};
  }

  // [signature] crc packed unpacked, sizes of 4 or 8 bytes: the writer does not say which, what follows does.
  Result<void> read_descriptor() {
    SAMOVAR_TRY(ByteView bytes, need(12));
    const std::size_t signature = u32(bytes, 0) == kDescriptor ? 4 : 0;
    SAMOVAR_TRY(bytes, need(signature + 12 + 4));
    member_.crc = u32(bytes, signature);
    const auto record_follows = [&](std::size_t at) {
      return bytes.size() >= at + 4 && (u32(bytes, at) == kLocalHeader || u32(bytes, at) == kCentralHeader);
    };
    if (record_follows(signature + 12) && u32(bytes, signature + 8) == (unpacked_ & 0xffffffff)) {
      member_.bytes = (unpacked_ & ~std::uint64_t{0xffffffff}) | u32(bytes, signature + 8);
      input_.eat(signature + 12);
      return {};
    }
    SAMOVAR_TRY(bytes, need(signature + 20));
    member_.bytes = u64(bytes, signature + 12);
    input_.eat(signature + 20);
    return {};
  }

  // The directory knows what the local headers do not: that an entry is a symbolic link.
  Result<void> check_directory_entry() {
    SAMOVAR_TRY(const ByteView head, need(kCentralHeaderBytes));
    constexpr std::uint32_t kTypeMask = 0170000;
    constexpr std::uint32_t kSymlink = 0120000;
    constexpr std::uint8_t kUnix = 3;
    if (head[5] == kUnix && ((u32(head, 38) >> 16) & kTypeMask) == kSymlink)
      return Error{Errc::invalid, "the zip file holds a link instead of a file: pack the file itself"};
    const std::size_t size = kCentralHeaderBytes + u16(head, 28) + u16(head, 30) + u16(head, 32);
    SAMOVAR_TRY(const ByteView entry, need(size));
    Member listed;
    listed.name = std::string(as_text(entry.subspan(kCentralHeaderBytes, u16(head, 28))));
    if (!listed.folder() && !listed.clutter() && ++listed_ > files_) return several();
    input_.eat(size);
    return {};
  }

  PackedInput input_;
  Inflater inflater_;
  Member member_;
  bool in_member_ = false;
  bool ignored_ = false;
  bool over_ = false;
  unsigned files_ = 0;
  unsigned listed_ = 0;
  std::uint64_t left_ = 0;
  std::uint64_t unpacked_ = 0;
  std::uint32_t crc_ = 0;
};

}  // namespace

std::unique_ptr<Source> make_zip_source(Source& raw) { return std::make_unique<ZipSource>(raw); }

}  // namespace samovar::ingest
