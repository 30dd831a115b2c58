// Whether a node has a GPU that trainings can use: asked of a samovar-worker, which opens it and tries it out
// behind its sandbox, so that the daemon itself, which has the keys, never loads a driver.
//
// Threading: find_device blocks for some seconds, on one thread of a pool; the rest are values.
#pragma once
#include <cstdint>
#include <string>

namespace samovar::jobs {

struct DeviceFound {
  bool pending = false;  // it is being looked for
  std::string plugin;
  std::string name;  // "cuda Orin"; empty: there is none to use
  std::uint32_t generation = 0;
  std::string trouble;  // why; a part of a sentence
};

// Without a worker: there is no plug-in to load, or somebody must look.
DeviceFound look_for_plugin(const std::string& plugin);
DeviceFound find_device(const std::string& program, const std::string& plugin);

// What trainings of the node run on, a sentence for its owner.
std::string device_note(const DeviceFound& device);

}  // namespace samovar::jobs
