// What a taken-over worker could say while it trains or scores, and the other way round. What decodes must
// encode to the same bytes again: each message has one form.
#include <sodium.h>

#include <cstdint>
#include <cstdlib>

#include "daemon/jobs/train_protocol.hpp"

using namespace samovar;
using namespace samovar::jobs;

namespace {

template <class T>
void same(const Result<T>& message, ByteView body) {
  if (message && encode(*message) != to_bytes(body)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool kReady = sodium_init() >= 0;
  if (!kReady) std::abort();
  if (size == 0) return 0;
  const ByteView body(data + 1, size - 1);
  switch (data[0] % 16) {
    case 0:
      same(decode_train_job(body), body);
      break;
    case 1:
      same(decode_score_job(body), body);
      break;
    case 2:
      same(decode_want_input(body), body);
      break;
    case 3:
      same(decode_want_output(body), body);
      break;
    case 4:
      same(decode_reply(body), body);
      break;
    case 5:
      same(decode_saved(body), body);
      break;
    case 6:
      same(decode_step(body), body);
      break;
    case 7:
      same(decode_metric(body), body);
      break;
    case 8:
      same(decode_log(body), body);
      break;
    case 9:
      same(decode_trained(body), body);
      break;
    case 11:
      same(decode_peer_frame(body), body);
      break;
    case 12:
      same(decode_peer_credit(body), body);
      break;
    case 13:
      same(decode_membership(body), body);
      break;
    case 14:
      same(decode_shards(body), body);
      break;
    case 15:
      same(decode_device(body), body);
      break;
    default:
      same(decode_scored(body), body);
      break;
  }
  return 0;
}
