// Reports, requests for them, histories and lists of members, as other nodes send them.
#include "base/assert.hpp"
#include "daemon/api/node_report.hpp"
#include "daemon/node_net.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace samovar;
  if (size == 0) return 0;
  const ByteView rest(data + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      if (const auto report = api::decode_report(rest)) {
        // What was taken can be handed on and taken again.
        const auto again = api::decode_report(api::encode_report(*report));
        SAMOVAR_ASSERT(again && again->links.size() == report->links.size());
      }
      break;
    case 1:
      if (const auto request = api::decode_request(rest))
        SAMOVAR_ASSERT(api::decode_request(api::encode_request(*request)));
      break;
    case 2:
      if (const auto table = api::decode_history(rest))
        for (const auto& col : table->cols) SAMOVAR_ASSERT(col.size() == table->cols[0].size());
      break;
    default:
      if (const auto members = daemon::decode_member_list(rest)) {
        const auto again = daemon::decode_member_list(daemon::encode_member_list(*members));
        SAMOVAR_ASSERT(again && again->size() == members->size());
      }
  }
  return 0;
}
