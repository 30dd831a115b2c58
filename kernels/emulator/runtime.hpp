// The part of the CUDA runtime and of cuBLAS that the plug-in calls, on the host. Streams do their work at
// once.
//
// Memory is filled with rubbish when it is had, and counted: a test asks for what was not given back.
#pragma once
#include <cblas.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "kernels/emulator/emulator.hpp"

enum cudaError_t : int {
  cudaSuccess = 0,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInsufficientDriver = 35,
  cudaErrorNoDevice = 100,
  cudaErrorLaunchFailure = 719
};

namespace samovar::emulator {

struct Runtime {
  int devices = 1;
  cudaError_t error = cudaSuccess;  // of the last call that failed
  std::size_t live_bytes = 0;
};
inline Runtime& runtime() {
  static Runtime only;
  return only;
}
inline cudaError_t note(cudaError_t error) {
  if (error != cudaSuccess) runtime().error = error;
  return error;
}

inline constexpr std::size_t kMemoryMax = std::size_t{1} << 32;

}  // namespace samovar::emulator

using cudaStream_t = struct samovar_emulator_stream*;
struct samovar_emulator_stream {
  int unused = 0;
};
struct cudaDeviceProp {
  char name[256];
  int major, minor;
};

inline cudaError_t cudaMallocManaged(void** out, std::size_t bytes) {
  using namespace samovar::emulator;
  // The size is kept in front, at a distance that leaves the rest aligned.
  constexpr std::size_t kFront = 256;
  *out = nullptr;
  if (bytes > kMemoryMax) return note(cudaErrorMemoryAllocation);
  const std::size_t whole = (bytes + kFront - 1) / kFront * kFront + kFront;
  auto* memory = static_cast<char*>(std::aligned_alloc(kFront, whole));
  if (memory == nullptr) return note(cudaErrorMemoryAllocation);
  std::memset(memory, 0xcd, whole);
  std::memcpy(memory, &bytes, sizeof bytes);
  runtime().live_bytes += bytes;
  *out = memory + kFront;
  return cudaSuccess;
}
inline cudaError_t cudaFree(void* memory) {
  if (memory == nullptr) return cudaSuccess;
  char* const front = static_cast<char*>(memory) - 256;
  std::size_t bytes = 0;
  std::memcpy(&bytes, front, sizeof bytes);
  samovar::emulator::runtime().live_bytes -= bytes;
  std::free(front);
  return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t) {
  std::memset(memory, value, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaStreamCreate(cudaStream_t* out) {
  *out = new samovar_emulator_stream;
  return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaGetLastError() {
  return std::exchange(samovar::emulator::runtime().error, cudaSuccess);
}
inline const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInvalidConfiguration:
      return "invalid configuration argument";
    case cudaErrorInsufficientDriver:
      return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
    default:
      return "unspecified launch failure";
  }
}
inline cudaError_t cudaGetDeviceCount(int* out) {
  using namespace samovar::emulator;
  // Like the real one, which leaves the number alone when it fails.
  if (runtime().devices == 0) return note(cudaErrorNoDevice);
  *out = runtime().devices;
  return cudaSuccess;
}
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* out, int) {
  *out = {};
  std::strncpy(out->name, "emulator", sizeof out->name - 1);
  out->major = 8;  // it stands for an Orin
  out->minor = 7;
  return cudaSuccess;
}

enum cublasStatus_t { CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_NOT_INITIALIZED = 1 };
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T };
using cublasHandle_t = struct samovar_emulator_blas*;
struct samovar_emulator_blas {
  int unused = 0;
};
inline cublasStatus_t cublasCreate(cublasHandle_t* out) {
  *out = new samovar_emulator_blas;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t) { return CUBLAS_STATUS_SUCCESS; }
namespace samovar::emulator {
inline CBLAS_TRANSPOSE turn(cublasOperation_t op) { return op == CUBLAS_OP_T ? CblasTrans : CblasNoTrans; }
}  // namespace samovar::emulator
inline cublasStatus_t cublasSgemm(cublasHandle_t, cublasOperation_t ta, cublasOperation_t tb, int m, int n,
                                  int k, const float* alpha, const float* a, int lda, const float* b, int ldb,
                                  const float* beta, float* c, int ldc) {
  cblas_sgemm(CblasColMajor, samovar::emulator::turn(ta), samovar::emulator::turn(tb), m, n, k, *alpha, a,
              lda, b, ldb, *beta, c, ldc);
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasDgemm(cublasHandle_t, cublasOperation_t ta, cublasOperation_t tb, int m, int n,
                                  int k, const double* alpha, const double* a, int lda, const double* b,
                                  int ldb, const double* beta, double* c, int ldc) {
  cblas_dgemm(CblasColMajor, samovar::emulator::turn(ta), samovar::emulator::turn(tb), m, n, k, *alpha, a,
              lda, b, ldb, *beta, c, ldc);
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSgemv(cublasHandle_t, cublasOperation_t op, int m, int n, const float* alpha,
                                  const float* a, int lda, const float* x, int incx, const float* beta,
                                  float* y, int incy) {
  cblas_sgemv(CblasColMajor, samovar::emulator::turn(op), m, n, *alpha, a, lda, x, incx, *beta, y, incy);
  return CUBLAS_STATUS_SUCCESS;
}
