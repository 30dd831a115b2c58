// Vectors whose memory asks for large pages. Cells of hashed weights are met in no order: with small pages
// most of them would miss the processor's address cache too.
//
// Threading: as std::vector's.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

namespace samovar::trainer {

template <class T>
struct LargePages {
  using value_type = T;
  LargePages() noexcept = default;
  template <class U>
  explicit LargePages(const LargePages<U>&) noexcept {}

  T* allocate(std::size_t count) {
    static constexpr std::size_t kPage = 2u << 20;
    // A large page takes its memory at once: only where the last one is a small part of all.
    if (count > (std::size_t{1} << 48) / sizeof(T)) throw std::bad_alloc();
    const std::size_t bytes = count * sizeof(T);
    const bool large = bytes >= 2 * kPage;
    const std::size_t whole = (bytes + kPage - 1) / kPage * kPage;
    void* const memory = large ? std::aligned_alloc(kPage, whole) : std::malloc(bytes);
    if (memory == nullptr && bytes != 0) throw std::bad_alloc();
    if (large) static_cast<void>(::madvise(memory, whole, MADV_HUGEPAGE));  // only advice: it may be refused
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t) noexcept { std::free(memory); }
  friend bool operator==(const LargePages&, const LargePages&) noexcept { return true; }
};

template <class T>
using LargeVector = std::vector<T, LargePages<T>>;

}  // namespace samovar::trainer
