// The CPU's table for each instruction set this processor has, the plainest first; the last is cpu()'s.
#pragma once
#include <vector>

#include "kernels/kernels.hpp"

namespace samovar::kernels {

const std::vector<Table>& cpu_tables() noexcept;

}  // namespace samovar::kernels
