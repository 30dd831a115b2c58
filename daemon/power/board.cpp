#include "daemon/power/board.hpp"

#include <algorithm>

namespace samovar::power {
namespace {

constexpr std::string_view kTegraPrefix = "nvidia,tegra";
constexpr unsigned kCoresMax = 4096;

// "0-3,6" is five processors.
unsigned count_cpu_list(std::string_view list) {
  std::int64_t count = 0;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view part = list.substr(0, comma);
    const std::size_t dash = part.find('-');
    const auto first = parse_number(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_number(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= kCoresMax) return 0;
    count += *last - *first + 1;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return static_cast<unsigned>(count);
}

// The value of "key   : value" in /proc/cpuinfo.
std::string cpuinfo_value(std::string_view text, std::string_view key) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || line.substr(0, key.size()) != key) continue;
    if (line.substr(key.size(), colon - key.size()).find_first_not_of(" \t") != std::string_view::npos)
      continue;
    const std::size_t start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string_view::npos ? std::string() : std::string(line.substr(start));
  }
  return {};
}

// "# R32 (release), REVISION: 7.1, GCID: …" is "R32.7.1".
std::string parse_release(std::string_view text) {
  constexpr std::string_view kRevision = "REVISION: ";
  const std::size_t r = text.find('R');
  if (text.substr(0, 2) != "# " || r != 2) return {};
  const std::string major(text.substr(r, text.find(' ', r) - r));
  const std::size_t revision = text.find(kRevision);
  if (revision == std::string_view::npos) return major;
  const std::string_view rest = text.substr(revision + kRevision.size());
  return major + "." + std::string(rest.substr(0, rest.find_first_of(", \n")));
}

std::string dmi_model(const Sysfs& sys) {
  const std::string vendor = sys.text("/sys/class/dmi/id/sys_vendor").value_or("");
  const std::string product = sys.text("/sys/class/dmi/id/product_name").value_or("");
  if (product.empty() || product.rfind(vendor, 0) == 0) return product;
  return vendor.empty() ? product : vendor + " " + product;
}

}  // namespace

Board identify_board(const Sysfs& sys) {
  Board board;
  for (const std::string& name : sys.strings("/proc/device-tree/compatible"))
    if (name.rfind(kTegraPrefix, 0) == 0) board.soc = name.substr(name.find(',') + 1);
  board.jetson_release = parse_release(sys.text("/etc/nv_tegra_release").value_or(""));

  const std::string cpuinfo = sys.text("/proc/cpuinfo", 16384).value_or("");
  board.cpu_name = cpuinfo_value(cpuinfo, "model name");
  board.virtual_machine =
      (" " + cpuinfo_value(cpuinfo, "flags") + " ").find(" hypervisor ") != std::string::npos ||
      sys.exists("/sys/hypervisor/type");

  const auto tree = sys.text("/proc/device-tree/model");
  board.model = tree ? *tree : sys.text("/sys/firmware/devicetree/base/model").value_or(dmi_model(sys));
  if (board.model.empty()) board.model = board.cpu_name.empty() ? "unknown computer" : board.cpu_name;
  if (board.virtual_machine) board.model += " (virtual machine)";

  board.cores = std::max(1U, count_cpu_list(sys.text("/sys/devices/system/cpu/online").value_or("")));
  return board;
}

}  // namespace samovar::power
