#include "daemon/jobs/train_protocol.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "security/init.hpp"

namespace samovar::jobs {
namespace {

using security::SecretBytes;

TrainJob some_train_job() {
  TrainJob job;
  job.job_id = "job_1";
  job.store_id = "mdl_1";
  job.spec_json = R"({"kind":"glm"})";
  job.schema_json = "{}";
  job.dataset_id = "dst_1";
  job.dataset_version = 3;
  job.shards = 8;
  job.checkpoint_step = 120;
  job.threads = 2;
  job.memory_bytes = 1 << 20;
  job.checkpoint_ms = 1000;
  job.checkpoint_steps = 7;
  job.failpoints = "a=crash";
  job.data_key = SecretBytes::random(32);
  job.job_key = SecretBytes::random(32);
  job.model_key = SecretBytes::random(32);
  return job;
}

SavedFile file_of(OutputKind kind, std::uint64_t number) { return {kind, number, 10, 20, {}}; }

// What decodes is what was said: written again it has the same bytes.
template <class T, class Decode>
void comes_back(const T& message, Decode decode) {
  const Bytes body = encode(message);
  const auto back = decode(ByteView(body));
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(encode(*back), body);
  for (std::size_t size = 0; size < body.size(); ++size) EXPECT_FALSE(decode(ByteView(body).first(size)));
  Bytes longer = body;
  longer.push_back(0);
  EXPECT_FALSE(decode(ByteView(longer)));
}

TEST(TrainProtocol, EveryMessageComesBackAndNoOtherLengthDoes) {
  ASSERT_TRUE(security::init());
  comes_back(some_train_job(), decode_train_job);
  ScoreJob score;
  score.scoring_id = "scr_1";
  score.store_id = "mdl_1";
  score.keep_all = false;
  score.keep = {"a", "b"};
  score.data_key = SecretBytes::random(32);
  comes_back(score, decode_score_job);
  comes_back(WantInput{InputKind::shard, 9}, decode_want_input);
  comes_back(WantOutput{OutputKind::checkpoint, 9}, decode_want_output);
  comes_back(Reply{"full"}, decode_reply);
  comes_back(file_of(OutputKind::checkpoint, 4), decode_saved);
  comes_back(StepMessage{"training", 0.5, 10, 1}, decode_step);
  comes_back(MetricMessage{1, 2, 3.5, {{"train_loss", std::nan("")}, {"valid_loss", 0.25}}}, decode_metric);
  comes_back(LogMessage{"warn", "text"}, decode_log);
  comes_back(DeviceMessage{"cuda Orin", "the GPU has no room for this model"}, decode_device);
  comes_back(
      TrainedMessage{"{}", "{}", "{}", file_of(OutputKind::model, 0), file_of(OutputKind::evaluation, 0)},
      decode_trained);
  comes_back(ScoredMessage{5, {{"missing_column", "age", "a sentence"}}, file_of(OutputKind::result, 0)},
             decode_scored);
}

TEST(TrainProtocol, RefusesNumbersOutOfBounds) {
  EXPECT_FALSE(decode_want_input(encode(WantInput{InputKind::shard, 2048})));
  EXPECT_FALSE(decode_want_input(encode(WantInput{InputKind::model, 1})));
  EXPECT_FALSE(decode_want_input(encode(WantInput{static_cast<InputKind>(9), 0})));
  EXPECT_FALSE(decode_want_output(encode(WantOutput{OutputKind::checkpoint, 0})));
  EXPECT_FALSE(decode_want_output(encode(WantOutput{OutputKind::checkpoint, kStepsMax})));
  EXPECT_FALSE(decode_want_output(encode(WantOutput{OutputKind::model, 1})));
  EXPECT_FALSE(decode_step(encode(StepMessage{"training", 1.5, 0, 0})));
  EXPECT_FALSE(decode_step(encode(StepMessage{"training", std::nan(""), 0, 0})));
  const double endless = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(decode_metric(encode(MetricMessage{1, 1, endless, {}})));
  EXPECT_FALSE(decode_log(encode(LogMessage{"loud", "text"})));
  // A model where the evaluation belongs.
  EXPECT_FALSE(decode_trained(encode(
      TrainedMessage{"{}", "{}", "{}", file_of(OutputKind::model, 0), file_of(OutputKind::model, 0)})));
}

TEST(TrainProtocol, PlacesDifferByKindAndStep) {
  EXPECT_FALSE(output_place("job_1", OutputKind::checkpoint, 1) ==
               output_place("job_1", OutputKind::checkpoint, 2));
  EXPECT_FALSE(output_place("job_1", OutputKind::model, 0) ==
               output_place("job_1", OutputKind::evaluation, 0));
  EXPECT_EQ(output_name(OutputKind::checkpoint, 12), "checkpoint-12");
}

TEST(TrainProtocol, TurnsAreReadBackAndBeginWithTheOwnBlocks) {
  MembershipMessage message{3, {1, 2}, {4, 5}, {{4, 5}, {0, 1}}};
  const auto told = decode_membership(encode(message));
  ASSERT_TRUE(told);
  EXPECT_EQ(told->turns, message.turns);
  message.turns = {{0, 1}, {4, 5}};  // others first
  EXPECT_FALSE(decode_membership(encode(message)));
  message.turns = {{4, 5}, {}};  // nothing to do
  EXPECT_FALSE(decode_membership(encode(message)));
  message.turns = {{4, 5}, {1, 0}};  // out of order
  EXPECT_FALSE(decode_membership(encode(message)));
  message.turns.assign(kTurnsMax + 1, {4, 5});
  EXPECT_FALSE(decode_membership(encode(message)));

  const auto shards = decode_shards(encode(ShardsMessage{{2, 7}}));
  ASSERT_TRUE(shards);
  EXPECT_EQ(shards->shards, (std::vector<std::uint32_t>{2, 7}));
  EXPECT_FALSE(decode_shards(encode(ShardsMessage{{7, 2}})));
}

}  // namespace
}  // namespace samovar::jobs
