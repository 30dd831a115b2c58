// Damaged, cut, missing and foreign files: either everything acknowledged is there, or the log refuses
// to open, names the file, and leaves every byte where it was. Torn writes that nobody was promised
// come up by themselves.
#include "daemon/raft/little_endian.hpp"
#include "tests/unit/daemon/raft/log_fixture.hpp"

namespace samovar::raft::testing {
namespace {

using Files = std::map<std::string, Bytes>;

class LogDamageTest : public LogFixture {
 protected:
  // A log with two snapshots, closed segments and an open one, as a running node leaves it when it dies.
  void make_used_log() {
    auto with = options(true);
    with.snapshot_threshold = 16;
    with.snapshot_trailing = 8;
    ASSERT_TRUE(open(with));
    fill(50);
    settle();
    alive_ = at_one_moment();
    wanted_ = machine_->list;
    shut();
  }
  // One more round trip, so that a snapshot being written is on disk.
  void settle() { fill(1, "settle"); }

  // The log's threads go on writing meanwhile, and on a slow machine a copy may be of no single moment, as no
  // cut of the power would leave it. Two in a row that are equal are of the moment between them.
  Files at_one_moment() const {
    Files copy = contents_of(dir());
    for (Files next = contents_of(dir()); next != copy; next = contents_of(dir())) copy = std::move(next);
    return copy;
  }

  void put(const Files& files) {
    fs::remove_all(dir());
    fs::create_directories(dir());
    for (const auto& [name, bytes] : files) write_all(dir() / name, bytes);
  }

  // The one property of this file.
  void expect_whole_or_refused(const Files& files, const std::string& what) {
    put(files);
    const auto opened = open(options(false));
    if (opened) {
      ASSERT_GE(machine_->list.size(), wanted_.size()) << what << ": opened with less than was acknowledged";
      EXPECT_TRUE(std::equal(wanted_.begin(), wanted_.end(), machine_->list.begin())) << what;
      shut();
      ++accepted_;
      return;
    }
    ++refused_;
    EXPECT_TRUE(opened.error().code() == Errc::corrupt) << what << ": " << opened.error().message();
    EXPECT_NE(opened.error().message().find("estore"), std::string::npos) << opened.error().message();
    EXPECT_TRUE(contents_of(dir()) == files) << what << ": files changed";
  }

  void expect_refused_naming(const Files& files, const std::string& name) {
    put(files);
    const auto opened = open(options(false));
    ASSERT_FALSE(opened) << name;
    EXPECT_EQ(opened.error().code(), Errc::corrupt);
    EXPECT_NE(opened.error().message().find(name), std::string::npos) << opened.error().message();
    EXPECT_TRUE(contents_of(dir()) == files) << name;
  }

  static std::size_t used_bytes(const Bytes& bytes) {
    std::size_t used = bytes.size();
    while (used > 0 && bytes[used - 1] == 0) --used;
    return used;
  }

  Files alive_;
  std::vector<std::string> wanted_;
  int accepted_ = 0;
  int refused_ = 0;
};

TEST_F(LogDamageTest, UndamagedCopyOpens) {
  make_used_log();
  put(alive_);
  const auto opened = open(options(false));
  ASSERT_TRUE(opened) << opened.error().message();
  EXPECT_EQ(machine_->list, wanted_);
}

TEST_F(LogDamageTest, EveryFlippedBitIsHarmlessOrRefused) {
  make_used_log();
  for (const auto& [name, bytes] : alive_) {
    const std::size_t used = used_bytes(bytes);
    const std::size_t step = std::max<std::size_t>(1, used / 24);
    for (std::size_t at = 0; at < used; at += step) {
      Files damaged = alive_;
      damaged[name][at] ^= static_cast<std::uint8_t>(1u << (at % 8));
      expect_whole_or_refused(damaged, name + " bit flip at " + std::to_string(at));
    }
  }
  EXPECT_GT(refused_, 20);  // the sweep did find things to refuse
}

TEST_F(LogDamageTest, EveryTruncationIsHarmlessOrRefused) {
  make_used_log();
  for (const auto& [name, bytes] : alive_) {
    const std::size_t used = used_bytes(bytes);
    for (const std::size_t keep :
         {std::size_t{0}, std::size_t{5}, used / 3, used * 2 / 3, used > 0 ? used - 1 : 0}) {
      Files damaged = alive_;
      damaged[name].resize(keep);
      expect_whole_or_refused(damaged, name + " cut to " + std::to_string(keep));
    }
  }
  EXPECT_GT(refused_, 5);
}

TEST_F(LogDamageTest, EveryMissingFileIsHarmlessOrRefused) {
  make_used_log();
  for (const auto& [name, bytes] : alive_) {
    Files damaged = alive_;
    damaged.erase(name);
    expect_whole_or_refused(damaged, name + " missing");
  }
  EXPECT_GT(refused_, 1);
}

TEST_F(LogDamageTest, ZeroedPageIsHarmlessOrRefused) {
  make_used_log();
  for (const auto& [name, bytes] : alive_) {
    for (std::size_t page = 0; page * 4096 < used_bytes(bytes); ++page) {
      Files damaged = alive_;
      auto& target = damaged[name];
      const auto first = target.begin() + static_cast<std::ptrdiff_t>(page * 4096);
      std::fill(first,
                first + static_cast<std::ptrdiff_t>(std::min<std::size_t>(4096, target.size() - page * 4096)),
                std::uint8_t{0});
      expect_whole_or_refused(damaged, name + " zeroed page " + std::to_string(page));
    }
  }
}

TEST_F(LogDamageTest, LostTailOfAnOpenSegmentIsRefusedByName) {
  begin();
  fill(5);
  Files files = contents_of(dir());
  wanted_ = machine_->list;
  drop();
  const std::string name = newest_open().empty() ? newest_closed() : newest_open();
  std::string open_name;
  for (const auto& [file, bytes] : files)
    if (file.rfind("open-", 0) == 0 && used_bytes(bytes) > 0) open_name = file;
  ASSERT_FALSE(open_name.empty());
  // libraft alone would drop this silently: the last entry no longer matches its checksum.
  Bytes& bytes = files[open_name];
  bytes[used_bytes(bytes) - 9] ^= 1;
  expect_refused_naming(files, open_name);
}

TEST_F(LogDamageTest, MissingOpenSegmentIsRefused) {
  begin();
  fill(5);
  Files files = contents_of(dir());
  drop();
  for (auto it = files.begin(); it != files.end();)
    it = it->first.rfind("open-", 0) == 0 ? files.erase(it) : ++it;
  wanted_ = {};
  put(files);
  const auto opened = open(options(false));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), Errc::corrupt);
  EXPECT_NE(opened.error().message().find("was acknowledged"), std::string::npos) << opened.error().message();
  EXPECT_TRUE(contents_of(dir()) == files);
}

TEST_F(LogDamageTest, TornUnacknowledgedWriteComesUpByItself) {
  begin();
  fill(3);
  const Files before = contents_of(dir());
  const auto acknowledged = machine_->list;
  ASSERT_TRUE(propose("torn " + std::string(9000, 'x')));  // over several blocks
  const Files after = contents_of(dir());
  const auto complete = machine_->list;
  drop();
  std::string name;
  for (const auto& [file, bytes] : after)
    if (file.rfind("open-", 0) == 0 && used_bytes(bytes) > 0) name = file;
  const std::size_t from = used_bytes(before.at(name));
  const std::size_t to = used_bytes(after.at(name));
  ASSERT_GT(to, from + 9000);
  for (std::size_t cut = from; cut <= to; cut += (to - from) / 40 + 1) {
    Files torn = before;  // with the witness from before: nobody was told yet
    std::copy_n(after.at(name).begin(), cut, torn[name].begin());
    put(torn);
    const auto opened = open(options(false));
    ASSERT_TRUE(opened) << "cut at " << cut << ": " << opened.error().message();
    EXPECT_TRUE(machine_->list == acknowledged || machine_->list == complete) << cut;
    ASSERT_TRUE(propose("goes on"));
    shut();
    ASSERT_TRUE(open(options(false)));
    EXPECT_EQ(machine_->list.back(), "goes on");
    shut();
  }
}

TEST_F(LogDamageTest, TornFirstWriteOfASegmentComesUpByItself) {
  begin();
  fill(2);
  shut();
  Files files = contents_of(dir());
  // Later blocks reached the disk, the first one did not.
  Bytes segment(64 * 1024, 0);
  std::fill(segment.begin() + 4096, segment.begin() + 9000, std::uint8_t{0x5a});
  files["open-1"] = segment;
  put(files);
  const auto opened = open(options(false));
  ASSERT_TRUE(opened) << opened.error().message();
  EXPECT_EQ(machine_->list.size(), 2u);
  shut();
  EXPECT_EQ(read_all(dir() / "torn-open-1"), segment);  // kept, out of the way
}

TEST_F(LogDamageTest, WrongKeyIsDeniedAndChangesNothing) {
  make_used_log();
  const auto before = contents_of(dir());
  const auto opened = open(options(false), 8);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), Errc::denied);
  EXPECT_NE(opened.error().message().find("another key"), std::string::npos);
  EXPECT_TRUE(contents_of(dir()) == before);
}

TEST_F(LogDamageTest, OtherBoxOrGenerationIsRefused) {
  make_used_log();
  auto other_box = options(false);
  other_box.cluster_id = "clu_2";
  EXPECT_FALSE(open(other_box));
  auto other_generation = options(false);
  other_generation.key_generation = 2;
  EXPECT_FALSE(open(other_generation));
}

TEST_F(LogDamageTest, SegmentsOfAnotherLogAreRefused) {
  // Twice the same history with the same key: only the random ids differ.
  begin();
  fill(5);
  shut();
  const Files first = contents_of(dir());
  fs::remove_all(dir());
  begin();
  fill(5);
  shut();
  Files second = contents_of(dir());
  const std::string name = newest_closed();
  ASSERT_TRUE(first.count(name));
  second[name] = first.at(name);
  expect_refused_naming(second, name);
}

TEST_F(LogDamageTest, ReplayedOlderSegmentIsRefused) {
  begin();
  fill(4);
  shut();
  const std::string first = newest_closed();
  ASSERT_TRUE(open(options(false)));
  fill(4);
  shut();
  const std::string second = newest_closed();
  ASSERT_NE(first, second);
  Files files = contents_of(dir());
  files[second] = files[first];  // same number of entries, an earlier time
  expect_refused_naming(files, second);
}

}  // namespace
}  // namespace samovar::raft::testing
