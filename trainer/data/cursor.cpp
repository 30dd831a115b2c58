#include <cstring>

#include "trainer/data/reader.hpp"

namespace samovar::trainer {

namespace {
constexpr std::uint32_t kMagic = 0x4356'4d53;  // "SMVC"
constexpr std::size_t kCursorBytes = 28;

template <class T>
void put(Bytes& out, T value) {
  for (std::size_t i = 0; i < sizeof value; ++i)
    out.push_back(static_cast<std::uint8_t>(std::uint64_t{value} >> (8 * i)));
}
template <class T>
T take(ByteView& in) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) value |= std::uint64_t{in[i]} << (8 * i);
  in = in.subspan(sizeof(T));
  return static_cast<T>(value);
}
}  // namespace

Bytes encode_cursor(const DataCursor& cursor) {
  Bytes out;
  out.reserve(kCursorBytes);
  put(out, kMagic);
  put(out, cursor.pass);
  put(out, cursor.position);
  put(out, cursor.row);
  put(out, cursor.plan_mark);
  return out;
}

Result<DataCursor> decode_cursor(ByteView bytes) {
  if (bytes.size() != kCursorBytes || take<std::uint32_t>(bytes) != kMagic)
    return Error{Errc::corrupt, "the saved place in the data is damaged"};
  DataCursor cursor;
  cursor.pass = take<std::uint64_t>(bytes);
  cursor.position = take<std::uint32_t>(bytes);
  cursor.row = take<std::uint32_t>(bytes);
  cursor.plan_mark = take<std::uint64_t>(bytes);
  return cursor;
}

}  // namespace samovar::trainer
