// Runs the CUDA threads of a block as fibers, in the order that is set.
//
// This file is compiled without -fsanitize=thread even in the race check: it tells ThreadSanitizer itself
// which fiber runs and where threads meet (SAMOVAR_EMULATOR_RACES), and is not to be watched in between.
#include <algorithm>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "kernels/emulator/emulator.hpp"
#include "kernels/emulator/fiber.hpp"

#if defined(SAMOVAR_EMULATOR_RACES)
extern "C" {
void* __tsan_get_current_fiber();
void* __tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void* fiber);
void __tsan_switch_to_fiber(void* fiber, unsigned flags);
void __tsan_acquire(void* place);
void __tsan_release(void* place);
}
#define SAMOVAR_RACES(statement) statement
#else
#define SAMOVAR_RACES(statement)
#endif

#if defined(__SANITIZE_ADDRESS__)
#define SAMOVAR_EMULATOR_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SAMOVAR_EMULATOR_ASAN
#endif
#endif
#if defined(SAMOVAR_EMULATOR_ASAN)
extern "C" {
void __asan_unpoison_memory_region(const volatile void* base, std::size_t bytes);
void __sanitizer_start_switch_fiber(void** save, const void* base, std::size_t bytes);
void __sanitizer_finish_switch_fiber(void* save, const void** base, std::size_t* bytes);
}
#define SAMOVAR_ASAN(statement) statement
#else
#define SAMOVAR_ASAN(statement)
#endif

namespace samovar::emulator {
namespace {

constexpr int kErrorConfiguration = 9;
constexpr int kErrorLaunch = 719;
constexpr std::size_t kThreadsMax = 1024;

enum class State : std::uint8_t { fresh, ready, at_block, at_warp, done };

struct Thread {
  void* sp = nullptr;
  State state = State::fresh;
  uint3 index{};
  int number = 0;
  FiberStack* stack = nullptr;
  void* watched = nullptr;  // ThreadSanitizer's fiber
};

// What the lanes of a warp have brought to a meeting.
struct Warp {
  std::uint32_t live = 0;
  std::uint32_t arrived = 0;
  std::uint32_t mask[32] = {};
  Meeting kind[32] = {};
  int source[32] = {};
  std::uint64_t value[32] = {};
  std::uint64_t result[32] = {};
  char met = 0;  // an address for ThreadSanitizer
};

void begin_thread();

class Block {
 public:
  int run(dim3 shape, uint3 at, const std::function<void()>& body, std::mt19937& random);
  std::uint64_t meet_warp(std::uint32_t mask, Meeting kind, std::uint64_t value, int source);
  void meet_block();
  int lane() const { return current_->number & 31; }
  void enter();

  Order order = Order::forward;
  std::uint32_t seed = 1;
  std::string failure;

 private:
  FiberStack* take_stack();
  void resume(Thread& thread);
  void leave();
  void finished(Thread& thread);
  bool part_warp(Warp& warp, int first, std::uint32_t mask);
  bool part_any_warp();
  void part_block();
  [[noreturn]] void fail(std::string text);
  void give_back_stacks();
  void arrange(std::mt19937& random);

  std::vector<std::unique_ptr<FiberStack>> stacks_;
  std::vector<FiberStack*> free_;
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  std::vector<int> turns_;
  const std::function<void()>* body_ = nullptr;
  Thread* current_ = nullptr;
  void* scheduler_sp_ = nullptr;
  [[maybe_unused]] void* scheduler_watched_ = nullptr;  // these three: for the race check
  int live_ = 0;
  int at_block_ = 0;
  [[maybe_unused]] char met_block_ = 0;
  [[maybe_unused]] char ended_ = 0;
  SAMOVAR_ASAN(const void* scheduler_stack_ = nullptr; std::size_t scheduler_stack_bytes_ = 0;)
};

Block& block() {
  static Block only;
  return only;
}

void begin_thread() { block().enter(); }

FiberStack* Block::take_stack() {
  if (free_.empty()) {
    stacks_.push_back(std::make_unique<FiberStack>());
    return stacks_.back().get();
  }
  FiberStack* stack = free_.back();
  free_.pop_back();
  return stack;
}

void Block::enter() {
  SAMOVAR_ASAN(__sanitizer_finish_switch_fiber(nullptr, &scheduler_stack_, &scheduler_stack_bytes_);)
  (*body_)();
  SAMOVAR_RACES(__tsan_release(&ended_);)
  current_->state = State::done;
  leave();
  __builtin_unreachable();
}

// From a CUDA thread to the scheduler.
void Block::leave() {
  Thread* const thread = current_;
  SAMOVAR_RACES(__tsan_switch_to_fiber(scheduler_watched_, 1);)
  SAMOVAR_ASAN(void* fake = nullptr; __sanitizer_start_switch_fiber(
                   thread->state == State::done ? nullptr : &fake, scheduler_stack_, scheduler_stack_bytes_);)
  samovar_emulator_switch(&thread->sp, scheduler_sp_);
  SAMOVAR_ASAN(__sanitizer_finish_switch_fiber(fake, nullptr, nullptr);)
}

// From the scheduler to a CUDA thread, until it has to wait or ends.
void Block::resume(Thread& thread) {
  if (thread.state == State::fresh) {
    thread.stack = take_stack();
    SAMOVAR_ASAN(__asan_unpoison_memory_region(thread.stack->base() + 4096, kStackBytes - 4096);)
    thread.sp = prime(*thread.stack, begin_thread);
    SAMOVAR_RACES(thread.watched = __tsan_create_fiber(0);)
  }
  thread.state = State::ready;
  current_ = &thread;
  threadIdx = thread.index;
  SAMOVAR_RACES(__tsan_switch_to_fiber(thread.watched, 1);)
  SAMOVAR_ASAN(void* fake = nullptr;
               __sanitizer_start_switch_fiber(&fake, thread.stack->base(), kStackBytes);)
  samovar_emulator_switch(&scheduler_sp_, thread.sp);
  SAMOVAR_ASAN(__sanitizer_finish_switch_fiber(fake, nullptr, nullptr);)
}

void Block::finished(Thread& thread) {
#if defined(SAMOVAR_EMULATOR_RACES)
  // A stack that another thread of the block took over would look like memory they fight for.
  __tsan_destroy_fiber(std::exchange(thread.watched, nullptr));
#else
  free_.push_back(std::exchange(thread.stack, nullptr));
#endif
  --live_;
  warps_[static_cast<std::size_t>(thread.number) / 32].live &= ~(1u << (thread.number & 31));
  if (live_ != 0 && at_block_ == live_) part_block();  // those who have ended count as arrived
}

void Block::fail(std::string text) {
  failure = std::move(text);
  current_->state = State::at_block;  // never resumed
  leave();
  __builtin_unreachable();
}

// Takes back the stacks that are still out.
void Block::give_back_stacks() {
  for (Thread& thread : threads_) {
    if (thread.stack == nullptr) continue;
    free_.push_back(std::exchange(thread.stack, nullptr));
    SAMOVAR_RACES(if (thread.watched != nullptr) __tsan_destroy_fiber(thread.watched);)
  }
}

void Block::meet_block() {
  SAMOVAR_RACES(__tsan_release(&met_block_);)
  current_->state = State::at_block;
  if (++at_block_ == live_)
    part_block();
  else
    leave();
  SAMOVAR_RACES(__tsan_acquire(&met_block_);)
}
void Block::part_block() {
  at_block_ = 0;
  for (Thread& thread : threads_) {
    if (thread.state == State::at_block) thread.state = State::ready;
  }
}

std::uint64_t Block::meet_warp(std::uint32_t mask, Meeting kind, std::uint64_t value, int source) {
  const int mine = lane();
  const auto number = static_cast<std::size_t>(current_->number);
  Warp& warp = warps_[number / 32];
  if ((mask >> mine & 1) == 0)
    fail("lane " + std::to_string(mine) + " meets others with a mask that does not name it");
  warp.mask[mine] = mask;
  warp.kind[mine] = kind;
  warp.value[mine] = value;
  warp.source[mine] = source;
  warp.arrived |= 1u << mine;
  current_->state = State::at_warp;
  SAMOVAR_RACES(__tsan_release(&warp.met);)
  if (part_warp(warp, static_cast<int>(number & ~std::size_t{31}), mask))
    current_->state = State::ready;
  else
    leave();
  SAMOVAR_RACES(__tsan_acquire(&warp.met);)
  return warps_[number / 32].result[mine];
}

// Lets the lanes of `mask` go on when all that live have come, with their results.
bool Block::part_warp(Warp& warp, int first, std::uint32_t mask) {
  const std::uint32_t all = mask & warp.live;
  if (all == 0 || (warp.arrived & all) != all) return false;
  std::uint64_t ballot = 0;
  const Meeting kind = warp.kind[std::countr_zero(all)];
  for (std::uint32_t rest = all; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (warp.mask[lane] != mask) return false;
    if (warp.kind[lane] != kind) fail("lanes of one warp meet for different things");
    if (warp.value[lane] != 0) ballot |= std::uint64_t{1} << lane;
  }
  for (std::uint32_t rest = all; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const int source = warp.source[lane];
    const bool there = source >= 0 && source < 32 && (all >> source & 1) != 0;
    warp.result[lane] = kind == Meeting::ballot ? ballot : warp.value[there ? source : lane];
    threads_[static_cast<std::size_t>(first + lane)].state = State::ready;
  }
  warp.arrived &= ~all;
  return true;
}
// A lane that ends may be the one the others waited for.
bool Block::part_any_warp() {
  for (std::size_t i = 0; i < warps_.size(); ++i) {
    for (std::uint32_t rest = warps_[i].arrived & warps_[i].live; rest != 0; rest &= rest - 1) {
      if (part_warp(warps_[i], static_cast<int>(i * 32), warps_[i].mask[std::countr_zero(rest)])) return true;
    }
  }
  return false;
}

void Block::arrange(std::mt19937& random) {
  turns_.resize(threads_.size());
  for (std::size_t i = 0; i < turns_.size(); ++i) turns_[i] = static_cast<int>(i);
  if (order == Order::reverse) std::reverse(turns_.begin(), turns_.end());
  if (order == Order::random) std::shuffle(turns_.begin(), turns_.end(), random);
}

int Block::run(dim3 shape, uint3 at, const std::function<void()>& body, std::mt19937& random) {
  const std::size_t count = std::size_t{shape.x} * shape.y * shape.z;
  body_ = &body;
  blockIdx = at;
  threads_.assign(count, {});
  warps_.assign((count + 31) / 32, {});
  for (std::size_t i = 0; i < count; ++i) {
    const auto n = static_cast<unsigned>(i);
    threads_[i].index = {n % shape.x, n / shape.x % shape.y, n / (shape.x * shape.y)};
    threads_[i].number = static_cast<int>(i);
    warps_[i / 32].live |= 1u << (i % 32);
  }
  live_ = static_cast<int>(count);
  at_block_ = 0;
  arrange(random);
  SAMOVAR_RACES(scheduler_watched_ = __tsan_get_current_fiber();)
  while (live_ != 0) {
    bool progress = false;
    for (const int turn : turns_) {
      Thread& thread = threads_[static_cast<std::size_t>(turn)];
      if (thread.state != State::fresh && thread.state != State::ready) continue;
      progress = true;
      resume(thread);
      if (!failure.empty()) break;
      if (thread.state == State::done) finished(thread);
    }
    if (failure.empty() && !progress && !part_any_warp())
      failure = "deadlock: " + std::to_string(at_block_) + " of " + std::to_string(live_) +
                " threads wait at __syncthreads";
    if (!failure.empty()) {
      give_back_stacks();
      return kErrorLaunch;
    }
  }
  give_back_stacks();
  SAMOVAR_RACES(__tsan_acquire(&ended_);)
  return 0;
}

}  // namespace

void set_order(Order order, std::uint32_t seed) {
  block().order = order;
  block().seed = seed;
}
std::string take_failure() { return std::exchange(block().failure, {}); }
std::uint64_t meet_warp(std::uint32_t mask, Meeting kind, std::uint64_t value, int source) {
  return block().meet_warp(mask, kind, value, source);
}
void meet_block() { block().meet_block(); }
int lane() { return block().lane(); }

int run_grid(dim3 grid, dim3 shape, const std::function<void()>& body) {
  const std::size_t threads = std::size_t{shape.x} * shape.y * shape.z;
  const bool fits = threads != 0 && threads <= kThreadsMax && shape.z <= 64 && grid.x != 0 && grid.y != 0 &&
                    grid.z != 0 && grid.y <= 65535 && grid.z <= 65535;
  if (!fits) return kErrorConfiguration;
  blockDim = shape;
  gridDim = grid;
  std::mt19937 random(block().seed);
  std::vector<uint3> blocks;
  for (unsigned z = 0; z < grid.z; ++z) {
    for (unsigned y = 0; y < grid.y; ++y) {
      for (unsigned x = 0; x < grid.x; ++x) blocks.push_back({x, y, z});
    }
  }
  if (block().order == Order::reverse) std::reverse(blocks.begin(), blocks.end());
  if (block().order == Order::random) std::shuffle(blocks.begin(), blocks.end(), random);
  for (const uint3 at : blocks) {
    if (const int error = block().run(shape, at, body, random); error != 0) return error;
  }
  return 0;
}

}  // namespace samovar::emulator
