// What samovar-worker gives up before it looks at a single byte from outside: files, network, programs,
// privileges. What it needs comes as descriptors over its socket.
//
// Threading: before any thread is made.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace samovar::worker {

struct SandboxLimits {
  std::uint64_t data_bytes_max = std::uint64_t{1} << 30;
  std::uint64_t file_bytes_max = std::uint64_t{16} << 30;
  std::uint64_t descriptors_max = 2176;  // the shards of one version, and a few
};

struct SandboxState {
  bool own_network = false;  // where the kernel lets us; sockets are refused in any case
};

// For good: it cannot be left, and threads made later are in it. An error means that it is not closed, and
// then no outside byte may be read.
Result<SandboxState> enter_sandbox(const SandboxLimits& limits = {});

// For tests: tries one thing that the sandbox refuses ("open", "socket", "execve", "ptrace", "fork",
// "unix_socket", "kill", "exec_memory", and "nothing"). True when it went through; nothing for a name it does
// not know.
std::optional<bool> attempt(std::string_view call);

}  // namespace samovar::worker
