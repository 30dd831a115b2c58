// A piece of parameters that another worker sent: the first three bytes choose codec, kind of cell and size,
// the next ones what was known before, the rest is the message. Whatever decodes can be gone on with: what a
// codec that rounds leaves is finite, and the next message of an honest sender is taken.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "trainer/sync/codec.hpp"

using namespace samovar;
using namespace samovar::trainer;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kHead = 3;
  constexpr std::size_t kKnownBytes = 16;
  constexpr CellKind kKinds[] = {{1, false, 1}, {2, false, 1}, {2, true, 1}, {3, true, 2}, {5, true, 1}};
  if (size < kHead + kKnownBytes) return 0;
  static const std::vector<std::string_view> kNames = codec_names();
  const auto codec = make_codec(kNames[data[0] % kNames.size()]);
  const CellKind cell = kKinds[data[1] % std::size(kKinds)];
  std::vector<float> known(std::size_t{data[2]} * cell.floats);
  for (std::size_t i = 0; i < known.size(); ++i)
    std::memcpy(&known[i], data + kHead + i % (kKnownBytes / sizeof(float)) * sizeof(float), sizeof(float));
  const std::vector<float> like = known;
  // Memory of its own: what is read beyond the message is seen.
  const Bytes message(data + kHead + kKnownBytes, data + size);
  if (!codec->decode(message, known, like, cell)) return 0;
  if (message.size() > codec->bytes_most(known.size(), cell)) std::abort();
  std::vector<float> receiver = known;
  const std::vector<float> x(known.size(), 1.0f);
  SeededOrder luck(1);
  Bytes next;
  codec->encode(x, known, like, cell, luck, next);
  if (!codec->decode(next, receiver, like, cell)) std::abort();
  if (!known.empty() && std::memcmp(known.data(), receiver.data(), known.size() * sizeof(float)) != 0)
    std::abort();
  return 0;
}
