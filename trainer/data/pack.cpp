#include "trainer/data/pack.hpp"

namespace samovar::trainer::pack {

const Table& table() noexcept {
#ifdef SAMOVAR_PACK_AVX2
  const auto choose = []() -> const Table& {
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
      return avx512_table();
    return __builtin_cpu_supports("avx2") ? avx2_table() : baseline_table();
  };
  static const Table& chosen = choose();
  return chosen;
#else
  return baseline_table();
#endif
}

}  // namespace samovar::trainer::pack
