// What codecs cost: floats a second to write and to read, and bytes a float, on cells of a hashed model of
// which 30 % changed since the last message. The peer is fp32, a copy.
#include <cmath>
#include <string>

#include "bench/bench.hpp"
#include "trainer/sync/codec.hpp"

namespace samovar::bench {
namespace {

constexpr std::string_view kBench = "codecs";
constexpr std::size_t kPiece = 32'768;
constexpr std::size_t kPieces = 64;
constexpr trainer::CellKind kCell{2, true, 1};

struct Vectors {
  std::vector<float> before, after;
};
Vectors vectors() {
  trainer::SeededOrder order(1);
  const auto unit = [&] { return static_cast<double>(order.next() >> 40) * 0x1p-24; };
  Vectors out;
  out.before.resize(kPiece * kPieces);
  for (std::size_t i = 0; i < out.before.size(); i += 2) {
    if (unit() < 0.5) continue;
    const double use = std::exp(6 * unit() - 3);
    out.before[i] = static_cast<float>(std::sqrt(use) * (unit() - 0.5));
    out.before[i + 1] = static_cast<float>(use);
  }
  out.after = out.before;
  for (std::size_t i = 0; i < out.after.size(); i += 2) {
    if (unit() > 0.3) continue;
    out.after[i] += static_cast<float>(0.1 * (unit() - 0.5));
    out.after[i + 1] += 0.01f;
  }
  return out;
}

void run(double budget) {
  const Vectors cells = vectors();
  const auto floats = static_cast<double>(cells.before.size());
  double write_fp32 = 0, read_fp32 = 0;
  for (const std::string_view name : trainer::codec_names()) {
    const auto codec = trainer::make_codec(name);
    std::vector<Bytes> messages(kPieces);
    std::vector<float> known;
    std::size_t bytes = 0;
    // Copying the vectors is counted apart and taken off.
    const double copy = best_cpu_seconds(budget, [&] {
      known = cells.before;
      keep(known);
    });
    const double write = best_cpu_seconds(budget, [&] {
      known = cells.before;
      trainer::SeededOrder luck(1);
      for (std::size_t i = 0; i < kPieces; ++i) {
        const auto part = std::span(known).subspan(i * kPiece, kPiece);
        messages[i].clear();
        codec->encode(std::span(cells.after).subspan(i * kPiece, kPiece), part, part, kCell, luck,
                      messages[i]);
      }
    });
    const double read = best_cpu_seconds(budget, [&] {
      known = cells.before;
      bytes = 0;
      for (std::size_t i = 0; i < kPieces; ++i) {
        const auto part = std::span(known).subspan(i * kPiece, kPiece);
        need(codec->decode(messages[i], part, part, kCell));
        bytes += messages[i].size();
      }
    });
    const double writes = floats / (write - copy), reads = floats / (read - copy);
    if (name == "fp32") {
      write_fp32 = writes;
      read_fp32 = reads;
    }
    const std::string metric(name);
    print({kBench, "write_" + metric, "floats/s cpu", writes, write_fp32, "fp32"});
    print({kBench, "read_" + metric, "floats/s cpu", reads, read_fp32, "fp32"});
    print({kBench, "bits_" + metric, "bits per float", 8 * static_cast<double>(bytes) / floats});
  }
}

}  // namespace
}  // namespace samovar::bench

int main(int argc, char** argv) {
  samovar::bench::run(samovar::bench::has_flag(argc, argv, "--quick") ? 0.1 : 1);
  return 0;
}
