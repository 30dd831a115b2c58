// Launches of planted.cu; `out` is 64 numbers.
#pragma once

namespace samovar::kernels {

void planted_rotate(bool barrier, int* out);
void planted_half_barrier(int* out);
void planted_too_many_threads(int* out);

}  // namespace samovar::kernels
