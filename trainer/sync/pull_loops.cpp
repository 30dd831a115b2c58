#include "trainer/sync/pull_loops.hpp"

#include "trainer/sync/codecs/parts.hpp"

namespace samovar::trainer {

SAMOVAR_CODEC_CLONES
void pull_centre(float* __restrict x, float* __restrict centre, std::size_t count, float alpha) {
  for (std::size_t i = 0; i < count; ++i) {
    const float d = alpha * (x[i] - centre[i]);
    centre[i] += d;
    x[i] = d;
  }
}

SAMOVAR_CODEC_CLONES
void pull_both(float* __restrict x, float* __restrict centre, std::size_t count, float alpha) {
  for (std::size_t i = 0; i < count; ++i) {
    const float d = alpha * (x[i] - centre[i]);
    centre[i] += d;
    x[i] -= d;
  }
}

SAMOVAR_CODEC_CLONES
void take_from(float* __restrict x, const float* __restrict by, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) x[i] -= by[i];
}

}  // namespace samovar::trainer
