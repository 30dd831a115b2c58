// Which device computes: the CPU always can, a GPU when the plug-in, its libraries, a driver and a device are
// there.
//
// What is missing is never an error: the CPU's table comes back, and `why` says in a sentence what was
// missing.
//
// Threading: any thread. The plug-in is loaded once and stays; a sandboxed process calls best() before it
// closes the door on files (daemon/worker/device.hpp).
#pragma once
#include <cstdint>
#include <string>

#include "kernels/kernels.hpp"

namespace samovar::kernels {

enum class DeviceChoice : std::uint8_t { automatic, cpu, cuda };

inline constexpr const char* kPluginPath = "/usr/lib/samovar/libsamovar-cuda.so";

// `why` is never empty: "computes on the CPU (cpu avx2): no CUDA plug-in is installed".
const Table& best(DeviceChoice choice, std::string& why, const char* plugin = kPluginPath);

// Why the file at `path` is not to be loaded: it is not there, or somebody besides root and the user this
// process runs as could have put it there. Empty: nothing speaks against it.
std::string plugin_fault(const std::string& path);

// "computes on the CPU (cpu avx2): " and the reason.
std::string on_cpu(const std::string& reason);

// Fills what a device's table lacks with the CPU's operations: each waits for the stream and is counted. At
// most one device's table is completed in a process.
Table completed(const Table& device);

// How many operations were done by the CPU because the device has none of them.
std::uint64_t fallbacks() noexcept;

}  // namespace samovar::kernels
