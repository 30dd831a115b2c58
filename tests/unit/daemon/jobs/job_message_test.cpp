#include "daemon/jobs/job_message.hpp"

#include <gtest/gtest.h>

namespace samovar::jobs {
namespace {

const WorkerRef kWorker{"job_1", 3, 2};

// What is cut anywhere, or has something behind it, is refused.
template <class Decode>
void expect_strict(const Bytes& whole, Decode decode) {
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(decode(ByteView(whole).first(size))) << size;
  Bytes longer = whole;
  longer.push_back(0);
  EXPECT_FALSE(decode(ByteView(longer)));
}

TEST(JobMessage, OrdersAreReadBack) {
  JobPrepare prepare{kWorker, 9, {0, 4}, true};
  const auto read = decode_job_prepare(encode(prepare));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->worker, kWorker);
  EXPECT_EQ(read->turn, 9u);
  EXPECT_EQ(read->shards, prepare.shards);
  EXPECT_TRUE(read->checkpoint);
  expect_strict(encode(prepare), decode_job_prepare);

  JobEpoch epoch{kWorker, 5, 2, true, {{1, "nod_a"}, {2, "nod_b"}}, {7, 8}, {{10, 20}, {}}};
  const auto told = decode_job_epoch(encode(epoch));
  ASSERT_TRUE(told);
  EXPECT_EQ(told->members, epoch.members);
  EXPECT_EQ(told->blocks, epoch.blocks);
  EXPECT_EQ(told->block_rows, epoch.block_rows);
  EXPECT_TRUE(told->joining);
  expect_strict(encode(epoch), decode_job_epoch);
  EXPECT_TRUE(told->turns.empty());
  const Bytes before = encode(epoch);
  epoch.turns = {{7, 8}, {1, 2}};
  const Bytes with = encode(epoch);
  const auto rotates = decode_job_epoch(with);
  ASSERT_TRUE(rotates);
  EXPECT_EQ(rotates->turns, epoch.turns);
  // Without them, what nodes of an earlier version read.
  EXPECT_TRUE(std::equal(before.begin(), before.end(), with.begin()));
  for (std::size_t length = before.size() + 1; length < with.size(); ++length)
    EXPECT_FALSE(decode_job_epoch(ByteView(with).first(length))) << length;
  epoch.turns.assign(kTurnsMax + 1, {1});
  EXPECT_FALSE(decode_job_epoch(encode(epoch)));
  epoch.turns.clear();
  epoch.members = {{1, "nod_a"}};  // not for it
  EXPECT_FALSE(decode_job_epoch(encode(epoch)));

  const auto stop = decode_job_stop(encode(JobStop{kWorker, true}));
  ASSERT_TRUE(stop);
  EXPECT_TRUE(stop->save);
  expect_strict(encode(JobStop{kWorker, true}), decode_job_stop);
}

TEST(JobMessage, NewsOfEveryKindIsReadBack) {
  JobNews news;
  news.worker = kWorker;
  news.what = JobNews::What::ready;
  news.turn = 4;
  news.shards = {{3, {100, 50}}};
  const auto ready = decode_job_news(encode(news));
  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->shards, news.shards);
  expect_strict(encode(news), decode_job_news);
  news.what = JobNews::What::alive;
  news.watts = 7.5;
  news.bytes_sent = 12;
  EXPECT_EQ(decode_job_news(encode(news))->watts, 7.5);
  expect_strict(encode(news), decode_job_news);
  news.what = JobNews::What::step;
  news.step = {"training", 0.5, 77, 2};
  EXPECT_EQ(decode_job_news(encode(news))->step.rows, 77u);
  expect_strict(encode(news), decode_job_news);
  news.what = JobNews::What::metric;
  news.metric = {1, 2, 3.0, {{"train_loss", 0.25}}};
  EXPECT_EQ(decode_job_news(encode(news))->metric.values, news.metric.values);
  news.what = JobNews::What::log;
  news.log = {"warn", "a sentence"};
  EXPECT_EQ(decode_job_news(encode(news))->log.text, "a sentence");
  news.what = JobNews::What::device;
  news.device = {"", "the GPU failed"};
  EXPECT_EQ(decode_job_news(encode(news))->device.trouble, "the GPU failed");
  expect_strict(encode(news), decode_job_news);
  news.what = JobNews::What::ended;
  news.good = false;
  news.code = Errc::unavailable;
  news.error = "killed";
  EXPECT_EQ(decode_job_news(encode(news))->code, Errc::unavailable);
  expect_strict(encode(news), decode_job_news);
}

TEST(JobMessage, PiecesStayWithinTheirMessage) {
  JobPiece piece{"job_1", 3, 1, 2, 5, 9, 8, 4, Bytes{1, 2, 3, 4}};
  const auto read = decode_job_piece(encode(piece));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->bytes, piece.bytes);
  EXPECT_EQ(read->offset, 4u);
  expect_strict(encode(piece), decode_job_piece);
  piece.offset = 5;
  EXPECT_FALSE(decode_job_piece(encode(piece)));
  piece.offset = 0;
  piece.total = kPeerBodyBytesMax + 1;
  EXPECT_FALSE(decode_job_piece(encode(piece)));
  piece.total = 8;
  piece.from = piece.to;
  EXPECT_FALSE(decode_job_piece(encode(piece)));
}

}  // namespace
}  // namespace samovar::jobs
