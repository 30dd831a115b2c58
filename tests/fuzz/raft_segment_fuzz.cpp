// The log's files, as read before libraft may touch them.
#include <cstdint>
#include <cstdlib>

#include "daemon/raft/segment.hpp"

using namespace samovar;
using namespace samovar::raft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView bytes(data, size);
  const Segment segment = read_segment(bytes);
  if (segment.good_bytes > size) std::abort();
  for (const RawEntry& entry : segment.entries)
    if (!entry.data.empty() &&
        (entry.data.data() < data || entry.data.data() + entry.data.size() > data + size))
      std::abort();
  if (segment.unwritten && !segment.entries.empty()) std::abort();
  ignore(check_snapshot_meta(bytes), "fuzz");
  ignore(read_metadata(bytes), "fuzz");
  const std::string_view name = as_text(bytes);
  if (const auto closed = parse_closed_name(name); closed && closed->last < closed->first) std::abort();
  static_cast<void>(parse_open_name(name));
  static_cast<void>(parse_snapshot_meta_name(name));
  return 0;
}
