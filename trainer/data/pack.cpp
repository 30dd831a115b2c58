#include "trainer/data/pack.hpp"

namespace samovar::trainer::pack {

const Table& table() noexcept {
#ifdef SAMOVAR_PACK_AVX2
  static const Table& chosen = __builtin_cpu_supports("avx2") ? avx2_table() : baseline_table();
  return chosen;
#else
  return baseline_table();
#endif
}

}  // namespace samovar::trainer::pack
