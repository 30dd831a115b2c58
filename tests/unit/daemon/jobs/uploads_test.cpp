#include "daemon/jobs/uploads.hpp"

#include <gtest/gtest.h>

#include "tests/unit/daemon/jobs/uploads_fixture.hpp"

namespace samovar::jobs {
namespace {

using namespace std::chrono_literals;

TEST(Uploads, AWholeFileInOneGo) {
  Box box(1);
  ASSERT_TRUE(box.start());
  const Bytes file = content(100'000, 3);
  auto made = box.create(file.size(), "../../etc/passwd");
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->offset, 0U);
  EXPECT_EQ(made->file_name, "../../etc/passwd");
  EXPECT_EQ(made->expires_at - made->created_at, 24h * 7);
  auto done = box.send(made->id, 0, file);
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_TRUE(done->complete());
  EXPECT_EQ(done->sha256, sha256_hex(file));
  EXPECT_EQ(*box.stored(made->id), file);
  EXPECT_EQ(box.disk.list("/data/uploads")->size(), 1U);
  EXPECT_EQ(box.disk.list("/data/uploads")->at(0), made->id);
}

TEST(Uploads, AnEmptyFileIsCompleteAtOnce) {
  Box box(1);
  ASSERT_TRUE(box.start());
  auto made = box.create(0);
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->complete());
  EXPECT_EQ(made->sha256, sha256_hex({}));
}

TEST(Uploads, GoOnWhereTheClientLeft) {
  Box box(1);
  ASSERT_TRUE(box.start());
  const Bytes file = content(50'000, 3);
  const std::string id = box.create(file.size())->id;
  EXPECT_EQ(box.send(id, 0, file, 1000, 20'500).error().code(), Errc::io);
  EXPECT_EQ(box.get(id)->offset, 20'500U);  // all that came is kept
  EXPECT_EQ(box.send(id, 0, file).error().code(), Errc::conflict);
  EXPECT_EQ(box.send(id, 20'501, file).error().code(), Errc::conflict);
  ASSERT_TRUE(box.start());  // a restart in between
  EXPECT_EQ(box.get(id)->offset, 20'500U);
  EXPECT_EQ(box.get(id)->file_name, "table.csv");
  auto done = box.send(id, 20'500, ByteView(file).subspan(20'500));
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(done->sha256, sha256_hex(file));
  ASSERT_TRUE(box.start());
  EXPECT_EQ(box.get(id)->sha256, sha256_hex(file));
  EXPECT_EQ(*box.stored(id), file);
}

TEST(Uploads, MoreThanAnnouncedIsRefused) {
  Box box(1);
  ASSERT_TRUE(box.start());
  const Bytes file = content(5000, 3);
  const std::string id = box.create(4000)->id;
  EXPECT_EQ(box.send(id, 0, file, 1500).error().code(), Errc::invalid);
  EXPECT_EQ(box.get(id)->offset, 3000U);
  auto done = box.send(id, 3000, ByteView(file).subspan(3000, 1000));
  ASSERT_TRUE(done);
  EXPECT_EQ(box.send(id, 4000, file).error().code(), Errc::invalid);
  EXPECT_TRUE(box.send(id, 4000, {}));
  EXPECT_EQ(*box.stored(id), Bytes(file.begin(), file.begin() + 4000));
}

TEST(Uploads, HaveOneWriterAtATime) {
  Box box(1);
  ASSERT_TRUE(box.start());
  const Bytes file = content(5000, 3);
  const std::string id = box.create(file.size())->id;
  std::function<void(Result<Bytes>)> give;
  DataService::NextPiece next = [&]() -> Task<Result<Bytes>> {
    auto start = [&](std::function<void(Result<Bytes>)> done) { give = std::move(done); };
    co_return co_await from_callback<Result<Bytes>>(std::move(start));
  };
  std::optional<Result<Upload>> first;
  spawn<Result<Upload>>(box.uploads->append(call_of("usr_a"), id, 0, next),
                        [&](Result<Upload> result) { first.emplace(std::move(result)); });
  box.scheduler.run_for(1ms);
  ASSERT_TRUE(give);
  EXPECT_EQ(box.send(id, 0, file).error().code(), Errc::busy);
  EXPECT_EQ(box.run(box.uploads->remove(call_of("usr_a"), id)).error().code(), Errc::busy);
  EXPECT_EQ(box.uploads->hold(id).error().code(), Errc::conflict);
  give(Bytes(file));
  box.scheduler.run_for(1ms);
  give(Bytes());
  box.scheduler.run_for(1ms);
  ASSERT_TRUE(first && *first);
  EXPECT_EQ((*first)->sha256, sha256_hex(file));
}

// Large pieces are sealed where they lie, small ones are put together: the file is the same.
TEST(Uploads, PiecesOfAnySizeMakeTheSameFile) {
  UploadOptions options;
  options.piece_bytes = 600'000;
  Box box(1, options);
  ASSERT_TRUE(box.start());
  const std::size_t sizes[] = {10, 70'000, 300'000, 1, 2, 65'535, 65'536, 3, 1'500'000, 9, 200'000, 100};
  std::size_t total = 0;
  for (const std::size_t size : sizes) total += size;
  const Bytes file = content(total, 8);
  const std::string id = box.create(file.size())->id;
  std::size_t turn = 0;
  std::size_t at = 0;
  DataService::NextPiece next = [&]() -> Task<Result<Bytes>> {
    if (turn == std::size(sizes)) co_return Bytes();
    const ByteView part = ByteView(file).subspan(at, sizes[turn]);
    at += sizes[turn++];
    co_return to_bytes(part);
  };
  const auto done = box.run(box.uploads->append(call_of("usr_a"), id, 0, next));
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(done->sha256, sha256_hex(file));
  const auto stored = box.stored(id);
  ASSERT_TRUE(stored);
  EXPECT_TRUE(*stored == file);
}

// What was read while the line was slow is synced once a second, and the offset says so.
TEST(Uploads, ASlowLineIsSyncedByTheClock) {
  Box box(1);
  ASSERT_TRUE(box.start());
  const Bytes file = content(5000, 3);
  const std::string id = box.create(file.size())->id;
  std::function<void(Result<Bytes>)> give;
  DataService::NextPiece next = [&]() -> Task<Result<Bytes>> {
    auto start = [&](std::function<void(Result<Bytes>)> done) { give = std::move(done); };
    co_return co_await from_callback<Result<Bytes>>(std::move(start));
  };
  spawn<Result<Upload>>(box.uploads->append(call_of("usr_a"), id, 0, next), [](const Result<Upload>&) {});
  for (int i = 0; i < 8; ++i) {
    box.scheduler.run_for(600ms);
    give(Bytes(file.begin() + 100 * i, file.begin() + 100 * (i + 1)));
  }
  box.scheduler.run_for(10ms);
  EXPECT_GE(box.get(id)->offset, 500U);
  const std::uint64_t told = box.get(id)->offset;
  box.disk.crash();
  give(Error{Errc::io, "gone"});  // the request ends with the box
  box.scheduler.run_for(10ms);
  ASSERT_TRUE(box.start());
  EXPECT_GE(box.get(id)->offset, told);
}

TEST(Uploads, BelongToTheirUser) {
  Box box(1);
  ASSERT_TRUE(box.start());
  const std::string id = box.create(10)->id;
  auto other = call_of("usr_b");
  EXPECT_EQ(box.uploads->get(other.actor, id).error().code(), Errc::not_found);
  EXPECT_TRUE(box.uploads->list(other.actor).empty());
  EXPECT_EQ(box.run(box.uploads->remove(other, id)).error().code(), Errc::not_found);
  // An administrator may make room, but not look.
  other.actor.role = cluster::Role::admin;
  EXPECT_EQ(box.uploads->get(other.actor, id).error().code(), Errc::not_found);
  EXPECT_TRUE(box.run(box.uploads->remove(other, id)));
  EXPECT_EQ(box.get(id).error().code(), Errc::not_found);
  EXPECT_EQ(*box.dir->used_bytes(), 0U);
}

TEST(Uploads, ExpireAWeekAfterTheirLastByte) {
  Box box(1);
  ASSERT_TRUE(box.start());
  const Bytes file = content(5000, 3);
  const std::string idle = box.create(10)->id;
  const std::string fed = box.create(file.size())->id;
  const std::string held = box.create(0)->id;
  ASSERT_TRUE(box.uploads->hold(held));
  box.scheduler.run_for(24h * 6);
  EXPECT_FALSE(box.send(fed, 0, file, 1000, 2000));
  box.scheduler.run_for(25h);
  EXPECT_EQ(box.get(idle).error().code(), Errc::unavailable);
  EXPECT_EQ(box.send(idle, 0, content(10, 1)).error().code(), Errc::unavailable);
  box.run([](Uploads& uploads) -> Task<bool> {
    co_await uploads.sweep();
    co_return true;
  }(*box.uploads));
  EXPECT_EQ(box.get(idle).error().code(), Errc::not_found);
  EXPECT_TRUE(box.get(fed));
  EXPECT_TRUE(box.get(held));
  ASSERT_TRUE(box.start());  // the time of the last byte survives
  EXPECT_TRUE(box.get(fed));
  box.scheduler.run_for(24h * 6);
  EXPECT_EQ(box.get(fed).error().code(), Errc::unavailable);
}

TEST(Uploads, HeldOnesStay) {
  Box box(1);
  ASSERT_TRUE(box.start());
  const std::string id = box.create(0)->id;
  ASSERT_TRUE(box.uploads->hold(id));
  EXPECT_EQ(box.run(box.uploads->remove(call_of("usr_a"), id)).error().code(), Errc::conflict);
  box.uploads->release(id);
  EXPECT_TRUE(box.run(box.uploads->remove(call_of("usr_a"), id)));
  EXPECT_EQ(box.uploads->hold(id).error().code(), Errc::not_found);
}

TEST(Uploads, AreHandedOverToADataSet) {
  Box box(1);
  ASSERT_TRUE(box.start());
  const Bytes file = content(30'000, 3);
  const std::string id = box.create(file.size())->id;
  ASSERT_TRUE(box.send(id, 0, file));
  const auto one_off = box.uploads->key(id);
  ASSERT_TRUE(one_off);
  ASSERT_TRUE(box.dir->keep_source(id, "dst_1"));
  box.uploads->forget(id);
  EXPECT_EQ(box.get(id).error().code(), Errc::not_found);
  ASSERT_TRUE(store::StagingFile::drop_wrapped_key(box.disk, box.dir->source("dst_1")));
  auto reader =
      store::StagingReader::open(*box.disk.open(box.dir->source("dst_1"), OpenMode::read), *one_off);
  ASSERT_TRUE(reader);
  EXPECT_TRUE((*reader)->complete());
  EXPECT_EQ((*reader)->size(), file.size());
  // The master key alone opens it no more.
  EXPECT_EQ(store::StagingFile::open(box.disk, box.dir->source("dst_1"), box.key).error().code(),
            Errc::corrupt);
}

TEST(Uploads, KeepToTheQuota) {
  UploadOptions options = small_pieces();
  options.quota_bytes_per_user = [] { return std::uint64_t{1000}; };
  Box box(1, options);
  ASSERT_TRUE(box.start());
  EXPECT_EQ(box.create(1001).error().code(), Errc::busy);
  const auto first = box.create(600);
  ASSERT_TRUE(first);
  EXPECT_EQ(box.create(401).error().code(), Errc::busy);
  EXPECT_TRUE(box.create(401, "other's", "usr_b"));
  ASSERT_TRUE(box.run(box.uploads->remove(call_of("usr_a"), first->id)));
  EXPECT_TRUE(box.create(1000));
}

TEST(Uploads, CloseIdleFilesAndOpenThemAgain) {
  UploadOptions options = small_pieces();
  options.open_files_max = 2;
  Box box(1, options);
  ASSERT_TRUE(box.start());
  const Bytes file = content(900, 3);
  std::vector<std::string> ids;
  for (int i = 0; i < 6; ++i) ids.push_back(box.create(file.size())->id);
  for (std::uint64_t at = 0; at < file.size(); at += 300)
    for (const auto& id : ids) ASSERT_TRUE(box.send(id, at, ByteView(file).subspan(at, 300)));
  for (const auto& id : ids) EXPECT_EQ(box.get(id)->sha256, sha256_hex(file));
}

}  // namespace
}  // namespace samovar::jobs
