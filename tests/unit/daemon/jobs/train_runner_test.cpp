// The real samovar-worker trains and scores, started as samovard starts it.
#include "daemon/jobs/train_runner.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>

#include "daemon/store/staging.hpp"
#include "tests/unit/daemon/jobs/train_worker_fixture.hpp"
#include "trainer/models/scorer.hpp"

namespace samovar::jobs {
namespace {

using security::SecretBytes;

std::vector<pid_t> children() {
  std::vector<pid_t> found;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream in(thread.path() / "children");
    for (pid_t pid = 0; in >> pid;) found.push_back(pid);
  }
  return found;
}

const nlohmann::json kSteps = {
    {"solver", "adagrad"}, {"passes", 50}, {"early_stop", false}, {"batch_rows", 64}};

TEST_F(TrainWorker, MakesAModelThatOpens) {
  const auto trained = train(task());
  ASSERT_TRUE(trained) << trained.error().message();
  EXPECT_EQ(steps_.back(), "saving");
  const auto bytes = security::read_sealed_file(real_disk(), dir_.path() + "/model/model", model_key_,
                                                output_place("mdl_1", OutputKind::model, 0), 1 << 20);
  ASSERT_TRUE(bytes);
  const auto scorer = trainer::Scorer::open(*bytes);
  ASSERT_TRUE(scorer) << scorer.error().message();
  trainer::RawTable rows;
  rows.rows = 2;
  rows.columns["x"] = {trainer::RawValue(0.9), trainer::RawValue(-0.9)};
  std::vector<trainer::InputWarning> warnings;
  const auto scores = (*scorer)->score(rows, {}, warnings);
  ASSERT_TRUE(scores);
  EXPECT_GT((*scores)[0].value, (*scores)[1].value);
}

TEST_F(TrainWorker, GoesOnFromACheckpointToTheSameModel) {
  const auto straight = train(task(kSteps));
  ASSERT_TRUE(straight) << straight.error().message();
  const auto read = [this] {
    return security::read_sealed_file(real_disk(), dir_.path() + "/model/model", model_key_,
                                      output_place("mdl_1", OutputKind::model, 0), 1 << 20);
  };
  const auto first = read();
  ASSERT_TRUE(first);
  auto stopping = task(kSteps);
  stopping.job.checkpoint_steps = 20;
  hooks_.checkpoint = [this](const SavedFile& file, const std::string&) -> Result<void> {
    kept_ = file;
    signals_.stop.store(true);
    return {};
  };
  const auto stopped = train(std::move(stopping));
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code(), Errc::conflict) << stopped.error().message();
  ASSERT_TRUE(kept_);
  signals_.stop.store(false);
  auto rest = task(kSteps);
  rest.job.checkpoint_step = kept_->number;
  for (const auto& name : checkpoint_names(kept_->number))
    if (real_disk().exists(rest.job_dir + "/" + name)) rest.checkpoint_path = rest.job_dir + "/" + name;
  ASSERT_TRUE(train(std::move(rest)));
  EXPECT_EQ(log_.find("anew"), std::string::npos) << log_;
  EXPECT_EQ(*read(), *first);
}

// Sealed for this job and this step, but with other words in it: of another version, say.
TEST_F(TrainWorker, AForeignCheckpointBeginsAnew) {
  auto begun = task();
  begun.job.checkpoint_step = 7;
  begun.checkpoint_path = begun.job_dir + "/checkpoint-7";
  ASSERT_TRUE(security::write_sealed_file(real_disk(), begun.checkpoint_path, job_key_,
                                          output_place("job_1", OutputKind::checkpoint, 7),
                                          as_bytes("of another version")));
  const auto trained = train(std::move(begun));
  ASSERT_TRUE(trained) << trained.error().message();
  EXPECT_NE(log_.find("begins anew"), std::string::npos) << log_;
}

TEST_F(TrainWorker, ADamagedShardIsSaid) {
  auto file = real_disk().open(paths_[1], OpenMode::write);
  ASSERT_TRUE(file);
  ASSERT_TRUE((*file)->write_at(300, as_bytes("noise")));
  const auto trained = train(task());
  ASSERT_FALSE(trained);
  EXPECT_EQ(trained.error().code(), Errc::corrupt) << trained.error().message();
}

TEST_F(TrainWorker, AKilledWorkerIsNamed) {
  hooks_.step = [this](const StepMessage&) { signals_.kill.store(true); };
  const auto trained = train(task(kSteps));
  ASSERT_FALSE(trained);
  EXPECT_EQ(trained.error().code(), Errc::conflict);
}

// The worker stands still, as one whose board swaps does: whoever tells it something does not.
TEST_F(TrainWorker, OneThatReadsNothingIsEnded) {
  auto standing = task(kSteps);
  standing.line = std::make_shared<WorkerLine>();
  const auto line = standing.line;
  hooks_.begun = [line] {
    for (const pid_t child : children()) ASSERT_EQ(::kill(child, SIGSTOP), 0);
    while (line->send(ingest::MessageType::membership, Bytes(4096, 7))) {
    }
  };
  const auto trained = train(std::move(standing));
  ASSERT_FALSE(trained);
  EXPECT_EQ(trained.error().code(), Errc::timeout);
  EXPECT_NE(trained.error().message().find("did not read"), std::string::npos) << trained.error().message();
}

TEST_F(TrainWorker, AFullDiskGivesNoFile) {
  auto full = task();
  full.check_room = [] { return Error{Errc::no_space, "the disk is full: free some space"}; };
  const auto trained = train(std::move(full));
  ASSERT_FALSE(trained);
  EXPECT_EQ(trained.error().code(), Errc::no_space);
}

TEST_F(TrainWorker, ScoresADataSetAndAnUpload) {
  ASSERT_TRUE(train(task()));
  const SecretBytes result_key = SecretBytes::random(32);
  const auto read = [&] {
    const auto text = security::read_sealed_file(real_disk(), dir_.path() + "/result/result", result_key,
                                                 output_place("scr_1", OutputKind::result, 0), 1 << 20);
    return text ? std::string(as_text(*text)) : std::string();
  };
  const auto job = [&] {
    ScoreTask score;
    score.model_path = dir_.path() + "/model/model";
    score.result_dir = dir_.path() + "/result";
    score.job.scoring_id = "scr_1";
    score.job.store_id = "mdl_1";
    score.job.model_key = model_key_.clone();
    score.job.result_key = result_key.clone();
    return score;
  };
  auto whole = job();
  whole.shard_paths = paths_;
  whole.job.dataset_id = "dst_1";
  whole.job.shards = 3;
  whole.job.schema_json = trainer::encode_schema(schema_);
  whole.job.data_key = data_key_.clone();
  const auto scored = run_score_worker(real_disk(), options_, std::move(whole), signals_, [](const auto&) {});
  ASSERT_TRUE(scored) << scored.error().message();
  EXPECT_EQ(scored->rows, 1200u);
  EXPECT_EQ(read().substr(0, 16), "x,y,prediction,p");

  const std::string table = "name,x\nada,0.5\n=eve,-0.5\n";
  const std::string path = dir_.path() + "/upl_1";
  auto upload = store::StagingFile::create(real_disk(), path, SecretBytes::random(32), {"upl_1", {}});
  ASSERT_TRUE(upload);
  ASSERT_TRUE((*upload)->append(as_bytes(table)));
  ASSERT_TRUE((*upload)->finish(security::sha256(as_bytes(table))));
  auto file = job();
  file.upload_path = path;
  file.job.file_name = "table.csv";
  file.job.raw_bytes = table.size();
  file.job.data_key = (*upload)->key().clone();
  const auto two = run_score_worker(real_disk(), options_, std::move(file), signals_, [](const auto&) {});
  ASSERT_TRUE(two) << two.error().message();
  EXPECT_EQ(two->rows, 2u);
  // In the file's order, and nothing a spreadsheet would run.
  EXPECT_NE(read().find("\r\nada,0.5,"), std::string::npos) << read();
  EXPECT_NE(read().find("\r\n'=eve,-0.5,"), std::string::npos) << read();
}

}  // namespace
}  // namespace samovar::jobs
