// Packing and unpacking of blocks in memory, by kind of column: gigabytes of plain values a second.
#include <cstring>
#include <string>

#include "bench/bench.hpp"
#include "bench/samples.hpp"
#include "trainer/data/block.hpp"

namespace {

using namespace samovar;
using namespace samovar::bench;
using namespace samovar::trainer;

// As a trainer reads: numbers as floats, categories as codes, the rest where it lies.
std::uint64_t read_all(const BlockView& view, const Schema& schema, std::vector<float>& floats,
                       std::vector<std::uint32_t>& codes) {
  std::uint64_t bytes = 0;
  for (std::size_t c = 0; c < schema.columns.size(); ++c) {
    const ColumnType type = schema.columns[c].type;
    if (type == ColumnType::category) {
      view.codes(c, 0, codes);
      bytes += codes.size() * sizeof(codes[0]);
    } else if (type != ColumnType::text && type != ColumnType::sparse) {
      view.reals(c, 0, floats);
      bytes += floats.size() * sizeof(floats[0]);
    }
    keep(floats[0]);
    keep(codes[0]);
  }
  return bytes;
}

void time_block(const std::string& name, const Schema& schema, const BlockColumns& block, double budget) {
  const double plain = static_cast<double>(plain_bytes(block));
  Bytes bytes;
  const double packing = best_cpu_seconds(budget, [&] {
    bytes.clear();
    encode_block(block, bytes);
  });
  std::vector<float> floats(block.rows);
  std::vector<std::uint32_t> codes(block.rows);
  Bytes scratch;
  const double reading = best_cpu_seconds(budget, [&] {
    const auto view = BlockView::open(bytes, schema, &scratch);
    keep(read_all(*view, schema, floats, codes));
  });
  Bytes copy(static_cast<std::size_t>(plain));
  const Bytes from(copy.size(), 1);
  const double copying = best_cpu_seconds(budget / 4, [&] {
    std::memcpy(copy.data(), from.data(), copy.size());
    keep(copy[0]);
  });
  print({"blocks", name + ": pack", "GB/s plain", plain / packing / 1e9, plain / copying / 1e9, "memcpy"});
  print({"blocks", name + ": read", "GB/s plain", plain / reading / 1e9, plain / copying / 1e9, "memcpy"});
  print({"blocks", name + ": size", "of plain", static_cast<double>(bytes.size()) / plain, 0, ""});
}

}  // namespace

int main(int argc, char** argv) {
  const double budget = has_flag(argc, argv, "--quick") ? 0.05 : 0.3;
  for (const Sample& sample : single_columns(kBlockRowsMax)) {
    BlockColumns block;
    block.rows = kBlockRowsMax;
    block.columns.push_back(sample.column);
    time_block(sample.name, Schema{{{"x", sample.type}}}, block, budget);
  }
  const auto [click_schema, click] = click_log(kBlockRowsMax, 1);
  time_block("click log", click_schema, click, budget);
  const auto [schema, block] = measurements(kBlockRowsMax, 1);
  time_block("measurements", schema, block, budget);
  return 0;
}
