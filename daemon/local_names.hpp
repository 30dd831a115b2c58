// Names that this box answers for by multicast DNS, so that people can type one instead of an address.
//
// Threading: values; any thread.
#pragma once
#include <string>
#include <vector>

#include "daemon/config.hpp"
#include "daemon/discovery/mdns_names.hpp"

namespace samovar::daemon {

// "samovar.local", which all nodes share, and "samovar-k7q2.local", this one's own; none when switched off.
std::vector<discovery::MdnsName> local_names(const Config& config, const std::string& node_id);
// Under which browsers may come, besides host name and addresses: those of the configuration and these.
std::vector<std::string> browser_names(const Config& config, const std::string& node_id);

}  // namespace samovar::daemon
