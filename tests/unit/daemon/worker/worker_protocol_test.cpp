#include "daemon/ingest/worker_protocol.hpp"
#include "base/json.hpp"

#include <gtest/gtest.h>

namespace samovar::ingest {
namespace {

WorkerJob some_job() {
  WorkerJob job;
  job.mode = WorkerMode::ingest;
  job.file_name = "Patients 2024.csv";
  job.hints_json = R"({"delimiter":";"})";
  job.changes = {{"age", "years", trainer::ColumnType::real, std::nullopt},
                 {"name", std::nullopt, std::nullopt, true},
                 {"zip", std::nullopt, trainer::ColumnType::category, false}};
  job.schema_json = R"({"columns":[]})";
  job.dataset_id = "dst_1";
  job.version = 3;
  job.seed = 42;
  job.raw_bytes = 1234567;
  job.threads = 2;
  job.memory_bytes_max = 1 << 20;
  job.failpoints = "store.shard.append=crash";
  job.source_key = security::SecretBytes::copy_of(Bytes(32, 1));
  job.data_key = security::SecretBytes::copy_of(Bytes(32, 2));
  return job;
}

WorkerReport some_report() {
  WorkerReport report;
  report.rows = 10;
  report.bad_rows = 1;
  report.schema_json = "{}";
  report.options_json = "{}";
  report.notes = {"a note"};
  StoredFile shard;
  shard.rows = 10;
  shard.blocks = 1;
  shard.stored_bytes = 99;
  shard.hash.fill(7);
  StoredFile profile;
  profile.kind = FileKind::profile;
  report.files = {shard, profile};
  return report;
}

TEST(WorkerProtocol, AJobComesBackAsItWas) {
  const WorkerJob job = some_job();
  const auto back = decode_job(encode(job));
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(back->file_name, job.file_name);
  EXPECT_EQ(back->changes, job.changes);
  EXPECT_EQ(back->schema_json, job.schema_json);
  EXPECT_EQ(back->seed, job.seed);
  EXPECT_EQ(back->version, job.version);
  EXPECT_TRUE(back->source_key.equal(job.source_key));
  EXPECT_TRUE(back->data_key.equal(job.data_key));
}

TEST(WorkerProtocol, AReportComesBackAsItWas) {
  const auto back = decode_report(encode(some_report()));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->notes, some_report().notes);
  ASSERT_EQ(back->files.size(), 2u);
  EXPECT_EQ(back->files[0].hash, some_report().files[0].hash);
  EXPECT_EQ(back->files[1].kind, FileKind::profile);
}

// Cut anywhere, or with one byte more, nothing is a message.
TEST(WorkerProtocol, EveryOtherLengthIsRefused) {
  const Bytes job = encode(some_job());
  const Bytes report = encode(some_report());
  for (std::size_t size = 0; size < job.size(); ++size) EXPECT_FALSE(decode_job(ByteView(job).first(size)));
  for (std::size_t size = 0; size < report.size(); ++size)
    EXPECT_FALSE(decode_report(ByteView(report).first(size)));
  Bytes longer = report;
  longer.push_back(0);
  EXPECT_FALSE(decode_report(longer));
  EXPECT_FALSE(decode_progress(Bytes(23)));
  EXPECT_TRUE(decode_progress(Bytes(24)));
  EXPECT_FALSE(decode_ready(Bytes{2}));
  const Bytes ready = encode(WorkerReady{true, "cuda Orin", 87, "none"});
  for (std::size_t size = 0; size < ready.size(); ++size)
    EXPECT_FALSE(decode_ready(ByteView(ready).first(size)));
  const auto back = decode_ready(ready);
  ASSERT_TRUE(back);
  EXPECT_TRUE(back->own_network);
  EXPECT_EQ(back->device, "cuda Orin");
  EXPECT_EQ(back->generation, 87u);
  EXPECT_EQ(back->trouble, "none");
  EXPECT_FALSE(decode_ready(encode(WorkerReady{true, std::string(kDeviceNameBytesMax + 1, 'x'), 87, ""})));
}

TEST(WorkerProtocol, FilesHaveNoNamesOfTheirOwn) {
  EXPECT_TRUE(decode_want_file(encode(WantFile{FileKind::shard, 2047})));
  EXPECT_FALSE(decode_want_file(encode(WantFile{FileKind::shard, 2048})));
  EXPECT_FALSE(decode_want_file(encode(WantFile{FileKind::profile, 1})));
  EXPECT_FALSE(decode_want_file(encode(WantFile{static_cast<FileKind>(4), 0})));
  EXPECT_EQ(file_name_of(FileKind::shard, 12), "12");
  EXPECT_EQ(file_name_of(FileKind::bad_rows, 0), "bad-rows");
}

trainer::Schema two_columns() {
  trainer::Schema schema;
  schema.columns = {{"age", trainer::ColumnType::integer, false}, {"name", trainer::ColumnType::text, false}};
  return schema;
}

TEST(ColumnChange, AppliesNamesTypesAndMarks) {
  auto schema = two_columns();
  ASSERT_TRUE(
      apply({{"age", "name", trainer::ColumnType::real, std::nullopt}, {"name", "age", {}, true}}, schema));
  EXPECT_EQ(schema.columns[0].name, "name");
  EXPECT_EQ(schema.columns[0].type, trainer::ColumnType::real);
  EXPECT_EQ(schema.columns[1].name, "age");
  EXPECT_TRUE(schema.columns[1].sensitive);
}

TEST(ColumnChange, RefusesWhatCannotBe) {
  auto schema = two_columns();
  EXPECT_FALSE(apply({{"weight", {}, {}, {}}}, schema));
  EXPECT_FALSE(apply({{"age", "name", {}, {}}}, schema));
  EXPECT_FALSE(apply({{"age", {}, {}, true}, {"age", {}, {}, false}}, schema));
  EXPECT_FALSE(apply({{"age", {}, trainer::ColumnType::sparse, {}}}, schema));
}

TEST(ColumnChange, JsonComesBackAsItWas) {
  const std::vector<ColumnChange> changes = some_job().changes;
  const auto back = parse_column_changes(to_json(changes));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, changes);
  EXPECT_FALSE(parse_column_changes(nlohmann::json::parse(R"([{"column":"a","typ":"real"}])")));
  EXPECT_FALSE(parse_column_changes(nlohmann::json::parse(R"([{"column":"a","type":"float"}])")));
  EXPECT_FALSE(parse_column_changes(nlohmann::json::parse(R"([{"rename":"a"}])")));
}

}  // namespace
}  // namespace samovar::ingest
