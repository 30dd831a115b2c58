// Mistakes on purpose: what the emulator and its race check must find.
#include "tests/kernels/planted.hpp"

#include "kernels/cuda/gpu.hpp"

namespace samovar::kernels {
namespace {

constexpr unsigned kCount = 64;

// Each thread hands its number to the next. Without a barrier a thread may read before its neighbour wrote.
template <bool kBarrier>
__global__ void rotate(int* out) {
  __shared__ int numbers[kCount];
  numbers[threadIdx.x] = static_cast<int>(threadIdx.x);
  if constexpr (kBarrier) __syncthreads();
  out[threadIdx.x] = numbers[(threadIdx.x + 1) % kCount];
  __syncthreads();
  numbers[threadIdx.x] = -1;
}

// Half of the threads wait for the others, who wait for their warp.
__global__ void half_barrier(int* out) {
  int value = 1;
  if (threadIdx.x % 2 == 0)
    __syncthreads();
  else
    value = __shfl_down_sync(0xffffffff, value, 1);
  out[threadIdx.x] = value;
}

}  // namespace

void planted_rotate(bool barrier, int* out) {
  if (barrier)
    SAMOVAR_LAUNCH(rotate<true>, 1, kCount, nullptr, out);
  else
    SAMOVAR_LAUNCH(rotate<false>, 1, kCount, nullptr, out);
}
void planted_half_barrier(int* out) { SAMOVAR_LAUNCH(half_barrier, 1, kCount, nullptr, out); }
void planted_too_many_threads(int* out) { SAMOVAR_LAUNCH(rotate<true>, 1, 2048, nullptr, out); }

}  // namespace samovar::kernels
