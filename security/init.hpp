// The first call of every program: readies libsodium and closes the process to its neighbours.
#pragma once
#include "base/result.hpp"

namespace samovar::security {

struct InitOptions {
  // Stop when secrets cannot be locked into memory. Without it they may reach swap, and
  // unlocked_secrets() counts them.
  bool require_locked_memory = false;
  // No core dumps, no ptrace by the same user. Off for programs under a debugger.
  bool harden_process = true;
};

// May be called again; options of later calls add to those of earlier ones.
Result<void> init(const InitOptions& options = {});

}  // namespace samovar::security
