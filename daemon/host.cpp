#include "daemon/host.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace samovar::daemon {
namespace {

bool may_map_writable_code() {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* memory = mmap(nullptr, page, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  munmap(memory, page);
  return true;
}

bool system_is_read_only() {
  struct statvfs fs {};
  return statvfs("/usr", &fs) == 0 && (fs.f_flag & ST_RDONLY) != 0;
}

}  // namespace

std::string host_name() {
  utsname name{};
  if (uname(&name) != 0) return "samovar";
  std::string host(name.nodename);
  host.resize(std::min(host.find('.'), host.size()));
  std::transform(host.begin(), host.end(), host.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return host.empty() || host == "(none)" ? "samovar" : host;
}

std::vector<std::string> interface_addresses() {
  std::vector<std::string> out;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return out;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || (entry->ifa_flags & IFF_UP) == 0 ||
        (entry->ifa_flags & IFF_LOOPBACK) != 0)
      continue;
    const int family = entry->ifa_addr->sa_family;
    const void* address = nullptr;
    // The kernel's socket addresses are read as what their family says they are.
    if (family == AF_INET) address = &reinterpret_cast<const sockaddr_in*>(entry->ifa_addr)->sin_addr;
    if (family == AF_INET6) address = &reinterpret_cast<const sockaddr_in6*>(entry->ifa_addr)->sin6_addr;
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (address == nullptr || inet_ntop(family, address, text.data(), text.size()) == nullptr) continue;
    if (std::find(out.begin(), out.end(), text.data()) == out.end()) out.emplace_back(text.data());
  }
  freeifaddrs(list);
  // IPv4 first: it is what people type.
  std::stable_partition(out.begin(), out.end(),
                        [](const std::string& a) { return a.find(':') == std::string::npos; });
  return out;
}

std::string machine_arch() {
  utsname name{};
  return uname(&name) == 0 ? name.machine : "unknown";
}

std::uint64_t memory_bytes() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::string worker_program() {
  constexpr const char* kInstalled = "/usr/lib/samovar/samovar-worker";
  char path[4096];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
  if (size <= 0 || size == sizeof path) return kInstalled;
  std::string beside(path, static_cast<std::size_t>(size));
  beside.resize(beside.rfind('/') + 1);
  beside += "samovar-worker";
  return ::access(beside.c_str(), X_OK) == 0 ? beside : kInstalled;
}

std::string sandbox_state() {
  const std::array<bool, 4> fences = {prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1,
                                      prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 2, system_is_read_only(),
                                      !may_map_writable_code()};
  const auto holding = std::count(fences.begin(), fences.end(), true);
  if (holding == static_cast<std::ptrdiff_t>(fences.size())) return "full";
  return holding == 0 ? "off" : "partial";
}

}  // namespace samovar::daemon
