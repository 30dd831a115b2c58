// A thread of control on its own small stack, switched by hand: a CUDA thread of the emulator.
//
// Threading: a fiber stays on the OS thread that made it.
#pragma once
#include <cstddef>

namespace samovar::emulator {

inline constexpr std::size_t kStackBytes = 128 * 1024;

// Memory with a page below that may not be touched: an overflow is a fault, not a riddle.
class FiberStack {
 public:
  FiberStack();
  ~FiberStack();
  FiberStack(const FiberStack&) = delete;
  FiberStack& operator=(const FiberStack&) = delete;
  char* base() const { return base_; }

 private:
  char* base_ = nullptr;
};

// The stack pointer of a fiber that will begin with `entry`, which never returns.
void* prime(const FiberStack& stack, void (*entry)());

}  // namespace samovar::emulator

// Saves the callee's registers and the stack pointer, takes up those at `load`.
extern "C" void samovar_emulator_switch(void** save, void* load);
