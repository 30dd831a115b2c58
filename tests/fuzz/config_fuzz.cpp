// The configuration file: any text gives a Config or an Error, and what validates stays within bounds.
#include "base/assert.hpp"
#include "base/bytes.hpp"
#include "daemon/config.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace samovar;
  const auto config = daemon::parse_config(as_text({data, size}), "fuzz", {});
  if (!config) {
    SAMOVAR_ASSERT(!config.error().message().empty());
    return 0;
  }
  if (!daemon::validate(*config)) return 0;
  SAMOVAR_ASSERT(config->state_dir[0] == '/' && !config->listen.empty() && config->disk_reserve_mib > 0);
  SAMOVAR_ASSERT(config->state_dir.find('\0') == std::string::npos);
  for (const auto& address : config->listen) SAMOVAR_ASSERT(daemon::parse_listen(address).has_value());
  return 0;
}
