#include "daemon/store/scrub.hpp"

#include <gtest/gtest.h>

#include "tests/unit/daemon/store/store_fixture.hpp"

namespace samovar::store {
namespace {

using namespace std::chrono_literals;

struct Store {
  SimDisk disk{1};
  std::vector<ScrubTarget> targets;
  explicit Store(std::size_t count) {
    EXPECT_TRUE(disk.make_dir("/data"));
    for (std::size_t i = 0; i < count; ++i) {
      const std::string name = "dst_1.1/" + std::to_string(i);
      const std::string path = "/data/" + std::to_string(i);
      const Bytes bytes = pattern(1000 * i, i);
      EXPECT_TRUE(disk.write_file(path, bytes));
      targets.push_back({name, path, bytes.size(), security::sha256(bytes)});
    }
  }
};

std::vector<std::string> damaged(ScrubPass& pass, std::size_t slice) {
  std::vector<std::string> names;
  while (!pass.done()) {
    const auto step = pass.step(slice);
    EXPECT_LE(step.bytes, slice);
    if (step.finished != nullptr && step.finding == ScrubFinding::damaged)
      names.push_back(step.finished->name);
  }
  return names;
}

TEST(Scrub, FindsTheOneFlippedBit) {
  Store store(9);
  for (const std::size_t slice : {std::size_t{100}, std::size_t{1000}, std::size_t{1} << 20}) {
    ScrubPass pass(store.disk, store.targets);
    EXPECT_TRUE(damaged(pass, slice).empty());
    EXPECT_EQ(pass.bytes_done(), 36'000U);
    EXPECT_EQ(pass.bytes_total(), 36'000U);
    EXPECT_EQ(pass.position(), "dst_1.1/8");
  }
  ASSERT_TRUE(store.disk.flip_bit("/data/5", 33'333));
  ScrubPass pass(store.disk, store.targets);
  EXPECT_EQ(damaged(pass, 700), std::vector<std::string>{"dst_1.1/5"});
}

TEST(Scrub, FindsWhatIsGoneShorterOrLonger) {
  Store store(9);
  ASSERT_TRUE(store.disk.remove("/data/2"));
  ASSERT_TRUE(store.disk.write_file("/data/3", pattern(2999, 3)));
  ASSERT_TRUE(store.disk.write_file("/data/4", pattern(4001, 4)));
  ScrubPass pass(store.disk, store.targets);
  EXPECT_EQ(damaged(pass, 700), (std::vector<std::string>{"dst_1.1/2", "dst_1.1/3", "dst_1.1/4"}));
  EXPECT_EQ(pass.bytes_done(), pass.bytes_total());
}

TEST(Scrub, GoesOnWhereItStood) {
  Store store(9);
  ASSERT_TRUE(store.disk.flip_bit("/data/1", 3));
  ASSERT_TRUE(store.disk.flip_bit("/data/7", 3));
  std::string position;
  {
    ScrubPass pass(store.disk, store.targets);
    while (pass.position() != "dst_1.1/4") pass.step(300);
    pass.step(300);  // in the middle of the next one
    position = pass.position();
  }
  EXPECT_EQ(position, "dst_1.1/4");
  ScrubPass pass(store.disk, store.targets, position);
  EXPECT_EQ(pass.bytes_done(), 10'000U);
  EXPECT_EQ(damaged(pass, 300), std::vector<std::string>{"dst_1.1/7"});
  EXPECT_EQ(pass.bytes_done(), 36'000U);
}

TEST(Scrub, RestsToKeepItsPace) {
  EXPECT_EQ(scrub_rest(1'000'000, 0ms, 1'000'000), 1s);
  EXPECT_EQ(scrub_rest(1'000'000, 400ms, 1'000'000), 600ms);
  EXPECT_EQ(scrub_rest(1'000'000, 2s, 1'000'000), 0s);
  EXPECT_EQ(scrub_rest(1'000'000, 0ms, 0), 0s);
}

}  // namespace
}  // namespace samovar::store
