// A plug-in that fails on purpose, as a device may: how, its file's name says. It computes with the CPU's
// operations.
//
//   planted-none.so      no device answers
//   planted-call.so      its driver asks for a socket once the sandbox is closed
//   planted-crash.so     its driver crashes in the middle of a training
//   planted-launch.so    the device is lost there
//   planted-memory.so    it has no memory for the first rows
//   planted-wrong.so     it computes wrongly
#include <dlfcn.h>
#include <sys/socket.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "kernels/cuda/plugin.hpp"

namespace samovar::kernels {

struct Stream {
  int unused = 0;
};

namespace {

// Of the trial before the door closes, and of the one behind it (daemon/worker/device_trial.cpp).
constexpr int kWaitsBefore = 8;
constexpr int kWaitsOfTrials = 16;
constexpr int kWaitsOfTraining = 60;

std::string mode;
int waits = 0;

bool in_training() { return waits > kWaitsOfTrials + kWaitsOfTraining; }

// The loss, the cells and the intercepts have room, the first rows have none.
void* allocate(std::size_t bytes) {
  static int given = 0;
  if (mode == "memory" && waits >= kWaitsOfTrials && ++given > 3) return nullptr;
  return cpu().allocate(bytes);
}

Stream* open_stream() { return new Stream; }
void close_stream(Stream* stream) { delete stream; }

int wait(Stream*, const char** text) {
  ++waits;
  if (mode == "call" && waits > kWaitsBefore) ::socket(AF_INET, SOCK_STREAM, 0);
  if (mode == "crash" && in_training()) std::abort();
  const bool lost = mode == "launch" && in_training();
  if (text != nullptr) *text = lost ? "planted: the device is lost" : "";
  return lost ? 719 : 0;
}

void margins_cells(Stream*, const Optimizer& optimizer, const Rows& rows, const float* cells,
                   const float* bias, const float* offset, float* out, std::size_t stride) {
  cpu().margins_cells(nullptr, optimizer, rows, cells, bias, offset, out, stride);
  if (mode == "wrong") out[0] += 1;
}

}  // namespace
}  // namespace samovar::kernels

extern "C" int samovar_cuda_table(samovar::kernels::Table* out, std::size_t table_bytes, char* why,
                                  std::size_t why_bytes) {
  using namespace samovar::kernels;
  Dl_info info{};
  ::dladdr(reinterpret_cast<const void*>(&samovar_cuda_table), &info);
  // Tests change what a link leads to while a node runs.
  char* const real = info.dli_fname != nullptr ? ::realpath(info.dli_fname, nullptr) : nullptr;
  const std::string path = real != nullptr ? real : "";
  std::free(real);
  const std::size_t begin = path.rfind("planted-") + 8;
  mode = path.substr(begin, path.rfind(".so") - begin);
  if (table_bytes != sizeof(Table) || mode == "none") {
    std::snprintf(why, why_bytes, "planted: no device answers");
    return 1;
  }
  *out = cpu();
  out->name = "cuda planted";
  out->generation = 87;
  out->allocate = allocate;
  out->open_stream = open_stream;
  out->close_stream = close_stream;
  out->wait = wait;
  out->margins_cells = margins_cells;
  return 0;
}
