#include "trainer/data/pack.hpp"

#include "trainer/data/pack_loops.hpp"

namespace samovar::trainer::pack {

const Table& baseline_table() noexcept { return kLoops; }

#ifdef SAMOVAR_PACK_AVX2
const Table& avx2_table() noexcept;  // pack_avx2.cpp

const Table& table() noexcept {
  static const Table& chosen = __builtin_cpu_supports("avx2") ? avx2_table() : kLoops;
  return chosen;
}
#else
const Table& table() noexcept { return kLoops; }
#endif

}  // namespace samovar::trainer::pack
