#include "daemon/worker/device.hpp"

#include <algorithm>
#include <unordered_map>

#include "kernels/devices.hpp"

namespace samovar::worker {
namespace {

using kernels::Table;

// A table's functions know no owner: what bounds its memory is the process's.
struct Bound {
  const Table* device = nullptr;
  Table table;  // the device's, with the two below
  std::uint64_t bytes_max = 0;
  std::uint64_t bytes = 0;
  std::unordered_map<void*, std::size_t> given;
};
Bound& bound() {
  static Bound only;
  return only;
}

// As if the device had no more: the CPU then trains, or the job ends with a sentence.
void* allocate(std::size_t bytes) {
  Bound& all = bound();
  if (bytes > all.bytes_max - std::min(all.bytes, all.bytes_max)) return nullptr;
  void* const memory = all.device->allocate(bytes);
  if (memory == nullptr) return nullptr;
  all.given[memory] = bytes;
  all.bytes += bytes;
  return memory;
}

void release(void* memory) {
  Bound& all = bound();
  if (const auto found = all.given.find(memory); found != all.given.end()) {
    all.bytes -= found->second;
    all.given.erase(found);
  }
  all.device->release(memory);
}

}  // namespace

Device::Device(std::string plugin, std::uint64_t bytes_max) : plugin_(std::move(plugin)) {
  bound().bytes_max = bytes_max;
}

bool Device::fail(std::string why) {
  trouble_ = std::move(why);
  table_ = nullptr;
  return false;
}

bool Device::open() {
  if (std::string fault = kernels::plugin_fault(plugin_); !fault.empty()) return fail(std::move(fault));
  std::string why;
  const Table& device = kernels::best(kernels::DeviceChoice::cuda, why, plugin_.c_str());
  if (&device == &kernels::cpu()) {
    // What follows the words about the CPU, which whoever shows this says itself.
    const std::string lead = kernels::on_cpu("");
    return fail(why.rfind(lead, 0) == 0 ? why.substr(lead.size()) : why);
  }
  Bound& all = bound();
  all.device = &device;
  all.table = device;
  all.table.allocate = &allocate;
  all.table.release = &release;
  table_ = &all.table;
  return prove();
}

bool Device::prove() {
  if (table_ == nullptr) return false;
  const auto tried = try_steps(*table_);
  return tried ? true : fail(tried.error().message());
}

}  // namespace samovar::worker
