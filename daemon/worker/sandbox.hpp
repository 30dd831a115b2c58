// What samovar-worker gives up before it looks at a single byte from outside: files, network, programs,
// privileges. What it needs comes as descriptors over its socket.
//
// Threading: before any thread is made but those of a device's driver.
#pragma once
#include <cstdint>
#include <functional>
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
  bool device = false;       // what a GPU's driver needs of what is open already is allowed as well
};

// Opens a device: its driver's files, its threads, its memory. True when there is one to be used.
using OpenDevice = std::function<bool()>;

// For good: it cannot be left, and threads made later are in it. An error means that it is not closed, and
// then no outside byte may be read.
//
// `open_device` is called when all but the system calls is given up. It may leave threads: they are in the
// sandbox as well. Without it, or when it opens none, the sandbox is the one without a device.
Result<SandboxState> enter_sandbox(const SandboxLimits& limits = {}, const OpenDevice& open_device = {});

// For tests: tries one thing that the sandbox refuses ("open", "create", "socket", "execve", "ptrace",
// "fork", "unix_socket", "kill", "exec_memory", "ioctl": one that names a network interface, "device_ioctl":
// one of a GPU's, "socket_ioctl": a GPU's on the worker's own socket, "long_ioctl": the same by a number
// whose lower half it is, and "nothing"). True when it went through, to whatever the kernel said then;
// nothing for a name it does not know.
std::optional<bool> attempt(std::string_view call);

}  // namespace samovar::worker
