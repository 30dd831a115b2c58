// The power goes, the disk fails or fills, at every operation: what was acknowledged is whole.
#include <gtest/gtest.h>

#include "daemon/store/staging.hpp"
#include "daemon/store/staging_format.hpp"
#include "tests/unit/daemon/store/store_fixture.hpp"

namespace samovar::store {
namespace {

constexpr const char* kPath = "/data/upload";

struct Outcome {
  bool created = false;
  std::uint64_t acknowledged = 0;  // synced bytes
  bool finished = false;
};

security::Hash256 some_hash() {
  security::Hash256 hash{};
  hash.fill(9);
  return hash;
}

// A life of an upload: three appends of several records, syncs, an end. Stops at the first error.
Outcome live(Disk& disk, const security::SecretBytes& wrap) {
  Outcome outcome;
  auto file = StagingFile::create(disk, kPath, wrap, test_head());
  if (!file) return outcome;
  outcome.created = true;
  std::uint64_t at = 0;
  for (const std::size_t size : {std::size_t{3000}, staging::kRecordPlainMax + 500, std::size_t{1}}) {
    for (int part = 0; part < 2; ++part) {
      if (!(*file)->append(pattern(size, at))) return outcome;
      at += size;
    }
    if (!(*file)->sync()) return outcome;
    outcome.acknowledged = (*file)->synced_size();
  }
  outcome.finished = (*file)->finish(some_hash()).has_value();
  return outcome;
}

void check(Disk& disk, const security::SecretBytes& wrap, const Outcome& outcome, const std::string& where) {
  auto file = StagingFile::open(disk, kPath, wrap);
  if (!outcome.created) {
    // Absent, or nothing that opens as more than it is.
    if (file) {
      EXPECT_EQ((*file)->size(), 0U) << where;
    }
    return;
  }
  ASSERT_TRUE(file) << where << ": " << file.error().message();
  EXPECT_EQ((*file)->head().about, test_head().about) << where;
  EXPECT_GE((*file)->size(), outcome.acknowledged) << where;
  if (outcome.finished) {
    EXPECT_EQ((*file)->sha256(), some_hash()) << where;
  }
  auto content = read_staging(disk, kPath, (*file)->key());
  ASSERT_TRUE(content) << where << ": " << content.error().message();
  EXPECT_EQ(*content, pattern((*file)->size())) << where;
  if ((*file)->sha256()) return;
  // It goes on from there, whatever was behind.
  const Bytes more = pattern(700, (*file)->size());
  ASSERT_TRUE((*file)->append(more)) << where;
  ASSERT_TRUE((*file)->sync()) << where;
  content = read_staging(disk, kPath, (*file)->key());
  ASSERT_TRUE(content) << where << ": " << content.error().message();
  EXPECT_EQ(*content, pattern((*file)->size())) << where;
}

TEST(StagingPower, ACutAtAnyOperationLosesNothingAcknowledged) {
  const auto wrap = test_key(3);
  bool finished = false;
  for (std::uint64_t n = 1; !finished; ++n) {
    ASSERT_LT(n, 60U);
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      SimDisk disk(seed * 1000 + n);
      ASSERT_TRUE(disk.make_dir("/data"));
      disk.cut_power_at(n);
      const Outcome outcome = live(disk, wrap);
      finished = outcome.finished;
      disk.crash();
      check(disk, wrap, outcome, std::to_string(n) + "/" + std::to_string(seed));
      if (HasFatalFailure()) return;
      // And a second time, during what the recovery wrote.
      disk.crash();
      if (outcome.created) {
        EXPECT_TRUE(StagingFile::open(disk, kPath, wrap));
      }
    }
  }
}

// A torn tail must not come back to life behind a shorter record that took its place.
TEST(StagingPower, WhatWasCutOffStaysOff) {
  const auto wrap = test_key(3);
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SimDisk disk(seed);
    ASSERT_TRUE(disk.make_dir("/data"));
    std::uint64_t base = 0;
    {
      auto file = StagingFile::create(disk, kPath, wrap, test_head());
      ASSERT_TRUE(file);
      ASSERT_TRUE((*file)->append(pattern(100)) && (*file)->sync());
      for (int i = 0; i < 4; ++i) ASSERT_TRUE((*file)->append(Bytes(200, 0xaa)));
    }
    disk.crash();
    {
      auto file = StagingFile::open(disk, kPath, wrap);
      ASSERT_TRUE(file);
      base = (*file)->size();
      ASSERT_TRUE((*file)->append(Bytes(200, 0xbb)));
      ASSERT_TRUE((*file)->sync());
    }
    disk.crash();
    auto file = StagingFile::open(disk, kPath, wrap);
    ASSERT_TRUE(file);
    ASSERT_EQ((*file)->size(), base + 200) << seed;
    auto content = read_staging(disk, kPath, (*file)->key());
    ASSERT_TRUE(content);
    EXPECT_EQ(Bytes(content->end() - 200, content->end()), Bytes(200, 0xbb));
  }
}

// The harness has teeth: an acknowledgement before the sync is caught.
TEST(StagingPower, AnAcknowledgementWithoutSyncIsCaught) {
  const auto wrap = test_key(3);
  int lost = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SimDisk disk(seed);
    ASSERT_TRUE(disk.make_dir("/data"));
    {
      auto file = StagingFile::create(disk, kPath, wrap, test_head());
      ASSERT_TRUE(file && (*file)->append(pattern(1000)));
    }
    disk.crash();
    auto file = StagingFile::open(disk, kPath, wrap);
    ASSERT_TRUE(file);
    lost += (*file)->size() < 1000 ? 1 : 0;
  }
  EXPECT_GT(lost, 0);
}

// One failing operation, then the disk is well again: the error is told, and the file goes on.
TEST(StagingPower, AFailureOfAnyOperationIsToldAndOvercome) {
  const auto wrap = test_key(3);
  bool untouched = false;
  for (std::uint64_t n = 1; !untouched; ++n) {
    ASSERT_LT(n, 80U);
    for (const Errc code : {Errc::io, Errc::no_space}) {
      for (std::uint64_t seed = 0; seed < 2; ++seed) {
        SimDisk disk(seed * 1000 + n);
        ASSERT_TRUE(disk.make_dir("/data"));
        auto file = StagingFile::create(disk, kPath, wrap, test_head());
        ASSERT_TRUE(file);
        const std::uint64_t before = disk.operations();
        disk.fail_nth(n, code);
        std::uint64_t acknowledged = 0;
        int failures = 0;
        for (int step = 0; step < 12; ++step) {
          const std::uint64_t at = (*file)->size();
          auto done = (*file)->append(pattern(step == 5 ? staging::kRecordPlainMax * 4 + 1 : 400, at));
          if (done) done = (*file)->sync();
          if (done) {
            acknowledged = (*file)->synced_size();
            continue;
          }
          ++failures;
          EXPECT_EQ(done.error().code(), code);
          ASSERT_TRUE((*file)->roll_back());
          EXPECT_EQ((*file)->size(), acknowledged);
        }
        untouched = disk.operations() - before < n;
        EXPECT_EQ(failures, untouched ? 0 : 1) << n;
        disk.crash();
        auto again = StagingFile::open(disk, kPath, wrap);
        ASSERT_TRUE(again) << n << ": " << again.error().message();
        ASSERT_EQ((*again)->size(), acknowledged) << n;
        auto content = read_staging(disk, kPath, (*again)->key());
        ASSERT_TRUE(content);
        EXPECT_EQ(*content, pattern(acknowledged));
      }
    }
  }
}

TEST(StagingPower, AFullDiskLeavesWhatWasThere) {
  const auto wrap = test_key(3);
  SimDisk disk(1, 1'000'000);
  ASSERT_TRUE(disk.make_dir("/data"));
  auto file = StagingFile::create(disk, kPath, wrap, test_head());
  ASSERT_TRUE(file);
  ASSERT_TRUE((*file)->append(pattern(600'000)) && (*file)->sync());
  const auto used = disk.space("/data")->free_bytes;
  EXPECT_EQ((*file)->append(pattern(600'000, 600'000)).error().code(), Errc::no_space);
  EXPECT_EQ((*file)->size(), 600'000U);
  EXPECT_EQ(disk.space("/data")->free_bytes, used);
  ASSERT_TRUE((*file)->append(pattern(100'000, 600'000)) && (*file)->sync());
  auto content = read_staging(disk, kPath, (*file)->key());
  ASSERT_TRUE(content);
  EXPECT_EQ(*content, pattern(700'000));
}

}  // namespace
}  // namespace samovar::store
