#include "daemon/api/time_zone.hpp"

#include <algorithm>
#include <string>

#include "base/disk.hpp"

namespace samovar::api {
namespace {

const std::string kDatabase = "/usr/share/zoneinfo/";
constexpr std::size_t kFileBytesMax = 64 * 1024;

// Big-endian reader that stops at the end instead of running past it.
class Reader {
 public:
  explicit Reader(ByteView bytes) : bytes_(bytes) {}
  bool skip(std::uint64_t n) {
    if (n > bytes_.size()) return false;
    bytes_ = bytes_.subspan(n);
    return true;
  }
  std::int64_t number(unsigned size) {  // signed; 0 past the end
    if (size > bytes_.size()) return ok_ = false, 0;
    std::uint64_t value = (bytes_[0] & 0x80) != 0 ? ~std::uint64_t{0} : 0;
    for (unsigned i = 0; i < size; ++i) value = value << 8 | bytes_[i];
    bytes_ = bytes_.subspan(size);
    return static_cast<std::int64_t>(value);
  }
  bool ok() const { return ok_; }
  ByteView rest() const { return bytes_; }

 private:
  ByteView bytes_;
  bool ok_ = true;
};

struct Header {
  std::uint8_t version = 0;
  std::uint64_t isut = 0, isstd = 0, leaps = 0, times = 0, types = 0, chars = 0;
  std::uint64_t body_bytes(unsigned time_bytes) const {
    return times * time_bytes + times + types * 6 + chars + leaps * (time_bytes + 4) + isstd + isut;
  }
};

Result<Header> read_header(Reader& in) {
  const ByteView at = in.rest();
  if (at.size() < 44 || as_text(at.first(4)) != "TZif") return Error{Errc::corrupt, "not a time zone file"};
  Header header;
  header.version = at[4];
  in.skip(20);
  for (auto* field :
       {&header.isut, &header.isstd, &header.leaps, &header.times, &header.types, &header.chars})
    *field = static_cast<std::uint32_t>(in.number(4));
  if (header.types == 0 || header.body_bytes(8) > kFileBytesMax)
    return Error{Errc::corrupt, "not a time zone file"};
  return header;
}

}  // namespace

Result<std::int64_t> tzif_offset(ByteView file, std::int64_t unix_seconds) {
  const Error damaged{Errc::corrupt, "the time zone file is cut short"};
  Reader in(file);
  SAMOVAR_TRY(Header header, read_header(in));
  unsigned time_bytes = 4;
  if (header.version >= '2') {  // the second block has 64-bit times
    if (!in.skip(header.body_bytes(4))) return damaged;
    SAMOVAR_TRY(header, read_header(in));
    time_bytes = 8;
  }
  std::uint64_t before = 0;  // transitions at or before the time asked for
  for (std::uint64_t i = 0; i < header.times; ++i)
    if (in.number(time_bytes) <= unix_seconds) before = i + 1;
  std::uint64_t type = 0;
  for (std::uint64_t i = 0; i < header.times; ++i) {
    const auto index = static_cast<std::uint8_t>(in.number(1));
    if (i + 1 == before) type = index;
  }
  if (type >= header.types || !in.skip(type * 6)) return damaged;
  const std::int64_t offset = in.number(4);
  if (!in.ok()) return damaged;
  return offset;
}

bool zone_name_valid(std::string_view name) noexcept {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '+' || c == '/';
  };
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), fits) &&
         name.front() != '/' && name.back() != '/' && name.find("//") == std::string_view::npos;
}

bool zone_known(std::string_view name) {
  if (!zone_name_valid(name)) return false;
  if (name == "UTC" || !real_disk().exists(kDatabase)) return true;
  const auto file = real_disk().read_file(kDatabase + std::string(name), kFileBytesMax);
  return file && tzif_offset(*file, 0).has_value();
}

std::chrono::seconds zone_offset(std::string_view name, WallTime time) {
  if (!zone_name_valid(name)) return {};
  const auto file = real_disk().read_file(kDatabase + std::string(name), kFileBytesMax);
  if (!file) return {};
  const auto unix_time = std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
  return std::chrono::seconds(tzif_offset(*file, unix_time).value_or(0));
}

WallTime local_midnight(std::string_view zone, WallTime time) {
  const auto offset = zone_offset(zone, time);
  const auto local_day = std::chrono::floor<std::chrono::days>(time + offset);
  // The offset of midnight itself: on the two days of a clock change it differs from that of noon.
  return WallTime(local_day - zone_offset(zone, local_day - offset));
}

}  // namespace samovar::api
