// A small sealed data set, and what hears of a samovar-worker that trains on it.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "base/disk.hpp"
#include "base/json.hpp"
#include "daemon/jobs/train_runner.hpp"
#include "daemon/store/shard_file.hpp"
#include "security/init.hpp"
#include "tests/support/temp_dir.hpp"
#include "trainer/data/block.hpp"
#include "trainer/spec.hpp"

namespace samovar::jobs {

class TrainWorker : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(security::init());
    options_.program = SAMOVAR_WORKER;
    schema_.columns = {{"x", trainer::ColumnType::real, false}, {"y", trainer::ColumnType::boolean, false}};
    for (const char* name : {"data", "job", "model", "result"})
      ASSERT_TRUE(real_disk().make_dir(dir_.path() + "/" + name));
    for (std::uint32_t shard = 0; shard < 3; ++shard) write_shard(shard, 400);
    hooks_.step = [this](const StepMessage& step) { steps_.push_back(step.step); };
    hooks_.metric = [this](const MetricMessage&) { ++metrics_; };
    hooks_.log = [this](const LogMessage& line) { log_ += line.text + "\n"; };
    hooks_.device = [this](const DeviceMessage& told) { devices_.push_back(told.name + "|" + told.trouble); };
    hooks_.checkpoint = [this](const SavedFile& file, const std::string&) -> Result<void> {
      kept_ = file;
      return {};
    };
  }

  void write_shard(std::uint32_t shard, std::uint32_t rows) {
    const std::string path = dir_.path() + "/data/" + std::to_string(shard);
    auto file = real_disk().open(path, OpenMode::create_new);
    ASSERT_TRUE(file);
    auto writer =
        store::ShardWriter::create(std::move(*file), data_key_, store::shard_place("dst_1", 1, shard));
    ASSERT_TRUE(writer);
    trainer::BlockColumns block;
    block.rows = rows;
    block.columns.resize(2);
    block.columns[0].type = trainer::ColumnType::real;
    block.columns[1].type = trainer::ColumnType::boolean;
    for (std::uint32_t i = 0; i < rows; ++i) {
      const double x = std::sin(static_cast<double>(i * 7 + shard));
      block.columns[0].reals.push_back(x);
      // Mostly by the sign, so that there is something to learn and no separation.
      block.columns[1].integers.push_back((x > 0) != (i % 5 == 0) ? 1 : 0);
    }
    Bytes encoded;
    trainer::encode_block(block, encoded);
    ASSERT_TRUE((*writer)->append(rows, encoded));
    ASSERT_TRUE((*writer)->finish());
    paths_.push_back(path);
  }

  TrainTask task(nlohmann::json parameters = nlohmann::json::object()) {
    TrainTask task;
    task.shard_paths = paths_;
    task.job_dir = dir_.path() + "/job";
    task.model_dir = dir_.path() + "/model";
    task.job.job_id = "job_1";
    task.job.store_id = "mdl_1";
    const nlohmann::json spec = {{"kind", "glm"},
                                 {"name", "m"},
                                 {"dataset", "dst_1"},
                                 {"target", "y"},
                                 {"parameters", std::move(parameters)}};
    task.job.spec_json = spec.dump();
    task.job.schema_json = trainer::encode_schema(schema_);
    task.job.dataset_id = "dst_1";
    task.job.shards = static_cast<std::uint32_t>(paths_.size());
    task.job.data_key = data_key_.clone();
    task.job.job_key = job_key_.clone();
    task.job.model_key = model_key_.clone();
    return task;
  }

  Result<TrainedMessage> train(TrainTask task) {
    return run_train_worker(real_disk(), options_, std::move(task), signals_, hooks_);
  }

  test::TempDir dir_;
  WorkerOptions options_;
  trainer::Schema schema_;
  std::vector<std::string> paths_;
  const security::SecretBytes data_key_ = security::SecretBytes::random(32);
  const security::SecretBytes job_key_ = security::SecretBytes::random(32);
  const security::SecretBytes model_key_ = security::SecretBytes::random(32);
  WorkerSignals signals_;
  TrainHooks hooks_;
  std::vector<std::string> steps_;
  std::string log_;
  std::vector<std::string> devices_;  // name|trouble
  unsigned metrics_ = 0;
  std::optional<SavedFile> kept_;
};

}  // namespace samovar::jobs
