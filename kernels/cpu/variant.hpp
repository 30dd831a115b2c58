// The CPU's loops are compiled once for each instruction set; SAMOVAR_KERNELS_VARIANT names the namespace
// they are in. Nothing of the standard library is called in them: a function of it compiled for a newer
// processor could be the copy the linker keeps for everybody.
#pragma once
#include "kernels/kernels.hpp"

#ifndef SAMOVAR_KERNELS_VARIANT
#define SAMOVAR_KERNELS_VARIANT baseline
#endif

#define SAMOVAR_KERNELS_DECLARE(variant) \
  namespace variant {                    \
  void fill_rows(Table&) noexcept;       \
  void fill_families(Table&) noexcept;   \
  void fill_updates(Table&) noexcept;    \
  void fill_vectors(Table&) noexcept;    \
  }

namespace samovar::kernels {
SAMOVAR_KERNELS_DECLARE(baseline)
#if defined(__x86_64__)
SAMOVAR_KERNELS_DECLARE(avx2)
SAMOVAR_KERNELS_DECLARE(avx512)
#endif

// Once for all instruction sets: what OpenBLAS does, and memory.
void fill_dense(Table&) noexcept;
void fill_memory(Table&) noexcept;
}  // namespace samovar::kernels
