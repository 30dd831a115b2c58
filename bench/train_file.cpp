// Trains on a file by hand: train_file FILE SPEC.json OUT
//
// SPEC is the body of POST /api/v1/jobs without its data set; "types" beside it changes what detection found,
// "row_column" names the column that numbers the rows. Writes OUT.json (evaluation and times) and OUT.rows,
// so that another program can fit and judge the very same rows (see glm_quality.py): for each row of float64
// its number, its role (0 train, 1 valid, 2 test), its weight, the target as the model knows it, and what the
// model answers, one value or one for each class. With "exports" true it writes OUT.c, OUT.onnx and
// OUT.model.json too, and says in OUT.json why a form is refused. Without a "row_column" rows are numbered as
// they were read.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "base/json.hpp"
#include "bench/bench.hpp"
#include "bench/sources.hpp"
#include "daemon/ingest/detect.hpp"
#include "daemon/ingest/pipeline.hpp"
#include "trainer/features/pipeline.hpp"
#include "trainer/models/scorer.hpp"
#include "trainer/train.hpp"

namespace {

using namespace samovar;
using bench::fail;
using bench::need;
using nlohmann::json;

// Blocks in memory, in the order of the file.
class Blocks final : public ingest::ShardSink, public trainer::BlockSource {
 public:
  Result<void> block(std::uint32_t, std::uint32_t rows, ByteView encoded) override {
    rows_.push_back(rows);
    bytes_.push_back(to_bytes(encoded));
    return {};
  }
  Result<void> bad_row(std::string_view) override { return {}; }
  std::size_t blocks() const override { return rows_.size(); }
  std::uint32_t rows(std::size_t block) const override { return rows_[block]; }
  Result<void> read(std::size_t block, Bytes& out) override {
    out = bytes_[block];
    return {};
  }

 private:
  std::vector<std::uint32_t> rows_;
  std::vector<Bytes> bytes_;
};

class Printer final : public trainer::TrainObserver {
 public:
  bool progress(const trainer::TrainProgress&) override { return true; }
  bool metric(const trainer::TrainMetric&) override { return true; }
  void log(std::string_view level, std::string_view text) override {
    std::fprintf(stderr, "%.*s: %.*s\n", static_cast<int>(level.size()), level.data(),
                 static_cast<int>(text.size()), text.data());
  }
  Result<void> checkpoint(std::uint64_t, const trainer::CheckpointPieces&) override { return {}; }
};

void write_rows(Blocks& blocks, const trainer::Schema& schema, const trainer::JobSpec& spec, ByteView model,
                const std::string& row_column, const std::string& path) {
  const auto splitter = need(trainer::Splitter::make(blocks, schema, spec));
  const auto scorer = need(trainer::Scorer::open(model));
  const auto numbered = schema.find(row_column);
  if (!numbered && !row_column.empty()) fail("there is no column \"" + row_column + "\"");
  trainer::ReadPlan plan = scorer->pipeline().read_plan(schema);
  splitter->add_columns(schema, plan);
  plan.shuffle_blocks = false;
  const auto reader = need(trainer::BatchReader::open(blocks, schema, std::move(plan)));
  std::ofstream out(path, std::ios::binary);
  std::vector<trainer::RowRole> roles;
  std::vector<double> numbers;
  std::vector<double> line;
  std::vector<float> answers;
  trainer::EncodedBatch encoded;
  double read = 0;
  while (const trainer::Batch* batch = need(reader->next())) {
    splitter->roles(*batch, roles);
    scorer->pipeline().encode(*batch, true, encoded);
    scorer->score(encoded, answers);
    numbers.resize(batch->rows());
    for (double& number : numbers) number = read++;
    if (numbered) batch->block().reals(*numbered, batch->block_row(0), numbers);
    const std::size_t outputs = answers.size() / batch->rows();
    for (std::uint32_t row = 0; row < batch->rows(); ++row) {
      const double weight = encoded.weight.empty() ? 1 : static_cast<double>(encoded.weight[row]);
      line = {numbers[row], static_cast<double>(roles[row]), weight,
              static_cast<double>(encoded.target[row])};
      for (std::size_t i = 0; i < outputs; ++i)
        line.push_back(static_cast<double>(answers[row * outputs + i]));
      out.write(reinterpret_cast<const char*>(line.data()),
                static_cast<std::streamsize>(line.size() * sizeof(double)));
    }
  }
}

// What each form says of the model: nothing when it was written.
json write_exports(ByteView model, const std::string& out) {
  const std::pair<trainer::ExportKind, const char*> kinds[] = {{trainer::ExportKind::c, ".c"},
                                                               {trainer::ExportKind::onnx, ".onnx"},
                                                               {trainer::ExportKind::json, ".model.json"}};
  json said = json::object();
  for (const auto& [kind, ending] : kinds) {
    const auto made = trainer::export_model(model, kind, "trial", 1);
    said[ending] = made ? "" : made.error().message();
    if (!made) continue;
    std::ofstream file(out + ending, std::ios::binary);
    file.write(reinterpret_cast<const char*>(made->bytes.data()),
               static_cast<std::streamsize>(made->bytes.size()));
  }
  return said;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) fail("train_file FILE SPEC.json OUT");
  std::ifstream spec_file(argv[2]);
  std::stringstream spec_text;
  spec_text << spec_file.rdbuf();
  json spec_json = json::parse(spec_text.str());
  const json types = spec_json.value("types", json::object());
  const std::string row_column = spec_json.value("row_column", "");
  const bool exports = spec_json.value("exports", false);
  spec_json.erase("exports");
  spec_json.erase("types");
  spec_json.erase("row_column");
  if (!spec_json.contains("dataset")) spec_json["dataset"] = "dst_0000000000000000";
  if (!spec_json.contains("name")) spec_json["name"] = "trial";
  if (!spec_json.contains("kind")) spec_json["kind"] = "glm";

  bench::FileSource sample(argv[1]);
  const auto found = need(ingest::detect(sample, argv[1], ingest::ParseHints{}));
  ingest::IngestPlan plan;
  plan.options = found.options;
  plan.in_order = true;
  for (const auto& column : found.columns) {
    plan.schema.columns.push_back(column.spec);
    if (types.contains(column.spec.name))
      plan.schema.columns.back().type =
          *trainer::parse_column_type(types[column.spec.name].get<std::string>());
  }
  bench::FileSource source(argv[1]);
  Blocks blocks;
  const auto report = need(ingest::run_ingest(source, plan, blocks, {}));

  trainer::ParsedSpec parsed = trainer::parse_spec(spec_json, &report.schema);
  for (const auto& fault : parsed.faults)
    std::fprintf(stderr, "%s: %s\n", fault.pointer.c_str(), fault.detail.c_str());
  if (!parsed.faults.empty()) return 1;

  Printer printer;
  const double before = bench::cpu_seconds();
  const auto trained = need(trainer::train(blocks, report.schema, parsed.spec, std::nullopt, {}, printer));
  const double seconds = bench::cpu_seconds() - before;
  write_rows(blocks, report.schema, parsed.spec, trained.model, row_column, std::string(argv[3]) + ".rows");
  json out = {{"evaluation", json::parse(trained.evaluation_json)},
              {"summary", json::parse(trained.summary_json)},
              {"headline", json::parse(trained.headline_json)},
              {"cpu_seconds", seconds},
              {"rows", report.rows},
              {"bad_rows", report.bad_rows},
              {"model_bytes", trained.model.size()}};
  if (exports) out["exports"] = write_exports(trained.model, argv[3]);
  for (const auto& column : report.schema.columns) out["schema"][column.name] = to_string(column.type);
  std::ofstream(std::string(argv[3]) + ".json") << out.dump(1);
  std::printf("%s\n", trained.headline_json.c_str());
  return 0;
}
