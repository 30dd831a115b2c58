#include "daemon/worker/score.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/json.hpp"
#include "daemon/ingest/detect.hpp"
#include "daemon/ingest/pipeline.hpp"
#include "daemon/jobs/csv_export.hpp"
#include "daemon/store/staging.hpp"
#include "daemon/worker/exchange.hpp"
#include "daemon/worker/shard_source.hpp"
#include "daemon/worker/upload_source.hpp"
#include "trainer/data/block.hpp"
#include "trainer/models/scorer.hpp"

namespace samovar::worker {
namespace {

using ingest::MessageType;
using jobs::InputKind;
using jobs::OutputKind;

constexpr std::chrono::milliseconds kProgressEvery{500};
constexpr std::uint32_t kBatchRows = 4096;
constexpr std::size_t kPieceBytes = 1u << 20;
constexpr std::size_t kWordBytesMax = 32;
constexpr std::size_t kNameBytesMax = 256;

Error stopped() { return {Errc::conflict, "stopped"}; }

Result<std::unique_ptr<trainer::Scorer>> open_model(Exchange& exchange, const jobs::ScoreJob& job) {
  SAMOVAR_TRY(auto file, exchange.input(InputKind::model, 0));
  SAMOVAR_TRY(const auto reader, security::SealedReader::open(
                                     store::file_from_descriptor(file.release()), "the model", job.model_key,
                                     jobs::output_place(job.store_id, OutputKind::model, 0)));
  Bytes bytes(static_cast<std::size_t>(reader->size()));
  SAMOVAR_TRY(const std::size_t got, reader->read_at(0, bytes));
  if (got != bytes.size()) return Error{Errc::corrupt, "the model ends early"};
  return trainer::Scorer::open(bytes);
}

// One block in memory, as a source.
class OneBlock final : public trainer::BlockSource {
 public:
  OneBlock(std::uint32_t rows, ByteView bytes) : rows_(rows), bytes_(bytes) {}
  std::size_t blocks() const override { return 1; }
  std::uint32_t rows(std::size_t) const override { return rows_; }
  Result<void> read(std::size_t, Bytes& out) override {
    out.assign(bytes_.begin(), bytes_.end());
    return {};
  }

 private:
  std::uint32_t rows_;
  ByteView bytes_;
};

class Table {
 public:
  Table(Exchange& exchange, const jobs::ScoreJob& job, const trainer::Scorer& scorer)
      : exchange_(exchange), job_(job), scorer_(scorer) {
    const auto about = scorer.describe();
    if (const auto at = about.find("threshold"); at != about.end() && at->is_number())
      threshold_ = at->get<float>();
  }

  // The columns of what is to be scored; the header is written.
  Result<void> begin(const trainer::Schema& schema) {
    schema_ = schema;
    SAMOVAR_CHECK(choose_columns());
    SAMOVAR_TRY(auto file, exchange_.output(OutputKind::result, 0));
    SAMOVAR_TRY(writer_, security::SealedStreamWriter::create(
                             std::move(file), job_.result_key,
                             jobs::output_place(job_.scoring_id, OutputKind::result, 0)));
    for (auto& warning : scorer_.pipeline().check_columns(schema))
      warn(warning.code, warning.input, warning.detail);
    for (const std::size_t column : kept_) {
      jobs::append_csv_text(schema.columns[column].name, text_);
      text_ += ',';
    }
    text_ += "prediction";
    for (const auto& name : scorer_.classes()) {
      text_ += ',';
      jobs::append_csv_text("probability_" + name, text_);
    }
    text_ += "\r\n";
    return {};
  }

  // Rows of all blocks of a source, as they lie. `share` of the whole when it ends.
  Result<void> add(trainer::BlockSource& source, const trainer::Schema& schema, std::size_t ahead,
                   std::uint64_t rows_total) {
    trainer::ReadPlan plan = scorer_.pipeline().read_plan(schema);
    plan.batch_rows = kBatchRows;
    plan.shuffle_blocks = false;
    plan.shuffle_rows = false;
    plan.passes = 1;
    plan.blocks_ahead = ahead;
    SAMOVAR_TRY(const auto reader, trainer::BatchReader::open(source, schema, std::move(plan)));
    for (;;) {
      SAMOVAR_TRY(const trainer::Batch* batch, reader->next());
      if (batch == nullptr) return {};
      SAMOVAR_CHECK(add(*batch, schema));
      if (rows_total > 0) SAMOVAR_CHECK(tell(static_cast<double>(rows_) / static_cast<double>(rows_total)));
    }
  }

  // At most twice a second.
  Result<void> tell(double share) {
    const MonoTime now = real_clock().mono();
    if (now - told_ >= kProgressEvery) {
      told_ = now;
      const jobs::StepMessage message{"scoring", std::clamp(share, 0.0, 1.0), rows_, 0};
      SAMOVAR_CHECK(exchange_.say(MessageType::step, message));
    }
    if (exchange_.stop_asked()) return stopped();
    return {};
  }

  void warn(std::string_view code, std::string_view input, std::string_view detail) {
    if (warnings_.size() >= jobs::kScoreWarningsMax) return;
    warnings_.push_back({std::string(code.substr(0, kWordBytesMax)),
                         std::string(input.substr(0, kNameBytesMax)),
                         std::string(detail.substr(0, jobs::kLogTextBytesMax))});
  }

  Result<void> finish() {
    SAMOVAR_CHECK(flush(0));
    SAMOVAR_TRY(const security::SealedSummary summary, writer_->finish());
    jobs::ScoredMessage message;
    message.rows = rows_;
    message.warnings = std::move(warnings_);
    message.result = {OutputKind::result, 0, summary.plain_bytes, summary.stored_bytes, summary.hash};
    return exchange_.say(MessageType::scored, message);
  }

 private:
  Result<void> choose_columns() {
    if (job_.keep_all) {
      for (std::size_t i = 0; i < schema_.columns.size(); ++i)
        if (!schema_.columns[i].sensitive) kept_.push_back(i);
      return {};
    }
    for (const auto& name : job_.keep) {
      const auto column = schema_.find(name);
      if (!column) return Error{Errc::invalid, fmt::format("there is no column \"{}\" to keep", name)};
      kept_.push_back(*column);
    }
    return {};
  }

  Result<void> add(const trainer::Batch& batch, const trainer::Schema& schema) {
    scorer_.pipeline().encode(batch, false, encoded_);
    scorer_.score(encoded_, scores_);
    const auto& classes = scorer_.classes();
    const std::size_t width = classes.size() > 2 ? classes.size() : 1;
    if (scores_.size() != batch.rows() * width)
      return Error{Errc::internal, "the model gave another number of predictions than there are rows"};
    const jobs::CsvRows cells(batch.block(), schema, kept_, batch.block_row(0), batch.rows());
    for (std::uint32_t row = 0; row < batch.rows(); ++row) {
      cells.append(row, text_);
      if (!kept_.empty()) text_ += ',';
      SAMOVAR_CHECK(append_prediction(std::span(scores_).subspan(row * width, width), classes));
      text_ += "\r\n";
    }
    rows_ += batch.rows();
    return flush(kPieceBytes);
  }

  Result<void> append_prediction(std::span<const float> scores, const std::vector<std::string>& classes) {
    for (const float score : scores)
      if (!std::isfinite(score))
        return Error{
            Errc::invalid,
            "the model gives no number for a row of this data: its values lie far outside of those it "
            "was trained on"};
    if (classes.size() < 2) {
      jobs::append_csv_number(scores[0], text_);
      return {};
    }
    if (classes.size() == 2) {
      jobs::append_csv_text(classes[scores[0] >= threshold_ ? 1 : 0], text_);
      text_ += ',';
      jobs::append_csv_number(1 - scores[0], text_);
      text_ += ',';
      jobs::append_csv_number(scores[0], text_);
      return {};
    }
    const auto best = std::max_element(scores.begin(), scores.end()) - scores.begin();
    jobs::append_csv_text(classes[static_cast<std::size_t>(best)], text_);
    for (const float score : scores) {
      text_ += ',';
      jobs::append_csv_number(score, text_);
    }
    return {};
  }

  Result<void> flush(std::size_t from) {
    if (text_.size() < from || text_.empty()) return {};
    SAMOVAR_CHECK(writer_->append(as_bytes(text_)));
    text_.clear();
    return {};
  }

  Exchange& exchange_;
  const jobs::ScoreJob& job_;
  const trainer::Scorer& scorer_;
  float threshold_ = 0.5F;
  trainer::Schema schema_;
  std::vector<std::size_t> kept_;
  std::unique_ptr<security::SealedStreamWriter> writer_;
  std::string text_;
  trainer::EncodedBatch encoded_;
  std::vector<float> scores_;
  std::vector<jobs::ScoreWarning> warnings_;
  std::uint64_t rows_ = 0;
  MonoTime told_{};
};

Result<void> score_dataset(Exchange& exchange, const jobs::ScoreJob& job, Table& table) {
  SAMOVAR_TRY(const trainer::Schema schema, trainer::decode_schema(job.schema_json));
  SAMOVAR_TRY(const auto source,
              ShardSource::open(exchange, job.dataset_id, job.dataset_version, job.shards, job.data_key));
  SAMOVAR_CHECK(table.begin(schema));
  return table.add(*source, schema, 2, source->total_rows());
}

// Blocks of a parsed upload, one after the other.
class ScoreSink final : public ingest::ShardSink {
 public:
  // Where other numbers come up, a column of 0 and 1 is integer and a column of integers real from there on.
  ScoreSink(Table& table, const trainer::Schema& schema) : table_(table), forms_(3, schema) {
    for (auto& column : forms_[1].columns)
      if (column.type == ColumnType::boolean) column.type = ColumnType::integer;
    for (auto& column : forms_[2].columns)
      if (column.type == ColumnType::boolean || column.type == ColumnType::integer)
        column.type = ColumnType::real;
  }

  Result<void> block(std::uint32_t, std::uint32_t rows, ByteView encoded) override {
    const auto fits = [encoded](const trainer::Schema& form) {
      return trainer::BlockView::open(encoded, form).has_value();
    };
    const auto form = std::find_if(forms_.begin(), forms_.end() - 1, fits);
    OneBlock one(rows, encoded);
    return table_.add(one, *form, 0, 0);
  }
  Result<void> bad_row(std::string_view) override { return {}; }

 private:
  using ColumnType = trainer::ColumnType;
  Table& table_;
  std::vector<trainer::Schema> forms_;
};

// The file's columns, read as the model knows them where it does.
trainer::Schema schema_for(const trainer::Scorer& scorer, const ingest::Detection& found) {
  trainer::Schema schema;
  const trainer::Schema& inputs = scorer.pipeline().inputs();
  for (const auto& column : found.columns) {
    trainer::ColumnSpec spec = column.spec;
    if (const auto known = inputs.find(spec.name)) {
      spec.type = inputs.columns[*known].type;
      spec.sensitive = spec.sensitive || inputs.columns[*known].sensitive;
    }
    schema.columns.push_back(std::move(spec));
  }
  return schema;
}

Result<void> score_upload(Exchange& exchange, const jobs::ScoreJob& job, const trainer::Scorer& scorer,
                          Table& table) {
  SAMOVAR_TRY(const auto upload, exchange.input(InputKind::upload, 0));
  std::optional<ingest::Detection> found;
  {
    SAMOVAR_TRY(const auto source, UploadSource::open(upload, job.data_key));
    SAMOVAR_TRY(found, ingest::detect(*source, job.file_name, {}));
  }
  ingest::IngestPlan plan;
  plan.options = found->options;
  plan.schema = schema_for(scorer, *found);
  plan.raw_bytes = job.raw_bytes;
  plan.threads = job.threads;
  plan.in_order = true;
  SAMOVAR_CHECK(table.begin(plan.schema));
  SAMOVAR_TRY(const auto source, UploadSource::open(upload, job.data_key));
  ScoreSink sink(table, plan.schema);
  const auto progress = [&](const ingest::IngestProgress& step) {
    const double whole = static_cast<double>(std::max<std::uint64_t>(job.raw_bytes, 1));
    return table.tell(static_cast<double>(step.raw_bytes) / whole).has_value();
  };
  SAMOVAR_TRY(const ingest::IngestReport report, ingest::run_ingest(*source, plan, sink, progress));
  if (report.bad_rows > 0)
    table.warn(
        "bad_rows", "",
        fmt::format("{} rows of the file could not be read and are not in the result", report.bad_rows));
  return {};
}

}  // namespace

Result<void> score_rows(ingest::WorkerChannel& channel, const jobs::ScoreJob& job) {
  Exchange exchange(channel);
  SAMOVAR_TRY(const auto scorer, open_model(exchange, job));
  Table table(exchange, job, *scorer);
  if (job.dataset_id.empty()) {
    SAMOVAR_CHECK(score_upload(exchange, job, *scorer, table));
  } else {
    SAMOVAR_CHECK(score_dataset(exchange, job, table));
  }
  return table.finish();
}

}  // namespace samovar::worker
