#include "kernels/emulator/fiber.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <cstring>

#include "base/assert.hpp"

#if defined(__x86_64__)
asm(R"(
.text
.p2align 4
.globl samovar_emulator_switch
.type samovar_emulator_switch,@function
samovar_emulator_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp,(%rdi)
  movq %rsi,%rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size samovar_emulator_switch,.-samovar_emulator_switch
)");
#elif defined(__aarch64__)
asm(R"(
.text
.p2align 4
.globl samovar_emulator_switch
.type samovar_emulator_switch,%function
samovar_emulator_switch:
  sub sp,sp,#160
  stp x19,x20,[sp]
  stp x21,x22,[sp,#16]
  stp x23,x24,[sp,#32]
  stp x25,x26,[sp,#48]
  stp x27,x28,[sp,#64]
  stp x29,x30,[sp,#80]
  stp d8,d9,[sp,#96]
  stp d10,d11,[sp,#112]
  stp d12,d13,[sp,#128]
  stp d14,d15,[sp,#144]
  mov x9,sp
  str x9,[x0]
  mov sp,x1
  ldp x19,x20,[sp]
  ldp x21,x22,[sp,#16]
  ldp x23,x24,[sp,#32]
  ldp x25,x26,[sp,#48]
  ldp x27,x28,[sp,#64]
  ldp x29,x30,[sp,#80]
  ldp d8,d9,[sp,#96]
  ldp d10,d11,[sp,#112]
  ldp d12,d13,[sp,#128]
  ldp d14,d15,[sp,#144]
  add sp,sp,#160
  ret
.size samovar_emulator_switch,.-samovar_emulator_switch
)");
#else
#error "the emulator switches fibers on x86-64 and aarch64 only"
#endif

namespace samovar::emulator {
namespace {
constexpr std::size_t kGuardBytes = 4096;
}

FiberStack::FiberStack() {
  void* memory =
      mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  SAMOVAR_ASSERT(memory != MAP_FAILED);
  base_ = static_cast<char*>(memory);
  SAMOVAR_ASSERT(mprotect(base_, kGuardBytes, PROT_NONE) == 0);
}
FiberStack::~FiberStack() { munmap(base_, kStackBytes); }

void* prime(const FiberStack& stack, void (*entry)()) {
  // A mapping and its size are aligned to pages: the top is aligned as the calling conventions want it.
  char* const top = stack.base() + kStackBytes;
  void* start = nullptr;
  std::memcpy(&start, &entry, sizeof start);
#if defined(__x86_64__)
  // As if `entry` had been called: six registers, the return into it, and a return address it never uses.
  constexpr std::size_t kSlots = 8;
  char* const sp = top - kSlots * sizeof(void*);
  std::memset(sp, 0, kSlots * sizeof(void*));
  std::memcpy(sp + 6 * sizeof(void*), &start, sizeof start);
#else
  constexpr std::size_t kFrameBytes = 160;
  char* const sp = top - kFrameBytes;
  std::memset(sp, 0, kFrameBytes);
  std::memcpy(sp + 88, &start, sizeof start);  // x30
#endif
  return sp;
}

}  // namespace samovar::emulator
