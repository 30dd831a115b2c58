// Messages of strategies with slices: a head of fixed length, and a payload behind it.
//
// Threading: values.
// Format:    docs/formats/parameter-exchange.md
#pragma once
#include <cstddef>
#include <span>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace samovar::trainer {

// Before the payload: floats behind it lie as they should.
inline constexpr std::size_t kSlicedHeadBytes = 64;

// Of a body whose payload is floats as they are.
inline std::span<float> floats_of(Bytes& body) {
  return {reinterpret_cast<float*>(body.data() + kSlicedHeadBytes),
          (body.size() - kSlicedHeadBytes) / sizeof(float)};
}

inline Error damaged_slice() { return {Errc::corrupt, "parameters that another worker sent are damaged"}; }

}  // namespace samovar::trainer
