// Uploads cut at any byte, by the client, by the disk, by the power.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "daemon/jobs/uploads.hpp"
#include "tests/support/recording_disk.hpp"
#include "tests/unit/daemon/jobs/uploads_fixture.hpp"

namespace samovar::jobs {
namespace {

store::DataDir::Known known(const Box& box) {
  store::DataDir::Known out;
  for (const Upload& upload : box.uploads->all()) out.uploads.insert(upload.id);
  return out;
}

// R12: three hundred uploads, each cut at random bytes and resumed, with restarts and cuts of the power in
// between. Hashes are equal, nothing acknowledged is lost, nothing is left over.
TEST(UploadsPower, ThreeHundredCutAtARandomByteAndResumed) {
  Box box(300);
  SimRng luck(12);
  ASSERT_TRUE(box.start());
  const std::uint64_t baseline = *box.dir->used_bytes();
  int cuts = 0;
  for (int round = 0; round < 300; ++round) {
    const Bytes file = content(1 + luck.below(60'000), static_cast<std::uint64_t>(round));
    auto made = box.create(file.size(), fmt::format("file {}.csv", round));
    ASSERT_TRUE(made) << made.error().message();
    const std::string id = made->id;
    std::uint64_t acknowledged = 0;
    while (true) {
      const auto now = box.get(id);
      ASSERT_TRUE(now) << round;
      ASSERT_GE(now->offset, acknowledged) << round;
      acknowledged = now->offset;
      if (now->complete()) break;
      const ByteView rest = ByteView(file).subspan(static_cast<std::size_t>(now->offset));
      std::optional<std::size_t> cut;
      if (luck.below(3) != 0) cut = static_cast<std::size_t>(luck.below(rest.size()));
      cuts += cut ? 1 : 0;
      auto sent = box.send(id, now->offset, rest, 1 + luck.below(5000), cut);
      ASSERT_EQ(sent.has_value(), !cut) << round;
      acknowledged = box.get(id)->offset;
      const auto fate = luck.below(4);
      if (fate == 0) {
        ASSERT_TRUE(box.start());
      } else if (fate == 1) {
        box.cut_power();
        ASSERT_TRUE(box.start());
      }
    }
    EXPECT_EQ(box.get(id)->sha256, sha256_hex(file)) << round;
    EXPECT_EQ(*box.stored(id), file) << round;
    if (round % 10 != 0) {
      ASSERT_TRUE(box.run(box.uploads->remove(call_of("usr_a"), id)));
    }
  }
  EXPECT_GT(cuts, 300);
  box.cut_power();
  ASSERT_TRUE(box.start());
  EXPECT_EQ(box.uploads->all().size(), 30U);
  for (const Upload& upload : box.uploads->all())
    ASSERT_TRUE(box.run(box.uploads->remove(call_of("usr_a"), upload.id)));
  auto collected = box.dir->collect(known(box));
  ASSERT_TRUE(collected);
  EXPECT_EQ(collected->files, 0U);
  EXPECT_EQ(*box.dir->used_bytes(), baseline);
}

struct Told {
  std::string id;
  std::uint64_t offset = 0;
  bool complete = false;
};

// Creates an upload and sends it in two requests; remembers what it was told.
Told live(Box& box, const Bytes& file) {
  Told told;
  auto made = box.create(file.size());
  if (!made) return told;
  told.id = made->id;
  auto half = box.send(told.id, 0, ByteView(file).first(file.size() / 2), 3000);
  if (auto now = box.get(told.id)) told.offset = now->offset;
  if (!half) return told;
  auto done =
      box.send(told.id, half->offset, ByteView(file).subspan(static_cast<std::size_t>(half->offset)), 3000);
  if (auto now = box.get(told.id)) told.offset = now->offset;
  told.complete = done && done->complete();
  return told;
}

// Whatever was told is there; the rest can be sent; nothing else remains.
void recover(Box& box, const Told& told, const Bytes& file, const std::string& where) {
  ASSERT_TRUE(box.start()) << where;
  ASSERT_TRUE(box.dir->collect(known(box))) << where;
  if (told.id.empty()) {
    // Nobody knows of it; at most a whole, empty upload that expires.
    for (const Upload& upload : box.uploads->all()) EXPECT_EQ(upload.offset, 0U) << where;
    return;
  }
  auto now = box.get(told.id);
  ASSERT_TRUE(now) << where << ": " << now.error().message();
  ASSERT_GE(now->offset, told.offset) << where;
  if (told.complete) {
    ASSERT_TRUE(now->complete()) << where;
  }
  if (!now->complete()) {
    auto done = box.send(told.id, now->offset, ByteView(file).subspan(static_cast<std::size_t>(now->offset)));
    ASSERT_TRUE(done) << where << ": " << done.error().message();
  }
  EXPECT_EQ(box.get(told.id)->sha256, sha256_hex(file)) << where;
  EXPECT_EQ(*box.stored(told.id), file) << where;
  ASSERT_TRUE(box.run(box.uploads->remove(call_of("usr_a"), told.id))) << where;
  EXPECT_EQ(*box.dir->used_bytes(), 0U) << where;
}

TEST(UploadsPower, ACutAtAnyOperationLosesNothingTold) {
  const Bytes file = content(30'000, 5);
  bool complete = false;
  for (std::uint64_t n = 1; !complete; ++n) {
    ASSERT_LT(n, 100U);
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      Box box(seed * 1000 + n);
      ASSERT_TRUE(box.start());
      box.disk.cut_power_at(n);
      const Told told = live(box, file);
      complete = told.complete;
      box.cut_power();
      recover(box, told, file, fmt::format("{}/{}", n, seed));
      if (HasFatalFailure()) return;
    }
  }
}

TEST(UploadsPower, AFailureOfAnyOperationIsOvercomeWithoutARestart) {
  const Bytes file = content(30'000, 5);
  bool untouched = false;
  for (std::uint64_t n = 1; !untouched; ++n) {
    ASSERT_LT(n, 100U);
    for (const Errc code : {Errc::io, Errc::no_space}) {
      Box box(n);
      ASSERT_TRUE(box.start());
      const std::uint64_t before = box.disk.operations();
      box.disk.fail_nth(n, code);
      Told told = live(box, file);
      untouched = box.disk.operations() - before < n;
      if (told.id.empty()) {
        EXPECT_TRUE(box.uploads->all().empty());
        continue;
      }
      auto now = box.get(told.id);
      ASSERT_TRUE(now) << n;
      // A second request may first have to open the file anew.
      for (int i = 0; i < 2 && !now->complete(); ++i) {
        auto sent =
            box.send(told.id, now->offset, ByteView(file).subspan(static_cast<std::size_t>(now->offset)));
        now = box.get(told.id);
        ASSERT_TRUE(now) << n;
        if (!sent) {
          EXPECT_EQ(i, 0) << n << ": " << sent.error().message();
        }
      }
      ASSERT_TRUE(now->complete()) << n;
      EXPECT_EQ(now->sha256, sha256_hex(file)) << n;
      EXPECT_EQ(*box.stored(told.id), file) << n;
      box.cut_power();
      ASSERT_TRUE(box.start());
      EXPECT_EQ(box.get(told.id)->sha256, sha256_hex(file)) << n;
    }
  }
}

TEST(UploadsPower, AFullDiskRefusesAndStaysUsable) {
  Box box(1, small_pieces(), {.reserve_bytes = 10'000, .full_share = 0.95, .ballast_bytes = 20'000});
  box.disk.set_capacity(400'000);
  ASSERT_TRUE(box.start());
  ASSERT_TRUE(box.dir->tend_ballast());
  // At creation, when it can never fit.
  EXPECT_EQ(box.create(380'000).error().code(), Errc::no_space);
  EXPECT_EQ(*box.dir->used_bytes(), 0U);
  // In the middle, when others took the room.
  const Bytes file = content(300'000, 5);
  auto made = box.create(file.size());
  ASSERT_TRUE(made);
  ASSERT_TRUE(box.disk.write_file("/data/sources/other", Bytes(200'000)));
  auto sent = box.send(made->id, 0, file);
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code(), Errc::no_space);
  const std::uint64_t offset = box.get(made->id)->offset;
  EXPECT_GT(offset, 100'000U);
  // What came is kept and whole; with room again it goes on.
  ASSERT_TRUE(box.disk.remove("/data/sources/other"));
  auto done = box.send(made->id, offset, ByteView(file).subspan(static_cast<std::size_t>(offset)));
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(done->sha256, sha256_hex(file));
  ASSERT_TRUE(box.run(box.uploads->remove(call_of("usr_a"), made->id)));
  EXPECT_EQ(*box.dir->used_bytes(), 0U);
}

// Everything ever written, and every name, searched for what was planted in the file and its name.
TEST(UploadsPower, NothingReadableIsEverWritten) {
  Box box(1);
  RecordingDisk recorder(box.disk);
  ASSERT_TRUE(box.start(&recorder));
  std::string file;
  std::vector<std::string> planted;
  SimRng luck(3);
  for (int i = 0; i < 100; ++i) {
    planted.push_back(fmt::format("planted-{:016x}", luck.next()));
    file += planted.back() + "," + std::to_string(luck.next()) + "\n";
  }
  planted.emplace_back("patients of dr. quincy.csv");
  planted.emplace_back("usr_a");
  auto made = box.create(file.size(), "patients of dr. quincy.csv");
  ASSERT_TRUE(made);
  EXPECT_FALSE(box.send(made->id, 0, as_bytes(file), 700, file.size() / 2));
  ASSERT_TRUE(box.start(&recorder));
  ASSERT_TRUE(box.send(made->id, file.size() / 2, as_bytes(file).subspan(file.size() / 2)));
  EXPECT_GT(recorder.bytes(), file.size());
  for (const std::string& value : planted) EXPECT_EQ(recorder.hits(value), 0U) << value;
  // The search has eyes: a plain write is found.
  ASSERT_TRUE(recorder.write_file("/data/plain", as_bytes(file)));
  for (int i = 0; i < 100; ++i) EXPECT_GE(recorder.hits(planted[static_cast<std::size_t>(i)]), 1U);
}

}  // namespace
}  // namespace samovar::jobs
