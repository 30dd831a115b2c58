// CUDA kernel sources on the host, for tests: the words of the language, and a scheduler of blocks.
//
// Each CUDA thread is a fiber; a block is run to its end by the thread that launches, its CUDA threads in the
// order that is set (`set_order`). What depends on the order, a missing barrier above all, comes out wrong in
// one of them. Shared memory begins with rubbish. A barrier that not all threads reach is reported as a
// deadlock, a launch that no device takes as an error, both by wait() of the launcher's stream.
//
// Not modelled: warps in lockstep, weak memory order, streams side by side, textures, PTX.
//
// Threading: launches from one thread at a time.
#pragma once
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <tuple>
#include <type_traits>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __shared__ static thread_local  // one block at a time on a thread

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
inline constinit thread_local uint3 threadIdx{};
inline constinit thread_local uint3 blockIdx{};
inline constinit thread_local dim3 blockDim{};
inline constinit thread_local dim3 gridDim{};

namespace samovar::emulator {

enum class Order : std::uint8_t { forward, reverse, random };
void set_order(Order order, std::uint32_t seed = 1);

// Why the last launch that failed did; empty when none has since the last call.
std::string take_failure();

enum class Meeting : std::uint8_t { shuffle, ballot, sync };
// For use by the words below; both may let other threads go first.
std::uint64_t meet_warp(std::uint32_t mask, Meeting kind, std::uint64_t value, int source);
void meet_block();
int lane();
int run_grid(dim3 grid, dim3 block, const std::function<void()>& body);

template <class Kernel, class... Args>
int launch(Kernel* kernel, dim3 grid, dim3 block, Args&&... args) {
  std::tuple<std::decay_t<Args>...> kept(std::forward<Args>(args)...);  // by value, as a device has them
  return run_grid(grid, block, [&] { std::apply([&](auto&... each) { kernel(each...); }, kept); });
}

template <class T>
T shuffle(std::uint32_t mask, T value, int source) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t) && std::is_trivially_copyable_v<T>);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = meet_warp(mask, Meeting::shuffle, bits, source);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace samovar::emulator

inline void __syncthreads() { samovar::emulator::meet_block(); }
inline void __syncwarp(std::uint32_t mask = 0xffffffff) {
  samovar::emulator::meet_warp(mask, samovar::emulator::Meeting::sync, 0, 0);
}
template <class T>
T __shfl_down_sync(std::uint32_t mask, T value, unsigned by, int width = 32) {
  const int lane = samovar::emulator::lane();
  const bool inside = (lane & (width - 1)) + static_cast<int>(by) < width;
  return samovar::emulator::shuffle(mask, value, inside ? lane + static_cast<int>(by) : lane);
}
template <class T>
T __shfl_sync(std::uint32_t mask, T value, int source, int width = 32) {
  const int lane = samovar::emulator::lane();
  return samovar::emulator::shuffle(mask, value, (lane & ~(width - 1)) + (source & (width - 1)));
}
inline unsigned __ballot_sync(std::uint32_t mask, bool holds) {
  return static_cast<unsigned>(
      samovar::emulator::meet_warp(mask, samovar::emulator::Meeting::ballot, holds ? 1 : 0, 0));
}
inline int __popc(unsigned bits) { return std::popcount(bits); }

// Atomics are real ones: the race check is to see them as such.
template <class T, class F>
T samovar_emulator_change(T* place, F change) {
  std::atomic_ref<T> a(*place);
  T old = a.load(std::memory_order_relaxed);
  while (!a.compare_exchange_weak(old, change(old), std::memory_order_relaxed)) {
  }
  return old;
}
template <class T>
T atomicAdd(T* place, std::type_identity_t<T> value) {
  return samovar_emulator_change(place, [value](T old) { return static_cast<T>(old + value); });
}
template <class T>
T atomicMax(T* place, std::type_identity_t<T> value) {
  return samovar_emulator_change(place, [value](T old) { return old < value ? value : old; });
}
template <class T>
T atomicCAS(T* place, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  std::atomic_ref<T>(*place).compare_exchange_strong(expected, value);
  return expected;
}
