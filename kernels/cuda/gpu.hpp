// What every .cu file here shares: the runtime (or its emulation), launches, sums of a warp and of a block.
//
// C++17. The same files are compiled by nvcc, and by the C++ compiler with the emulator for tests.
#pragma once
#include "kernels/kernels.hpp"
#include "kernels/ops/hd.hpp"

#if defined(__CUDACC__)
#include <cublas_v2.h>
#include <cuda_runtime.h>
#define SAMOVAR_LAUNCH(kernel, grid, block, stream, ...) kernel<<<(grid), (block), 0, (stream)>>>(__VA_ARGS__)
#else
#include "kernels/emulator/runtime.hpp"
#define SAMOVAR_LAUNCH(kernel, grid, block, stream, ...)             \
  ((void)(stream), samovar::emulator::note(static_cast<cudaError_t>( \
                       samovar::emulator::launch(kernel, (grid), (block), __VA_ARGS__))))
#endif

namespace samovar::kernels {

struct Stream {
  cudaStream_t queue = nullptr;
  cublasHandle_t blas = nullptr;  // made with the first dense product: most streams have none
  bool blas_failed = false;
  float* scratch = nullptr;  // kStepRowsMax floats, for margins between the parts of a step
};

namespace gpu {

constexpr unsigned kThreads = 256;  // of a block
constexpr unsigned kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffff;

// Enough blocks to fill the boards' few processors several times; loops stride over the rest.
inline unsigned blocks_for(std::size_t threads) {
  const std::size_t blocks = (threads + kThreads - 1) / kThreads;
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks > 128 ? 128 : blocks);
}

#define SAMOVAR_DEVICE static __device__ __forceinline__

SAMOVAR_DEVICE std::size_t first_index() { return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; }
SAMOVAR_DEVICE std::size_t index_stride() { return std::size_t{gridDim.x} * blockDim.x; }

// Maxwell (TX1) has no atomic sum of doubles.
SAMOVAR_DEVICE void add(double* place, double value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600
  auto* word = reinterpret_cast<unsigned long long*>(place);
  unsigned long long old = *word;
  for (;;) {
    const unsigned long long seen =
        atomicCAS(word, old,
                  static_cast<unsigned long long>(
                      __double_as_longlong(__longlong_as_double(static_cast<long long>(old)) + value)));
    if (seen == old) return;
    old = seen;
  }
#else
  atomicAdd(place, value);
#endif
}
SAMOVAR_DEVICE void add(float* place, float value) { atomicAdd(place, value); }

// The sum of a warp's values, in lane 0.
template <class T>
SAMOVAR_DEVICE T warp_sum(T value) {
  for (unsigned by = kWarp / 2; by > 0; by /= 2) value += __shfl_down_sync(kAllLanes, value, by);
  return value;
}

// The sum of a block's values, in thread 0. All threads of a block of kThreads call it.
SAMOVAR_DEVICE double block_sum(double value) {
  __shared__ double parts[kThreads / kWarp];
  const double mine = warp_sum(value);
  if (threadIdx.x % kWarp == 0) parts[threadIdx.x / kWarp] = mine;
  __syncthreads();
  double total = threadIdx.x < kThreads / kWarp ? parts[threadIdx.x] : 0.0;
  if (threadIdx.x < kWarp) total = warp_sum(total);
  __syncthreads();  // the parts may be written again right after
  return total;
}

}  // namespace gpu

// Each file's share of the plug-in's table.
void fill_cuda_rows(Table&);
void fill_cuda_families(Table&);
void fill_cuda_updates(Table&);
void fill_cuda_vectors(Table&);
void fill_cuda_dense(Table&);

}  // namespace samovar::kernels
