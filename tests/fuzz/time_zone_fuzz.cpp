// Time zone files: an offset or an error.
#include "daemon/api/time_zone.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const std::int64_t time : {std::int64_t{0}, std::int64_t{1800000000}, INT64_MIN, INT64_MAX})
    samovar::ignore(samovar::api::tzif_offset({data, size}, time), "any answer is fine");
  return 0;
}
