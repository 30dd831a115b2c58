#include "trainer/data/pack.hpp"

#include "trainer/data/pack_loops.hpp"

namespace samovar::trainer::pack {

const Table& table() noexcept { return kLoops; }

}  // namespace samovar::trainer::pack
