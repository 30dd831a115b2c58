// The plug-in's one entry: fills a table when a device answers, and says why when none does.
#include <cstdio>
#include <cstring>

#include "kernels/cuda/gpu.hpp"
#include "kernels/cuda/plugin.hpp"

namespace samovar::kernels {
namespace {

// Memory both sides may touch: on the boards it is the same chips anyway. The CPU keeps away from it while a
// kernel runs (see Table), which older boards insist on.
void* allocate(std::size_t bytes) {
  void* memory = nullptr;
  if (cudaMallocManaged(&memory, bytes == 0 ? 1 : bytes) != cudaSuccess) {
    cudaGetLastError();  // said by the null; not to be found by the next wait
    return nullptr;
  }
  return memory;
}
void release(void* memory) { cudaFree(memory); }

void close_stream(Stream* stream) {
  if (stream == nullptr) return;
  if (stream->blas != nullptr) cublasDestroy(stream->blas);
  if (stream->queue != nullptr) cudaStreamDestroy(stream->queue);
  release(stream->scratch);
  delete stream;
}
Stream* open_stream() {
  auto* stream = new Stream;
  stream->scratch = static_cast<float*>(allocate(kStepRowsMax * sizeof(float)));
  if (stream->scratch != nullptr && cudaStreamCreate(&stream->queue) == cudaSuccess) return stream;
  cudaGetLastError();  // said by the null
  close_stream(stream);
  return nullptr;
}

int wait(Stream* stream, const char** text) {
  cudaError_t error = cudaStreamSynchronize(stream->queue);
  const cudaError_t launch = cudaGetLastError();
  if (error == cudaSuccess) error = launch;
  if (text != nullptr) *text = error == cudaSuccess ? "" : cudaGetErrorString(error);
  if (error == cudaSuccess && stream->blas_failed) {
    if (text != nullptr) *text = "cuBLAS does not begin";
    return -1;
  }
  return static_cast<int>(error);
}

char device_name[280] = "";

}  // namespace
}  // namespace samovar::kernels

extern "C" int samovar_cuda_table(samovar::kernels::Table* out, std::size_t table_bytes, char* why,
                                  std::size_t why_bytes) {
  using namespace samovar::kernels;
  if (table_bytes != sizeof(Table)) {
    std::snprintf(why, why_bytes, "the plug-in belongs to another version of Samovar");
    return 1;
  }
  int devices = 0;  // left alone by a call that fails
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess || devices == 0) {
    cudaGetLastError();
    std::snprintf(why, why_bytes, "%s", error != cudaSuccess ? cudaGetErrorString(error) : "no GPU answers");
    return 1;
  }
  cudaDeviceProp properties;
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) {
    cudaGetLastError();
    std::snprintf(why, why_bytes, "the GPU does not say what it is");
    return 1;
  }
  std::snprintf(device_name, sizeof device_name, "cuda %s", properties.name);
  Table table{};
  table.name = device_name;
  table.generation = static_cast<std::uint32_t>(properties.major * 10 + properties.minor);
  table.allocate = allocate;
  table.release = release;
  table.open_stream = open_stream;
  table.close_stream = close_stream;
  table.wait = wait;
  fill_cuda_rows(table);
  fill_cuda_families(table);
  fill_cuda_updates(table);
  fill_cuda_vectors(table);
  fill_cuda_dense(table);
  *out = table;
  return 0;
}
