// The entry of libsamovar-cuda.so, found by name after dlopen.
//
// 0 and a filled table, or 1 and a sentence why there is none. Entries the plug-in does not have are null.
#pragma once
#include <cstddef>

#include "kernels/kernels.hpp"

extern "C" __attribute__((visibility("default"))) int samovar_cuda_table(samovar::kernels::Table* out,
                                                                         std::size_t table_bytes, char* why,
                                                                         std::size_t why_bytes);
