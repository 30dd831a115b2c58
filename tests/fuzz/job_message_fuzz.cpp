// What a member that was taken over, or is of another version, could say about a training over several nodes.
// What decodes must encode to the same bytes again: each message has one form.
#include <cstdint>
#include <cstdlib>

#include "daemon/jobs/job_message.hpp"

using namespace samovar;
using namespace samovar::jobs;

namespace {

template <class T>
void same(const Result<T>& message, ByteView body) {
  if (message && encode(*message) != to_bytes(body)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView body(data, size);
  const auto kind = kind_of(body);
  if (!kind) return 0;
  switch (*kind) {
    case JobMessageKind::prepare:
      same(decode_job_prepare(body), body);
      break;
    case JobMessageKind::epoch:
      same(decode_job_epoch(body), body);
      break;
    case JobMessageKind::stop:
      same(decode_job_stop(body), body);
      break;
    case JobMessageKind::news:
      same(decode_job_news(body), body);
      break;
    case JobMessageKind::piece:
      same(decode_job_piece(body), body);
      break;
    case JobMessageKind::live:
      same(decode_job_live(body), body);
      break;
    case JobMessageKind::history:
      same(decode_job_history_ask(body), body);
      break;
  }
  return 0;
}
