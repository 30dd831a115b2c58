#include "daemon/config.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <variant>

#include "base/toml.hpp"

namespace samovar::daemon {
namespace {

using Target =
    std::variant<std::string Config::*, std::vector<std::string> Config::*, std::uint32_t Config::*>;

struct Key {
  std::string_view name;
  Target target;
  std::string_view type;
  std::string_view help;
};

// The one list of keys: the parser, its messages and the reference page are made from it.
const Key kKeys[] = {
    {"state_dir", &Config::state_dir, "text",
     "Directory of everything the node keeps. It is created with mode 0700; nobody else may read it."},
    {"listen", &Config::listen, "list of text",
     "Where HTTPS listens: `address:port`, IPv6 addresses in brackets."},
    {"mesh_listen", &Config::mesh_listen, "list of text",
     "Where this node talks to the other nodes of its cluster (TLS 1.3, members only), and where it waits to "
     "be "
     "added to one while it is new: `address:port`. A firewall must let this port through between the "
     "nodes."},
    {"seeds", &Config::seeds, "list of text",
     "Addresses of other nodes, `address` or `address:port` (the port of the beacons), where multicast does "
     "not "
     "reach: the beacon goes there, too. One node's address is enough."},
    {"discovery_interfaces", &Config::discovery_interfaces, "list of text",
     "Network interfaces on which nodes look for each other, by name. Empty: all that are up, but not "
     "loopback, "
     "bridges of containers (`docker*`, `br-*`, `veth*`, `virbr*`) and tunnels."},
    {"discovery_port", &Config::discovery_port, "number",
     "UDP port of the beacons by which nodes find each other (multicast group 239.192.77.46). 0: no beacons; "
     "nodes are then added by their address. 0 to 65535."},
    {"mdns_name", &Config::mdns_name, "text",
     "People on the same network reach the box as `https://<mdns_name>.local:8443`: every node of the "
     "cluster "
     "answers for that name by multicast DNS with its own address, and for `<mdns_name>-<first four of its "
     "id>.local` alone. A machine that has the name already keeps it. Two clusters on one network want two "
     "names. Empty, or no beacons: nothing is answered."},
    {"host_names", &Config::host_names, "list of text",
     "Names under which browsers may reach the box, besides its host name, `<host name>.local`, `localhost` "
     "and its addresses. A request with another `Host` is refused (DNS rebinding), and the web certificate "
     "carries these names."},
    {"key_file", &Config::key_file, "text",
     "Path of the key that unlocks the node by itself, when set-up chose so. Empty: `key` in the state "
     "directory. On a medium of its own, a stolen disk alone stays unreadable."},
    {"log_format", &Config::log_format, "text",
     "`auto` (journal under systemd, else text), `text`, `journal` or `json`."},
    {"log_level", &Config::log_level, "text", "`debug`, `info`, `warn` or `error`."},
    {"disk_reserve_mib", &Config::disk_reserve_mib, "number",
     "Changes are refused (507) while less than this is free on the disk of the state directory, so that "
     "reading and deleting always work. 1 to 1048576."},
    {"worker_path", &Config::worker_path, "text",
     "The program `samovar-worker`, which reads uploads in a sandbox. Empty: beside samovard, or "
     "`/usr/lib/samovar/samovar-worker`."},
};

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string_view closest_key(std::string_view name) {
  const std::string_view head = name.substr(0, 64);  // the key comes from a file: bound the work
  const auto* best = std::min_element(std::begin(kKeys), std::end(kKeys), [&](const Key& a, const Key& b) {
    return edit_distance(head, a.name) < edit_distance(head, b.name);
  });
  return best->name;
}

bool is_control(unsigned char c) { return c < ' ' || c == 127; }

Result<void> assign(Config& config, const Key& key, const TomlEntry::Value& value, const std::string& where) {
  // "\u0000" would end a path or an address early for those who read it as a C string.
  const auto is_plain = [](const std::string& text) {
    return std::none_of(text.begin(), text.end(), is_control);
  };
  if (const auto* target = std::get_if<std::string Config::*>(&key.target)) {
    if (const auto* text = std::get_if<std::string>(&value); text != nullptr && is_plain(*text)) {
      config.** target = *text;
      return {};
    }
  } else if (const auto* number_target = std::get_if<std::uint32_t Config::*>(&key.target)) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      if (*number < 0 || *number > std::numeric_limits<std::uint32_t>::max())
        return Error{Errc::invalid, fmt::format("{}: {} is out of range", where, key.name)};
      config.** number_target = static_cast<std::uint32_t>(*number);
      return {};
    }
  } else if (const auto* list = std::get_if<std::vector<std::string>>(&value);
             list != nullptr && std::all_of(list->begin(), list->end(), is_plain)) {
    config.*std::get<std::vector<std::string> Config::*>(key.target) = *list;
    return {};
  }
  return Error{Errc::invalid, fmt::format("{}: {} must be a {}{}", where, key.name, key.type,
                                          key.type == "number" ? "" : " without control characters")};
}

bool is_host_name(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  };
  return !name.empty() && name.size() <= 253 && std::all_of(name.begin(), name.end(), fits) &&
         name[0] != '.' && name[0] != '-';
}

// One part of a name, with room for what tells the nodes apart.
bool is_label(std::string_view name) {
  return is_host_name(name) && name.size() <= 50 && name.find('.') == std::string_view::npos &&
         !name.ends_with('-');
}

constexpr std::uint16_t kSeedPort = 7446;

Result<void> check_listen(std::string_view key, const std::vector<std::string>& addresses) {
  if (addresses.empty())
    return Error{Errc::invalid, fmt::format("{} must name at least one address:port", key)};
  if (addresses.size() > 16) return Error{Errc::invalid, fmt::format("{} names more than 16 addresses", key)};
  for (const auto& address : addresses)
    if (auto parsed = parse_listen(address); !parsed) return std::move(parsed).error();
  return {};
}

bool one_of(std::string_view value, std::initializer_list<std::string_view> allowed) {
  return std::find(allowed.begin(), allowed.end(), value) != allowed.end();
}

std::string default_text(const Key& key) {
  const Config defaults;
  if (const auto* text = std::get_if<std::string Config::*>(&key.target))
    return fmt::format("\"{}\"", defaults.**text);
  if (const auto* number = std::get_if<std::uint32_t Config::*>(&key.target))
    return fmt::format("{}", defaults.**number);
  std::string list;
  for (const auto& value : defaults.*std::get<std::vector<std::string> Config::*>(key.target))
    list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", value);
  return "[" + list + "]";
}

}  // namespace

Result<ListenAddress> parse_listen(std::string_view text) {
  const auto wrong = [&](std::string_view why) {
    return Error{Errc::invalid,
                 fmt::format("listen address \"{}\": {}; write e.g. \"0.0.0.0:8443\" or \"[::]:8443\"",
                             text.substr(0, 80), why)};
  };
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong("the port is missing");
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  unsigned port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc{} || end != digits.data() + digits.size() || port > 65535)
    return wrong("the port must be 0 to 65535");
  const bool bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  ListenAddress address{std::string(host), static_cast<std::uint16_t>(port)};
  in6_addr buffer{};
  if (inet_pton(bracketed ? AF_INET6 : AF_INET, address.host.c_str(), &buffer) != 1)
    return wrong("the address is not an IP address (IPv6 goes in brackets)");
  return address;
}

Result<ListenAddress> parse_seed(std::string_view text, std::uint16_t default_port) {
  const bool bare_six = text.find(':') != text.rfind(':') && text.find(']') == std::string_view::npos;
  const bool has_port = !bare_six && text.rfind(':') != std::string_view::npos && !text.ends_with(']');
  std::string whole(text);
  if (bare_six) whole = "[" + whole + "]";
  if (!has_port) whole += ":" + std::to_string(default_port);
  auto address = parse_listen(whole);
  if (address && address->port != 0) return address;
  return Error{Errc::invalid,
               fmt::format("\"{}\" is not an address of a node: write e.g. 10.0.0.7 or 10.0.0.7:{}",
                           text.substr(0, 80), default_port)};
}

Result<Config> parse_config(std::string_view text, std::string_view source, Config base) {
  auto parsed = parse_toml(text);
  if (const auto* fault = std::get_if<TomlFault>(&parsed))
    return Error{Errc::invalid, fmt::format("{} line {}: {}", source, fault->line, fault->text)};
  for (const TomlEntry& entry : std::get<std::vector<TomlEntry>>(parsed)) {
    const std::string where = fmt::format("{} line {}", source, entry.line);
    if (!entry.section.empty())
      return Error{Errc::invalid, fmt::format("{}: this file has no [sections]: take the line with [{}] out",
                                              where, entry.section[0].substr(0, 80))};
    const std::string_view key_name = entry.name;
    const auto* key =
        std::find_if(std::begin(kKeys), std::end(kKeys), [&](const Key& k) { return k.name == key_name; });
    if (key == std::end(kKeys))
      return Error{Errc::invalid, fmt::format("{}: unknown key \"{}\"; did you mean \"{}\"?", where,
                                              key_name.substr(0, 80), closest_key(key_name))};
    SAMOVAR_CHECK(assign(base, *key, entry.value, where));
  }
  return base;
}

Result<void> validate(const Config& config) {
  if (config.state_dir.empty() || config.state_dir[0] != '/')
    return Error{Errc::invalid, "state_dir must be an absolute path such as \"/var/lib/samovar\""};
  if (!config.key_file.empty() && config.key_file[0] != '/')
    return Error{Errc::invalid,
                 "key_file must be an absolute path, or empty for \"key\" in the state directory"};
  SAMOVAR_CHECK(check_listen("listen", config.listen));
  SAMOVAR_CHECK(check_listen("mesh_listen", config.mesh_listen));
  if (config.seeds.size() > 64) return Error{Errc::invalid, "seeds names more than 64 addresses"};
  for (const auto& seed : config.seeds)
    if (auto parsed = parse_seed(seed, kSeedPort); !parsed) return std::move(parsed).error().within("seeds");
  for (const auto& name : config.discovery_interfaces)
    if (name.empty() || name.size() >= IF_NAMESIZE)
      return Error{Errc::invalid, fmt::format("discovery_interfaces: \"{}\" is not the name of an interface",
                                              name.substr(0, 80))};
  if (config.discovery_port > 65535)
    return Error{Errc::invalid, "discovery_port must be 0 to 65535; 0 switches the beacons off"};
  if (!config.mdns_name.empty() && !is_label(config.mdns_name))
    return Error{Errc::invalid,
                 fmt::format("mdns_name: \"{}\" is not one word of at most 50 letters, digits and hyphens; "
                             "\".local\" is added to it",
                             config.mdns_name.substr(0, 80))};
  for (const auto& name : config.host_names)
    if (!is_host_name(name))
      return Error{Errc::invalid, fmt::format("host_names: \"{}\" is not a host name", name.substr(0, 80))};
  if (!one_of(config.log_format, {"auto", "text", "journal", "json"}))
    return Error{Errc::invalid, "log_format must be auto, text, journal or json"};
  if (!one_of(config.log_level, {"debug", "info", "warn", "error"}))
    return Error{Errc::invalid, "log_level must be debug, info, warn or error"};
  if (!config.worker_path.empty() && config.worker_path[0] != '/')
    return Error{Errc::invalid, "worker_path must be an absolute path, or empty for the usual places"};
  if (config.disk_reserve_mib < 1 || config.disk_reserve_mib > 1048576)
    return Error{Errc::invalid, "disk_reserve_mib must be 1 to 1048576"};
  return {};
}

std::string config_reference() {
  std::string page =
      "# Configuration of samovard\n\n"
      "<!-- Made by `samovard --print-config-reference`; change daemon/config.cpp instead. -->\n\n"
      "`/etc/samovar/samovar.toml` is TOML, `key = value`. A missing file means defaults; command-line flags "
      "win over\n"
      "the file. An unknown key or a wrong value stops the start with a message that names the line.\n"
      "`samovard --check-config` checks a file without starting.\n";
  for (const auto& key : kKeys)
    page += fmt::format("\n## `{}`\n\n{}. Default: `{}`\n\n{}\n", key.name, key.type, default_text(key),
                        key.help);
  return page;
}

}  // namespace samovar::daemon
