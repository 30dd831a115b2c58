// SAMOVAR_HD before a function: the CPU's loops and the CUDA kernels both contain it.
//
// Always inlined and of internal linkage: the CPU's loops are compiled for several instruction sets, and a
// shared copy of an inline function could be the one compiled for a processor that is not there.
#pragma once

#if defined(__CUDACC__)
#define SAMOVAR_HD static __host__ __device__ __forceinline__
#else
#define SAMOVAR_HD [[maybe_unused]] static inline __attribute__((always_inline))
#endif
