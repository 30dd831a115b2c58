#include "kernels/devices.hpp"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>

#include "kernels/cuda/plugin.hpp"

namespace samovar::kernels {
namespace {

std::atomic<std::uint64_t> fallback_count{0};
int (*device_wait)(Stream*, const char**) = nullptr;

// The CPU's operation in a device's place. Its memory can be read and written after a wait; an error the wait
// reports is the device's, and comes again at the caller's own wait.
template <auto member, class Function>
struct Fallback;
template <auto member, class... Args>
struct Fallback<member, void (*)(Stream*, Args...)> {
  static void call(Stream* stream, Args... args) {
    fallback_count.fetch_add(1, std::memory_order_relaxed);
    device_wait(stream, nullptr);
    (cpu().*member)(nullptr, args...);
  }
};

template <auto member>
void complete(Table& table) {
  if (table.*member == nullptr) table.*member = Fallback<member, std::decay_t<decltype(table.*member)>>::call;
}

template <auto... members>
void complete_all(Table& table) {
  (complete<members>(table), ...);
}

// Whether nobody but root and ourselves can change what lies under this name.
bool is_ours(const char* path, bool folder) {
  struct stat info {};
  if (::lstat(path, &info) != 0) return false;
  if (info.st_uid != 0 && info.st_uid != ::geteuid()) return false;
  if (folder ? !S_ISDIR(info.st_mode) : !S_ISREG(info.st_mode)) return false;
  const bool others_write = (info.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  // In a folder such as /tmp everybody makes files, and nobody replaces those of others.
  return !others_write || (folder && (info.st_mode & S_ISVTX) != 0);
}

// The table of the plug-in at `path`, or why there is none.
bool load(const char* path, Table& out, std::string& why) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* text = dlerror();
    const std::string reason = text != nullptr ? text : "";
    // dlopen has one message for both: the file itself is not there, or a library it needs.
    why = reason.rfind(std::string(path) + ": cannot open", 0) == 0
              ? "no CUDA plug-in is installed"
              : "the CUDA plug-in does not load: " + reason;
    return false;
  }
  using Entry = decltype(&samovar_cuda_table);
  Entry entry = nullptr;
  void* symbol = dlsym(library, "samovar_cuda_table");
  std::memcpy(&entry, &symbol, sizeof entry);
  char text[200] = "";
  if (entry == nullptr)
    why = "the CUDA plug-in has no table";
  else if (entry(&out, sizeof out, text, sizeof text) != 0)
    why = std::string("no GPU to use: ") + text;
  else
    return true;
  dlclose(library);
  return false;
}

}  // namespace

Table completed(const Table& device) {
  Table table = device;
  device_wait = device.wait;
  complete_all<&Table::margins, &Table::margins_f64, &Table::margins_cells, &Table::gradient,
               &Table::gradient_f64, &Table::gram_f64, &Table::means, &Table::means_f64, &Table::residuals,
               &Table::residuals_f64, &Table::curvatures_f64, &Table::deviance_f64, &Table::softmax,
               &Table::softmax_residuals, &Table::softmax_residuals_f64, &Table::update_rows,
               &Table::step_rows, &Table::update_dense, &Table::update_places, &Table::weights_of_cells,
               &Table::elastic_pull, &Table::sum, &Table::sum_squares, &Table::dot, &Table::max,
               &Table::dot_f64, &Table::axpy, &Table::axpy_f64, &Table::gemm, &Table::gemm_f64, &Table::gemv,
               &Table::cholesky_f64, &Table::cholesky_solve_f64, &Table::cholesky_inverse_f64>(table);
  return table;
}

std::uint64_t fallbacks() noexcept { return fallback_count.load(std::memory_order_relaxed); }

const Table& best(DeviceChoice choice, std::string& why, const char* plugin) {
  if (choice == DeviceChoice::cpu) {
    why = on_cpu("as asked for");
    return cpu();
  }
  static std::mutex mutex;  // loading is rare, and once it was done the answer stays
  static std::unique_ptr<const Table> loaded;
  const std::lock_guard<std::mutex> lock(mutex);
  if (!loaded) {
    Table table{};
    std::string reason;
    if (!load(plugin, table, reason)) {
      why = on_cpu(reason);
      return cpu();
    }
    loaded = std::make_unique<const Table>(completed(table));
  }
  why = std::string("computes on the GPU (") + loaded->name + ")";
  return *loaded;
}

std::string on_cpu(const std::string& reason) {
  return std::string("computes on the CPU (") + cpu().name + "): " + reason;
}

std::string plugin_fault(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return "no CUDA plug-in is installed";
  // Where links lead is what counts, and what is loaded.
  char* const resolved = ::realpath(path.c_str(), nullptr);
  std::string real = resolved != nullptr ? resolved : "";
  std::free(resolved);
  bool safe = !real.empty() && is_ours(real.c_str(), false);
  while (safe && real.size() > 1) {
    real.resize(std::max<std::size_t>(real.rfind('/'), 1));
    safe = is_ours(real.c_str(), true);
  }
  if (safe) return "";
  return "the CUDA plug-in " + path +
         " is not loaded: it and the folders above it must belong to root, and nobody else may write there";
}

}  // namespace samovar::kernels
