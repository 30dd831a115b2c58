// The same loops for processors with AVX2; this file alone is compiled for them.
#include "trainer/data/pack_loops.hpp"

namespace samovar::trainer::pack {

const Table& avx2_table() noexcept;
const Table& avx2_table() noexcept { return kLoops; }

}  // namespace samovar::trainer::pack
