#include "daemon/jobs/operations.hpp"

#include <gtest/gtest.h>

#include <map>

#include "daemon/jobs/ingest_spec.hpp"

namespace samovar::jobs {
namespace {

Operation queued(std::string id, OperationKind kind = OperationKind::ingest) {
  Operation operation;
  operation.id = std::move(id);
  operation.kind = kind;
  return operation;
}

WallTime at(int seconds) { return WallTime(std::chrono::seconds(seconds)); }

TEST(OperationBook, TheQueueMovesUpWhenItsFirstBegins) {
  OperationBook book;
  std::map<std::string, unsigned> told;
  book.listen([&told](const Operation& operation) { told[operation.id] = operation.queue_position; });
  for (const char* id : {"a", "b", "c"}) book.add(queued(id));
  EXPECT_EQ(told, (std::map<std::string, unsigned>{{"a", 1}, {"b", 2}, {"c", 3}}));
  ASSERT_NE(book.next_queued(), nullptr);
  EXPECT_EQ(book.next_queued()->id, "a");
  book.change("a", [](Operation& operation) { operation.state = OperationState::running; });
  EXPECT_EQ(told, (std::map<std::string, unsigned>{{"a", 0}, {"b", 1}, {"c", 2}}));
  book.end("b", OperationState::cancelled, "", at(5));
  EXPECT_EQ(book.next_queued()->id, "c");
  EXPECT_EQ(book.find("c")->queue_position, 1u);
  EXPECT_EQ(book.find("b")->ended_at, at(5));
}

TEST(OperationBook, AScrubDoesNotWaitForTheWorker) {
  OperationBook book;
  unsigned told = 0;
  book.listen([&told](const Operation&) { ++told; });
  book.add(queued("s", OperationKind::scrub));
  EXPECT_EQ(told, 1u);
  EXPECT_EQ(book.next_queued(), nullptr);
  EXPECT_EQ(book.find("s")->queue_position, 0u);
}

TEST(OperationBook, ForgetsTheOldestThatEndedAndNoneThatRuns) {
  OperationBook book;
  book.add(queued("running"));
  for (std::size_t i = 0; i < OperationBook::kEndedMax + 10; ++i) {
    const std::string id = "op" + std::to_string(i);
    book.add(queued(id));
    book.end(id, OperationState::done, "", at(static_cast<int>(i)));
  }
  book.add(queued("last"));
  EXPECT_NE(book.find("running"), nullptr);
  EXPECT_EQ(book.find("op0"), nullptr);
  EXPECT_NE(book.find("op209"), nullptr);
  EXPECT_EQ(book.all().size(), OperationBook::kEndedMax + 2);
}

TEST(Operation, ComesFromItsRecord) {
  cluster::OperationRecord record;
  record.id = "op_1";
  record.kind = "version";
  record.state = "failed";
  record.error = "the gzip file ends in the middle";
  record.ended_at = at(7);
  const Operation operation = from_record(record);
  EXPECT_EQ(operation.kind, OperationKind::version);
  EXPECT_EQ(operation.state, OperationState::failed);
  EXPECT_EQ(operation.error, record.error);
  EXPECT_EQ(operation.ended_at, at(7));
}

TEST(IngestSpec, ComesBackAsItWas) {
  IngestSpec spec;
  spec.upload_id = "upl_1";
  spec.dataset_id = "dst_1";
  spec.name = "Patients";
  spec.description = "two\nlines";
  spec.hints.delimiter = ';';
  spec.hints.header = false;
  spec.columns = {{"age", "years", trainer::ColumnType::real, true}};
  spec.seed = std::uint64_t{1} << 62;
  spec.file_name = "p.csv";
  spec.sha256 = "ab";
  spec.bytes = 123;
  const auto back = decode_spec(encode_spec(spec));
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(back->dataset_id, spec.dataset_id);
  EXPECT_EQ(back->description, spec.description);
  EXPECT_EQ(back->hints.delimiter, ';');
  EXPECT_EQ(back->hints.header, false);
  EXPECT_FALSE(back->hints.decimal);
  EXPECT_EQ(back->columns, spec.columns);
  EXPECT_EQ(back->seed, spec.seed);
  EXPECT_EQ(back->bytes, spec.bytes);
  EXPECT_FALSE(decode_spec("{}"));
  EXPECT_FALSE(decode_spec("no json"));
}

TEST(IngestSpec, ANewVersionIsReadAsTheLastOneWas) {
  ingest::ParseHints changes;
  changes.decimal = ',';
  const auto hints = hints_from(R"({"format":"csv","delimiter":";","header":false})", changes);
  ASSERT_TRUE(hints) << hints.error().message();
  EXPECT_EQ(hints->delimiter, ';');
  EXPECT_EQ(hints->header, false);
  EXPECT_EQ(hints->decimal, ',');
  EXPECT_TRUE(is_empty({}));
  EXPECT_FALSE(is_empty(changes));
}

}  // namespace
}  // namespace samovar::jobs
