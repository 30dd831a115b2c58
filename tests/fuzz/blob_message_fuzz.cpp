// What a member that was taken over could ask about stored files, or answer. What decodes must encode to the
// same bytes again: each message has one form; and a key that parses is a path inside the store.
#include <cstdint>
#include <cstdlib>

#include "daemon/jobs/blob_message.hpp"
#include "daemon/store/blobs.hpp"

using namespace samovar;
using namespace samovar::jobs;

namespace {

template <class T>
void same(const Result<T>& message, ByteView body) {
  if (message && encode(*message) != to_bytes(body)) std::abort();
}

void check_key(ByteView body) {
  const auto key = store::BlobKey::parse(as_text(body));
  if (!key) return;
  if (key->text() != as_text(body)) std::abort();
  if (key->text().find("..") != std::string::npos) std::abort();
  if (key->file.find('/') != std::string::npos || key->file.empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const ByteView body(data + 1, size - 1);
  switch (data[0] % 7) {
    case 0:
      same(decode_blob_read(body), body);
      break;
    case 1:
      same(decode_blob_piece(body), body);
      break;
    case 2:
      same(decode_blob_fetch(body), body);
      break;
    case 3:
      same(decode_blob_fetched(body), body);
      break;
    case 4:
      same(decode_blob_check(body), body);
      break;
    case 5:
      same(decode_blob_checked(body), body);
      break;
    default:
      check_key(body);
      break;
  }
  return 0;
}
