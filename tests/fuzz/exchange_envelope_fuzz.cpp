// Messages between members: the envelope behind the body, and errors in it. What comes off must go on again
// as it was.
#include <cstdint>
#include <cstdlib>

#include "daemon/net/envelope.hpp"

using namespace samovar;
using namespace samovar::net;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes message(data, data + size);
  Bytes rest = message;
  const auto envelope = take_envelope(rest);
  if (!envelope) {
    if (rest != message) std::abort();
    return 0;
  }
  if (envelope->kind == EnvelopeKind::error) {
    const Error error = decode_error(rest);
    if (error.message().size() > kErrorTextBytesMax) std::abort();
    const Error again = decode_error(encode_error(error));
    if (again.code() != error.code() || again.message() != error.message()) std::abort();
  }
  append_envelope(rest, *envelope);
  if (rest != message) std::abort();
  return 0;
}
