// Chooses the loops for this processor, once.
#include <cstdlib>

#include "kernels/cpu/tables.hpp"
#include "kernels/cpu/variant.hpp"

// Of libopenblas; its header declares it only in some versions.
extern "C" void openblas_set_num_threads(int);

namespace samovar::kernels {
namespace {

constexpr std::size_t kAlignment = 64;  // a cache line, and the widest vector

constexpr std::size_t kBytesMax = std::size_t{1}
                                  << 39;  // more is a mistake, and a sanitizer ends us for asking

void* allocate(std::size_t bytes) {
  if (bytes > kBytesMax) return nullptr;
  const std::size_t whole = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  return std::aligned_alloc(kAlignment, whole == 0 ? kAlignment : whole);
}
void release(void* memory) { std::free(memory); }
Stream* open_stream() { return nullptr; }
void close_stream(Stream*) {}
int wait(Stream*, const char** text) {
  if (text != nullptr) *text = "";
  return 0;
}

struct Variant {
  const char* name;
  bool present;
  void (*fill[4])(Table&) noexcept;
};

std::vector<Table> make() {
  // One thread: the callers divide work by rows, and the worker's sandbox lets no library make threads.
  openblas_set_num_threads(1);
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
                    __builtin_cpu_supports("bmi2") != 0;
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") != 0 &&
                      __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
                      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512cd") != 0;
#define SAMOVAR_FILL(v) \
  { v::fill_rows, v::fill_families, v::fill_updates, v::fill_vectors }
  const Variant variants[] = {{"cpu sse2", true, SAMOVAR_FILL(baseline)},
                              {"cpu avx2", avx2, SAMOVAR_FILL(avx2)},
                              {"cpu avx512", avx512, SAMOVAR_FILL(avx512)}};
#else
#define SAMOVAR_FILL(v) \
  { v::fill_rows, v::fill_families, v::fill_updates, v::fill_vectors }
  // NEON is part of every 64-bit ARM processor.
  const Variant variants[] = {{"cpu neon", true, SAMOVAR_FILL(baseline)}};
#endif
#undef SAMOVAR_FILL
  std::vector<Table> tables;
  for (const Variant& variant : variants) {
    if (!variant.present) continue;
    Table table{};
    table.name = variant.name;
    fill_memory(table);
    fill_dense(table);
    for (const auto fill : variant.fill) fill(table);
    tables.push_back(table);
  }
  return tables;
}

}  // namespace

void fill_memory(Table& table) noexcept {
  table.allocate = allocate;
  table.release = release;
  table.open_stream = open_stream;
  table.close_stream = close_stream;
  table.wait = wait;
}

const std::vector<Table>& cpu_tables() noexcept {
  static const std::vector<Table> tables = make();
  return tables;
}

const Table& cpu() noexcept { return cpu_tables().back(); }

}  // namespace samovar::kernels
