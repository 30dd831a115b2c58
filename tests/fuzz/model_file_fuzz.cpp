// Model files, as they come out of a sealed file or a worker. The checksum is made right first: behind it
// lies what is to be tried.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/encoding.hpp"
#include "trainer/models/model_file.hpp"
#include "trainer/models/scorer.hpp"

using namespace samovar;
using namespace samovar::trainer;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, data + size);
  if (size >= 36) {
    std::uint64_t stored = 0;
    std::memcpy(&stored, bytes.data() + 24, sizeof stored);
    const std::uint64_t weights = stored % size * (bytes[6] == 0 ? 4 : 8);
    const std::uint64_t json = size - 36 - std::min<std::uint64_t>(weights, size - 36);
    std::memcpy(bytes.data() + 8, &json, sizeof json);
    const std::uint32_t sum = crc32(ByteView(bytes).first(size - 4));
    std::memcpy(bytes.data() + size - 4, &sum, sizeof sum);
  }
  const auto parts = decode_model(bytes);
  if (!parts) return 0;
  const auto written = encode_model(parts->glm, *parts->pipeline, parts->about, parts->vectors);
  if (!written) return 0;
  const auto again = decode_model(*written);
  if (!again || again->glm.weights.size() != parts->glm.weights.size()) __builtin_trap();
  const auto scorer = Scorer::open(bytes);
  if (!scorer) return 0;
  std::vector<InputWarning> warnings;
  const auto scored = (*scorer)->score(parts->vectors.rows, {true}, warnings);
  if (!scored) return 0;
  for (const Prediction& one : *scored) {
    if (!std::isfinite(one.value)) __builtin_trap();  // never a NaN for an answer
  }
  return 0;
}
