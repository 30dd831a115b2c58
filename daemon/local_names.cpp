#include "daemon/local_names.hpp"

#include <algorithm>

namespace samovar::daemon {

std::vector<discovery::MdnsName> local_names(const Config& config, const std::string& node_id) {
  // Nodes on a loopback are several on one computer: there is no network to be found on.
  if (config.mdns_name.empty() || config.discovery_port == 0 || config.discovery_loopback) return {};
  std::string name = config.mdns_name;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return {{name + ".local", true}, {name + "-" + node_id.substr(0, 4) + ".local", false}};
}

std::vector<std::string> browser_names(const Config& config, const std::string& node_id) {
  std::vector<std::string> out = config.host_names;
  for (const auto& local : local_names(config, node_id))
    if (std::find(out.begin(), out.end(), local.name) == out.end()) out.push_back(local.name);
  return out;
}

}  // namespace samovar::daemon
