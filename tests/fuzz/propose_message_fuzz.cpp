// Questions to a leader and its answers: whatever the bytes, refused or understood and said again the same.
#include <cstdint>
#include <cstdlib>

#include "daemon/cluster/propose_message.hpp"

using namespace samovar;
using namespace samovar::cluster;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView bytes(data, size);
  if (const auto question = decode_question(bytes))
    if (encode_question(*question) != to_bytes(bytes)) std::abort();
  if (const auto answer = decode_answer(bytes))
    if (encode_answer(*answer) != to_bytes(bytes)) std::abort();
  return 0;
}
