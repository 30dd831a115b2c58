// The history's plain form, as it stands behind the seal: whatever decodes must encode, answer and merge.
#include <cmath>
#include <cstdlib>

#include "daemon/power/history.hpp"
#include "daemon/power/vitals.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace samovar;
  const ByteView input{data, size};
  if (const auto history = power::History::decode(input)) {
    const auto again = power::History::decode(history->encode());
    if (!again || again->encode() != history->encode()) std::abort();
    if (std::isnan(history->energy(WallTime{}, WallTime{} + std::chrono::hours(24 * 365 * 60)).joules))
      std::abort();
    power::History merged;
    merged.merge(*history);
    if (merged.encode() != history->encode()) std::abort();
  }
  // The kernel's files are outside bytes too.
  power::Counters counters;
  const std::string_view text = as_text(input);
  power::parse_proc_stat(text, counters);
  power::parse_meminfo(text, counters);
  power::parse_self_stat(text, counters);
  counters.net = power::parse_net_dev(text);
  power::rates_between({}, counters);
  return 0;
}
