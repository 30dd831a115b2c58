#include "bench/training_data.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "bench/bench.hpp"
#include "bench/click_text.hpp"
#include "bench/planted_clicks.hpp"
#include "bench/sources.hpp"
#include "daemon/ingest/detect.hpp"
#include "trainer/data/block_slice.hpp"

namespace samovar::bench {

namespace {

trainer::JobSpec logistic(const std::string& target) {
  trainer::JobSpec spec;
  spec.name = "bench";
  spec.dataset_id = "dst_bench";
  spec.target = target;
  spec.split.valid = 0.05;
  spec.split.test = 0.1;
  spec.parameters = {{"solver", "ftrl"}, {"early_stop", false}};
  return spec;
}

}  // namespace

namespace {

std::string_view column_of(std::string_view line, unsigned column) {
  for (; column > 0; --column) line.remove_prefix(std::min(line.size(), line.find('\t') + 1));
  return line.substr(0, line.find('\t'));
}

// A part at a time, each its own: ingest deals the rows of a file to all shards.
void ingest_in_order(std::string text, unsigned column, const ingest::IngestPlan& plan, TrainingData& data,
                     const std::filesystem::path& path) {
  constexpr std::size_t kParts = 64;
  std::vector<std::string_view> lines;
  for (std::string_view left = text; !left.empty();) {
    const std::size_t end = left.find('\n') + 1;
    lines.push_back(left.substr(0, end));
    left.remove_prefix(end);
  }
  std::stable_sort(lines.begin(), lines.end(), [column](std::string_view a, std::string_view b) {
    return column_of(a, column) < column_of(b, column);
  });
  for (std::size_t part = 0; part < kParts; ++part) {
    {
      std::ofstream file(path, std::ios::binary);
      for (std::size_t i = lines.size() * part / kParts; i < lines.size() * (part + 1) / kParts; ++i)
        file.write(lines[i].data(), static_cast<std::streamsize>(lines[i].size()));
      if (!file.flush()) fail("cannot write " + path.string());
    }
    ingest::IngestPlan own = plan;
    own.raw_bytes = std::filesystem::file_size(path);
    FileSource source(path);
    need(ingest::run_ingest(source, own, *data.blocks, {}));
  }
}

}  // namespace

std::unique_ptr<TrainingData> generated_clicks(std::uint64_t rows, unsigned hash_bits,
                                               std::optional<unsigned> sorted_by) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("samovar-bench-" + std::to_string(::getpid()) + ".tsv");
  std::string text;
  {
    std::ofstream file(path, std::ios::binary);
    for (std::uint64_t first = 0; first < rows; first += 10'000) {
      if (!sorted_by) text.clear();
      append_planted_clicks(text, first, std::min<std::uint64_t>(10'000, rows - first), 1);
      if (!sorted_by) file.write(text.data(), static_cast<std::streamsize>(text.size()));
    }
    if (!file.flush()) fail("cannot write " + path.string());
  }
  auto data = std::make_unique<TrainingData>();
  data->name = "generated clicks, " + std::to_string(rows) + " rows";
  ingest::IngestPlan plan;
  plan.options = click_options();
  plan.schema = click_schema();
  plan.raw_bytes = std::filesystem::file_size(path);
  if (sorted_by) {
    ingest_in_order(std::move(text), *sorted_by, plan, *data, path);
  } else {
    FileSource source(path);
    need(ingest::run_ingest(source, plan, *data->blocks, {}));
  }
  std::filesystem::remove(path);
  data->schema = plan.schema;
  data->spec = logistic(plan.schema.columns[0].name);
  data->spec.features.categories = trainer::FeatureOptions::Categories::hash;
  data->spec.features.numbers = trainer::FeatureOptions::Numbers::hash;
  data->spec.features.hash_bits = hash_bits;
  return data;
}

std::unique_ptr<TrainingData> data_of_file(const std::string& path, const std::string& target) {
  auto data = std::make_unique<TrainingData>();
  data->name = std::filesystem::path(path).filename();
  FileSource sample(path);
  const auto found = need(ingest::detect(sample, path, ingest::ParseHints{}));
  ingest::IngestPlan plan;
  plan.options = found.options;
  plan.raw_bytes = std::filesystem::file_size(path);
  for (const auto& column : found.columns) plan.schema.columns.push_back(column.spec);
  if (plan.schema.columns.empty()) fail(path + " has no columns");
  FileSource source(path);
  data->schema = need(ingest::run_ingest(source, plan, *data->blocks, {})).schema;
  data->spec = logistic(target.empty() ? data->schema.columns[0].name : target);
  if (!data->schema.find(data->spec.target)) fail("there is no column \"" + data->spec.target + "\"");
  return data;
}

void cut(TrainingData& data, std::size_t blocks) {
  std::uint64_t rows = 0;
  for (std::size_t block = 0; block < data.blocks->blocks(); ++block) rows += data.blocks->rows(block);
  const auto most = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, rows / blocks));
  auto parts = std::make_unique<MemoryBlocks>();
  Bytes whole, part;
  for (std::size_t block = 0; block < data.blocks->blocks(); ++block) {
    need(data.blocks->read(block, whole));
    const trainer::BlockView view = need(trainer::BlockView::open(whole, data.schema));
    for (std::uint32_t first = 0; first < data.blocks->rows(block); first += most) {
      const std::uint32_t count = std::min(most, data.blocks->rows(block) - first);
      part.clear();
      trainer::slice_block(view, data.schema, first, count, part);
      need(parts->block(0, count, part));
    }
  }
  data.blocks = std::move(parts);
}

std::vector<std::vector<std::uint32_t>> deal(std::size_t blocks, std::size_t workers) {
  std::vector<std::vector<std::uint32_t>> dealt(workers);
  for (std::uint32_t block = 0; block < blocks; ++block) dealt[block % workers].push_back(block);
  return dealt;
}

std::vector<std::vector<std::uint32_t>> deal_runs(std::size_t blocks, std::size_t workers) {
  std::vector<std::vector<std::uint32_t>> dealt(workers);
  for (std::uint32_t block = 0; block < blocks; ++block) dealt[block * workers / blocks].push_back(block);
  return dealt;
}

}  // namespace samovar::bench
