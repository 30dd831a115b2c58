#include "daemon/jobs/job_history.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace samovar::jobs {
namespace {

MetricMessage point(std::uint64_t step, std::vector<std::pair<std::string, double>> values) {
  return {step, step * 100, static_cast<double>(step) / 10, std::move(values)};
}

TEST(JobHistory, ColumnsOfLaterMetricsAreFilledUp) {
  JobHistory history;
  history.add(point(1, {{"train_loss", 0.7}}));
  const JobMetrics last = history.add(point(2, {{"train_loss", 0.6}, {"valid_loss", 0.65}}));
  EXPECT_EQ(last.names, (std::vector<std::string>{"step", "rows", "seconds", "train_loss", "valid_loss"}));
  history.add(point(3, {{"valid_loss", 0.64}}));
  const JobMetrics& all = history.metrics();
  ASSERT_EQ(all.columns.size(), 5u);
  for (const auto& column : all.columns) EXPECT_EQ(column.size(), 3u);
  EXPECT_EQ(all.columns[0], (std::vector<double>{1, 2, 3}));
  EXPECT_TRUE(std::isnan(all.columns[3][2]));
  EXPECT_TRUE(std::isnan(all.columns[4][0]));
  EXPECT_EQ(history.metric(), "valid_loss");
  EXPECT_EQ(history.best(), 0.64);
}

// What a resumed job does again must not be in the chart twice.
TEST(JobHistory, PointsAfterTheCheckpointGo) {
  JobHistory history;
  for (std::uint64_t step = 10; step <= 50; step += 10)
    history.add(point(step, {{"train_loss", 1.0 / static_cast<double>(step)}}));
  history.seconds = 5;
  history.cut_after(30);
  EXPECT_EQ(history.metrics().columns[0], (std::vector<double>{10, 20, 30}));
  EXPECT_EQ(history.best(), 1.0 / 30);
  EXPECT_EQ(history.seconds, 5);
  history.cut_after(0);
  EXPECT_TRUE(history.metrics().names.empty());
  EXPECT_FALSE(history.best());
  EXPECT_EQ(history.seconds, 0);
}

TEST(JobHistory, IsBoundedAndKeepsTheLastPoint) {
  JobHistory history;
  for (std::uint64_t step = 1; step <= 3 * JobHistory::kPointsMax; ++step) history.add(point(step, {}));
  const auto& steps = history.metrics().columns[0];
  EXPECT_LE(steps.size(), JobHistory::kPointsMax);
  EXPECT_EQ(steps.back(), 3 * JobHistory::kPointsMax);
  for (std::size_t i = 0; i < 2 * JobHistory::kLinesMax; ++i) history.log({}, "info", "line");
  EXPECT_EQ(history.lines(0, 1 << 20).size(), JobHistory::kLinesMax);
  EXPECT_EQ(history.lines(0, 1 << 20).back().seq, 2 * JobHistory::kLinesMax);
  EXPECT_EQ(history.lines(2 * JobHistory::kLinesMax - 2, 1).front().seq, 2 * JobHistory::kLinesMax - 1);
}

TEST(JobHistory, ComesBackFromItsBytes) {
  JobHistory history;
  history.add(point(1, {{"train_loss", 0.5}}));
  history.add(point(2, {{"valid_loss", 0.25}}));
  history.log(WallTime(std::chrono::seconds(7)), "warn", "separable: \xc3\xa4");
  history.seconds = 1.5;
  history.joules = 12;
  history.joules_estimated = false;
  history.rows = 200;
  history.pass = 2;
  history.started_at = WallTime(std::chrono::seconds(3));
  const auto back = JobHistory::decode(history.encode());
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(back->encode(), history.encode());
  EXPECT_EQ(back->best(), 0.25);
  EXPECT_EQ(back->lines(0, 10).front().text, "separable: \xc3\xa4");
  EXPECT_EQ(back->started_at, history.started_at);
}

// Why it is the CPU stays known when the next worker says that it is; a device that works again says no more.
TEST(JobHistory, KnowsWhatEachNodeComputesOn) {
  JobHistory history;
  history.computes_on("n1", {"cuda Orin", ""});
  history.computes_on("n2", {"cpu neon", ""});
  history.computes_on("n1", {"", "the GPU failed (lost)"});
  EXPECT_EQ(history.devices.at("n1"), (JobDevice{"n1", "cuda Orin", "the GPU failed (lost)"}));
  history.computes_on("n1", {"cpu neon", ""});
  EXPECT_EQ(history.devices.at("n1"), (JobDevice{"n1", "cpu neon", "the GPU failed (lost)"}));
  const auto back = JobHistory::decode(history.encode());
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(back->devices, history.devices);
  history.computes_on("n1", {"cuda Orin", ""});
  EXPECT_EQ(history.devices.at("n1"), (JobDevice{"n1", "cuda Orin", ""}));
  history.cut_after(0);
  EXPECT_TRUE(history.devices.empty()) << "what begins anew tells anew";
}

TEST(JobHistory, OtherBytesAreNone) {
  const Bytes good = JobHistory().encode();
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(JobHistory::decode(ByteView(good).first(size)));
  EXPECT_FALSE(JobHistory::decode(as_bytes(R"({"version":2})")));
  EXPECT_FALSE(JobHistory::decode(as_bytes("[]")));
  JobHistory ragged;
  ragged.add(point(1, {}));
  std::string text(as_text(ragged.encode()));
  text.replace(text.find("[[1.0],"), 7, "[[1.0,2.0],");
  EXPECT_FALSE(JobHistory::decode(as_bytes(text)));
}

// A table that does not begin with its steps cannot be gone on with.
TEST(JobHistory, ATableWithoutStepsIsNone) {
  std::string text(as_text(JobHistory().encode()));
  text.replace(text.find(R"("columns":[])"), 12, R"("columns":[[]])");
  text.replace(text.find(R"("names":[])"), 10, R"("names":["x"])");
  auto history = JobHistory::decode(as_bytes(text));
  EXPECT_FALSE(history);
  if (history) history->add(point(1, {}));
}

TEST(JobHistory, NamesAreBounded) {
  JobHistory history;
  for (std::uint64_t step = 1; step <= 10; ++step) {
    MetricMessage many = point(step, {});
    for (int i = 0; i < 50; ++i) many.values.emplace_back(std::to_string(step) + "." + std::to_string(i), 1);
    history.add(many);
  }
  EXPECT_EQ(history.metrics().names.size(), JobHistory::kNamesMax);
  for (const auto& column : history.metrics().columns) EXPECT_EQ(column.size(), 10u);
  EXPECT_TRUE(JobHistory::decode(history.encode()));
}

TEST(JobHistory, ManyWorkersFitIntoOneMessage) {
  JobHistory history;
  std::vector<std::pair<std::string, double>> values;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"})
    values.emplace_back(name, 1.0 / 3);
  for (std::uint32_t worker = 1; worker <= 100; ++worker)
    for (std::uint64_t step = 1; step <= 400; ++step) history.add(worker, "nod_1", point(step, values));
  for (std::uint64_t step = 1; step <= JobHistory::kPointsMax; ++step) history.add(point(step, values));
  EXPECT_LT(history.encode().size(), 3u << 20);
  EXPECT_EQ(history.worker_metrics().size(), 100u);
}

// Somebody who fetched the whole while the news of the moment was on its way goes on with the rest of it.
TEST(JobHistory, NewsThatArePartlyKnownAreFollowed) {
  JobHistory home;
  home.add(point(1, {}));
  home.take_news();
  const std::uint64_t begin = home.revision();
  home.add(point(2, {}));
  home.log({}, "info", "two");
  auto follower = JobHistory::decode(home.encode());
  ASSERT_TRUE(follower);
  home.add(2, "nod_2", point(3, {}));
  home.add(point(3, {}));
  const std::uint64_t end = home.revision();
  const auto news = home.take_news();
  unsigned heard = 0;
  const auto count = [&heard](const JobMetrics&) { ++heard; };
  const auto line = [&heard](const JobLogLine&) { heard += 100; };
  const auto followed = follower->follow(begin, end, news, count, line);
  ASSERT_TRUE(followed);
  EXPECT_TRUE(*followed);
  EXPECT_EQ(heard, 2u);
  EXPECT_EQ(follower->encode(), home.encode());
  // Once more is nothing new; without what comes before it is nothing to go on with.
  ASSERT_TRUE(follower->follow(begin, end, news, count, line));
  EXPECT_EQ(heard, 2u);
  JobHistory fresh;
  const auto gap = fresh.follow(begin, end, news, count, line);
  ASSERT_TRUE(gap);
  EXPECT_FALSE(*gap);
}

}  // namespace
}  // namespace samovar::jobs
