// What a taken-over worker could say to samovard, and the other way round. What decodes must encode to the
// same bytes again: each message has one form.
#include <sodium.h>

#include <cstdint>
#include <cstdlib>

#include "daemon/ingest/worker_protocol.hpp"

using namespace samovar;
using namespace samovar::ingest;

namespace {

template <class T>
void same(const Result<T>& message, ByteView body) {
  if (message && encode(*message) != to_bytes(body)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool kReady = sodium_init() >= 0;
  if (!kReady) std::abort();
  if (size < kFrameHeadBytes) return 0;
  const auto head = decode_head(ByteView(data, kFrameHeadBytes));
  if (head && encode_head(*head) != encode_head(*decode_head(encode_head(*head)))) std::abort();
  const ByteView body(data + 1, size - 1);
  switch (data[0] % 8) {
    case 0:
      same(decode_ready(body), body);
      break;
    case 1:
      same(decode_job(body), body);
      break;
    case 2:
      same(decode_want_file(body), body);
      break;
    case 3:
      same(decode_file_answer(body), body);
      break;
    case 4:
      same(decode_progress(body), body);
      break;
    case 5:
      same(decode_found(body), body);
      break;
    case 6:
      same(decode_report(body), body);
      break;
    default:
      same(decode_failed(body), body);
      break;
  }
  return 0;
}
