// A profile comes from the process that parses outside bytes: what is done with it must bear anything.
#include <cstdint>
#include <string_view>

#include "base/json.hpp"
#include "daemon/ingest/profile.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace samovar;
  auto profile = nlohmann::json::parse(data, data + size, nullptr, false);
  if (profile.is_discarded()) return 0;
  auto copy = profile;
  ingest::suppress_small_cells(profile);
  ignore(ingest::correlate(copy, "a"), "any answer will do");
  ingest::suppress_small_cells(copy);
  return 0;
}
