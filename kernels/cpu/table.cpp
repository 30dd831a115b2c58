// Chooses the loops for this processor, once.
#include <cstdlib>

#include "kernels/cpu/variant.hpp"

// Of libopenblas; its header declares it only in some versions.
extern "C" void openblas_set_num_threads(int);

namespace samovar::kernels {
namespace {

constexpr std::size_t kAlignment = 64;  // a cache line, and the widest vector

void* allocate(std::size_t bytes) {
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

Table make() noexcept {
  // One thread: the callers divide work by rows, and the worker's sandbox lets no library make threads.
  openblas_set_num_threads(1);
  Table table{};
  table.name = "cpu";
  fill_memory(table);
  fill_dense(table);
  baseline::fill_rows(table);
  baseline::fill_families(table);
  baseline::fill_updates(table);
  baseline::fill_vectors(table);
  return table;
}

}  // namespace

void fill_memory(Table& table) noexcept {
  table.allocate = allocate;
  table.release = release;
  table.open_stream = open_stream;
  table.close_stream = close_stream;
  table.wait = wait;
}

const Table& cpu() noexcept {
  static const Table table = make();
  return table;
}

}  // namespace samovar::kernels
