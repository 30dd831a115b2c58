#include "daemon/ingest/inflater.hpp"

#include <zlib.h>

#include <algorithm>

namespace samovar::ingest {

struct Inflater::State {
  z_stream stream{};
};

Inflater::Inflater(Wrap wrap) : state_(std::make_unique<State>()) {
  constexpr int kWindowBits = 15;
  constexpr int kGzip = 16;
  const int bits = wrap == Wrap::gzip ? kWindowBits + kGzip : -kWindowBits;
  SAMOVAR_ASSERT(inflateInit2(&state_->stream, bits) == Z_OK);
}

Inflater::~Inflater() { inflateEnd(&state_->stream); }

void Inflater::restart() {
  SAMOVAR_ASSERT(inflateReset(&state_->stream) == Z_OK);
  ended_ = false;
}

Result<std::size_t> Inflater::read(PackedInput& input, MutableBytes out) {
  z_stream& stream = state_->stream;
  while (!ended_) {
    SAMOVAR_TRY(const ByteView packed, input.peek());
    if (packed.empty()) return Error{Errc::invalid, "ends in the middle"};
    stream.next_in = const_cast<Bytef*>(packed.data());
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = out.data();
    stream.avail_out = static_cast<uInt>(std::min<std::size_t>(out.size(), 1u << 30));
    const uInt room = stream.avail_out;
    const int status = inflate(&stream, Z_NO_FLUSH);
    input.eat(packed.size() - stream.avail_in);
    if (status == Z_STREAM_END)
      ended_ = true;
    else if (status != Z_OK && status != Z_BUF_ERROR)
      return Error{Errc::corrupt, "is damaged"};
    if (stream.avail_out != room) return static_cast<std::size_t>(room - stream.avail_out);
  }
  return std::size_t{0};
}

}  // namespace samovar::ingest
