// A GPU in the worker: opened through the CUDA plug-in before the sandbox closes, tried out behind it.
//
//   open    plugin_fault, dlopen, the driver's context, a stream; a trial step loads every kernel that a
//   training
//           may ask for and is compared with what the CPU makes of the same rows
//   close   enter_sandbox: what the driver needs from here on is ioctls on what is open
//   prove   the same trial behind the door: a call that the driver makes and the door refuses ends the
//   process
//           now, before it has a key, and not an hour into a training
//
// Whatever goes wrong is a sentence and leaves the CPU.
//
// Threading: the worker's first thread; the driver starts its own. At most one in a process.
#pragma once
#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "kernels/kernels.hpp"

namespace samovar::worker {

class Device {
 public:
  // `bytes_max`: of its memory, which the limits of the process do not count.
  Device(std::string plugin, std::uint64_t bytes_max);

  // Before the sandbox closes. False: trouble() says why.
  bool open();
  // After. Likewise.
  bool prove();

  // Null: none.
  const kernels::Table* table() const noexcept { return table_; }
  // A part of a sentence.
  const std::string& trouble() const noexcept { return trouble_; }

 private:
  bool fail(std::string why);

  const std::string plugin_;
  const kernels::Table* table_ = nullptr;
  std::string trouble_;
};

// One step of each rule, for one output and for several classes, on the table and on the CPU.
// Errc::unavailable when the device says an error, or when what it computed is not near what the CPU
// computed.
Result<void> try_steps(const kernels::Table& table);

}  // namespace samovar::worker
