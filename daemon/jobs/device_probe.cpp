#include "daemon/jobs/device_probe.hpp"

#include <signal.h>
#include <sys/wait.h>

#include "base/clock.hpp"
#include "daemon/jobs/worker_process.hpp"
#include "kernels/devices.hpp"

namespace samovar::jobs {
namespace {

constexpr std::uint64_t kMemoryMib = 1024;
constexpr std::chrono::seconds kAnswerMax{90};
constexpr std::chrono::milliseconds kListenStep{100};

std::string death(int status) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
    return "the GPU's driver asks the system for something that the worker's sandbox refuses (the kernel's "
           "log, "
           "type=1326, has the number of the call)";
  if (WIFSIGNALED(status)) return "the GPU's driver crashed with signal " + std::to_string(WTERMSIG(status));
  return "the GPU's driver ended the worker";
}

}  // namespace

DeviceFound look_for_plugin(const std::string& plugin) {
  DeviceFound found;
  found.plugin = plugin;
  found.trouble = kernels::plugin_fault(plugin);
  found.pending = found.trouble.empty();
  return found;
}

DeviceFound find_device(const std::string& program, const std::string& plugin) {
  DeviceFound found = look_for_plugin(plugin);
  if (!found.pending) return found;
  found.pending = false;
  auto worker = WorkerProcess::start(program, kMemoryMib, nullptr, plugin);
  if (!worker) {
    found.trouble = worker.error().message();
    return found;
  }
  const MonoTime begin = real_clock().mono();
  for (;;) {
    auto frame = (*worker)->channel().receive(kListenStep);
    if (!frame) {
      found.trouble = death((*worker)->finish());
      return found;
    }
    if (!*frame) {
      if (real_clock().mono() - begin < kAnswerMax) continue;
      found.trouble = "the GPU's driver does not begin within 90 seconds";
      return found;
    }
    const auto ready = ingest::decode_ready((*frame)->body);
    if ((*frame)->type != ingest::MessageType::ready || !ready) {
      const auto failed = ingest::decode_failed((*frame)->body);
      found.trouble = (*frame)->type == ingest::MessageType::failed && failed
                          ? failed->message
                          : "the worker gave an answer that cannot be right";
      return found;
    }
    found.name = ready->device;
    found.generation = ready->generation;
    found.trouble =
        ready->device.empty() && ready->trouble.empty() ? "the GPU does not answer" : ready->trouble;
    return found;
  }
}

std::string device_note(const DeviceFound& device) {
  if (device.pending) return kernels::on_cpu("looks whether a GPU answers");
  if (device.name.empty()) return kernels::on_cpu(device.trouble);
  return "computes on the GPU (" + device.name + ") what gains by it, all else on the CPU (" +
         kernels::cpu().name + ")";
}

}  // namespace samovar::jobs
