// The real samovar-worker, started as samovard starts it.
#include "daemon/jobs/ingest_runner.hpp"

#include <gtest/gtest.h>

#include "base/disk.hpp"
#include "daemon/store/staging.hpp"
#include "security/init.hpp"
#include "tests/support/temp_dir.hpp"

namespace samovar::jobs {
namespace {

class Worker : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(security::init());
    options_.program = SAMOVAR_WORKER;
  }

  // An upload of this content, sealed.
  std::string upload(std::string_view content) {
    const std::string path = dir_.path() + "/upl_1";
    const auto wrap = security::SecretBytes::random(32);
    auto file = store::StagingFile::create(real_disk(), path, wrap, {"upl_1", {}});
    EXPECT_TRUE(file);
    EXPECT_TRUE((*file)->append(as_bytes(content)));
    EXPECT_TRUE((*file)->finish(security::sha256(as_bytes(content))));
    key_ = (*file)->key().clone();
    return path;
  }

  IngestTask task(std::string_view content) {
    IngestTask task;
    task.upload_path = upload(content);
    task.incoming_dir = dir_.path() + "/incoming";
    EXPECT_TRUE(real_disk().make_dir(task.incoming_dir));
    task.job.file_name = "table.csv";
    task.job.hints_json = "{}";
    task.job.dataset_id = "dst_1";
    task.job.raw_bytes = content.size();
    task.job.source_key = key_.clone();
    task.job.data_key = security::SecretBytes::random(32);
    return task;
  }

  test::TempDir dir_;
  WorkerOptions options_;
  security::SecretBytes key_;
  std::atomic<bool> cancelled_{false};
};

constexpr const char* kTable = "id,name\n1,ada\n2,eve\n3,joe\n";

TEST_F(Worker, LooksIntoAFile) {
  InspectTask look;
  look.upload_path = upload(kTable);
  look.job.file_name = "table.csv";
  look.job.hints_json = "{}";
  look.job.source_key = key_.clone();
  const auto found = run_inspect(options_, std::move(look));
  ASSERT_TRUE(found) << found.error().message();
  ASSERT_EQ(found->columns.size(), 2u);
  EXPECT_EQ(found->columns[1].spec.name, "name");
}

TEST_F(Worker, MakesTheFilesOfAVersion) {
  const auto report = run_ingest_worker(options_, task(kTable), cancelled_, [](const auto&) {});
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->rows, 3u);
  const auto names = real_disk().list(dir_.path() + "/incoming");
  ASSERT_TRUE(names);
  EXPECT_EQ(*names, (std::vector<std::string>{"0", "profile"}));
}

TEST_F(Worker, TellsWhatIsWrongWithAFile) {
  const auto report =
      run_ingest_worker(options_, task("\x89PNG\r\n\x1a\n and more"), cancelled_, [](const auto&) {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code(), Errc::invalid);
}

TEST_F(Worker, DoesNotOpenAFileWithAnotherKey) {
  auto wrong = task(kTable);
  wrong.job.source_key = security::SecretBytes::random(32);
  EXPECT_FALSE(run_ingest_worker(options_, std::move(wrong), cancelled_, [](const auto&) {}));
}

TEST_F(Worker, IsEndedWhenCancelled) {
  cancelled_ = true;
  const auto report = run_ingest_worker(options_, task(kTable), cancelled_, [](const auto&) {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code(), Errc::conflict);
}

TEST_F(Worker, GetsNoFileWhenTheDiskIsFull) {
  auto full = task(kTable);
  full.check_room = [] { return Error{Errc::no_space, "the disk is full: free some space"}; };
  const auto report = run_ingest_worker(options_, std::move(full), cancelled_, [](const auto&) {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code(), Errc::no_space);
}

TEST_F(Worker, AMissingProgramNamesTheRemedy) {
  options_.program = dir_.path() + "/nowhere";
  const auto report = run_ingest_worker(options_, task(kTable), cancelled_, [](const auto&) {});
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().message().find("install"), std::string::npos);
}

// The whole program, not only its sandbox: what it must not do ends it, and it says hello otherwise.
TEST_F(Worker, CannotLeaveItsSandbox) {
  const auto allowed = run_trial(options_, "nothing");
  ASSERT_FALSE(allowed);
  EXPECT_EQ(allowed.error().code(), Errc::conflict) << allowed.error().message();
  for (const char* call :
       {"create", "socket", "unix_socket", "execve", "ptrace", "fork", "kill", "exec_memory"}) {
    const auto refused = run_trial(options_, call);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find("sandbox"), std::string::npos)
        << call << ": " << refused.error().message();
  }
  const auto reading = run_trial(options_, "open");
  ASSERT_FALSE(reading);
  EXPECT_EQ(reading.error().code(), Errc::denied) << reading.error().message();
}

}  // namespace
}  // namespace samovar::jobs
