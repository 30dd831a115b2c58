#include "tests/unit/daemon/ingest/input_support.hpp"

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

namespace samovar::ingest {
namespace {

std::string deflate_as(std::string_view text, int window_bits) {
  z_stream stream{};
  SAMOVAR_ASSERT(deflateInit2(&stream, 9, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  SAMOVAR_ASSERT(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
}

}  // namespace

std::string gzip(std::string_view text) { return deflate_as(text, 15 + 16); }

std::string zstd(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

std::string xz(std::string_view text) {
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t size = 0;
  SAMOVAR_ASSERT(lzma_easy_buffer_encode(
                     6, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(text.data()),
                     text.size(), reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size()) == LZMA_OK);
  out.resize(size);
  return out;
}

std::string zip(const std::vector<ZipMember>& members) {
  std::string out;
  std::string directory;
  for (const auto& member : members) {
    const std::string data = member.deflated ? deflate_as(member.content, -15) : member.content;
    const auto crc = static_cast<std::uint32_t>(
        crc32_z(0, reinterpret_cast<const Bytef*>(member.content.data()), member.content.size()));
    const std::uint16_t flags = static_cast<std::uint16_t>(member.flags | (member.sizes_follow ? 8 : 0));
    const std::uint16_t method = member.method_override != 0 ? member.method_override
                                 : member.deflated           ? 8
                                                             : 0;
    const std::uint64_t offset = out.size();
    put(out, 0x04034b50, 4);
    put(out, 20, 2);
    put(out, flags, 2);
    put(out, method, 2);
    put(out, 0, 4);
    put(out, member.sizes_follow ? 0 : crc, 4);
    const bool later = member.sizes_follow;
    put(out, member.zip64 ? 0xffffffff : later ? 0 : data.size(), 4);
    put(out, member.zip64 ? 0xffffffff : later ? 0 : member.content.size(), 4);
    put(out, member.name.size(), 2);
    put(out, member.zip64 ? 20 : 0, 2);
    out += member.name;
    if (member.zip64) {
      put(out, 1, 2);
      put(out, 16, 2);
      put(out, later ? 0 : member.content.size(), 8);
      put(out, later ? 0 : data.size(), 8);
    }
    out += data;
    if (later) {
      put(out, 0x08074b50, 4);
      put(out, crc, 4);
      put(out, data.size(), member.zip64 ? 8 : 4);
      put(out, member.content.size(), member.zip64 ? 8 : 4);
    }
    put(directory, 0x02014b50, 4);
    put(directory, 3 << 8 | 20, 2);  // made on Unix
    put(directory, 20, 2);
    put(directory, flags, 2);
    put(directory, method, 2);
    put(directory, 0, 4);
    put(directory, crc, 4);
    put(directory, data.size(), 4);
    put(directory, member.content.size(), 4);
    put(directory, member.name.size(), 2);
    put(directory, 0, 8);
    put(directory, std::uint64_t{member.mode} << 16, 4);
    put(directory, offset, 4);
    directory += member.name;
  }
  const std::size_t at = out.size();
  out += directory;
  put(out, 0x06054b50, 4);
  put(out, 0, 4);
  put(out, members.size(), 2);
  put(out, members.size(), 2);
  put(out, directory.size(), 4);
  put(out, at, 4);
  put(out, 0, 2);
  return out;
}

std::string read_all(Source& source, std::size_t piece) {
  std::string out;
  std::string buffer(piece, '\0');
  for (;;) {
    const auto size =
        source.read(MutableBytes(reinterpret_cast<std::uint8_t*>(buffer.data()), buffer.size()));
    if (!size) return "error: " + size.error().message();
    if (*size == 0) return out;
    out.append(buffer, 0, *size);
  }
}

std::string decode(std::string_view file, Compression compression, Encoding encoding,
                   const UnpackLimits& limits, std::size_t step) {
  TextSource raw(file, step);
  const auto source = open_decoded(raw, compression, encoding, limits);
  SAMOVAR_ASSERT(source.has_value());
  return read_all(**source);
}

Result<Detection> detect_text(std::string_view file, const ParseHints& hints, std::string_view name) {
  TextSource raw(file, 1000);
  return detect(raw, name, hints);
}

}  // namespace samovar::ingest
