// What this computer is called, where it can be reached, and how well it is fenced in.
//
// Threading: any thread.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace samovar::daemon {

std::string host_name();                         // without a domain
std::vector<std::string> interface_addresses();  // up, not loopback; without zones
std::string machine_arch();                      // "x86_64", "aarch64"
std::uint64_t memory_bytes();

// samovar-worker: beside this program, where a build has it, or where the package puts it.
std::string worker_program();

// "full", "partial" or "off": which of the unit's fences (no new privileges, system call filter,
// read-only system, no writable code) really hold.
std::string sandbox_state();

}  // namespace samovar::daemon
