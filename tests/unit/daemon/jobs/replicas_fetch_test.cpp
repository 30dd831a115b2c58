#include "base/failpoint.hpp"
#include "tests/unit/daemon/jobs/replicas_fixture.hpp"

namespace samovar::jobs {
namespace {

constexpr std::size_t kFileBytes = 300'001;

SimNetworkOptions lossy() {
  SimNetworkOptions net;
  net.loss_per_million = 50'000;
  net.duplicate_per_million = 20'000;
  return net;
}

TEST(ReplicasFetch, BringsAFileFromAHolder) {
  ReplicaCluster box(2);
  const Bytes content = noise(kFileBytes, 1);
  box.record(box.put(0, key_of(0), content), {"a"});
  auto hold = box.bring(1, {key_of(0)});
  ASSERT_TRUE(hold) << hold.error().message();
  EXPECT_TRUE(box.has(1, key_of(0), content));
  EXPECT_EQ(box.files[key_of(0)].holders, std::vector<std::string>{"a"}) << "a brought copy does not count";
  EXPECT_TRUE(box.nodes[1]->disk.list("/data/incoming")->empty());
}

TEST(ReplicasFetch, ComesThroughALossyNetwork) {
  ReplicaCluster box(2, 3, lossy());
  const Bytes content = noise(kFileBytes, 2);
  box.record(box.put(0, key_of(0), content), {"a"});
  // A piece is asked for three times at most; a whole fetch as often as somebody wants it.
  for (int tries = 0; tries < 10 && !box.has(1, key_of(0), content); ++tries)
    ignore(box.bring(1, {key_of(0)}), "the network loses much");
  EXPECT_TRUE(box.has(1, key_of(0), content));
}

TEST(ReplicasFetch, SameFileTwiceIsFetchedOnce) {
  ReplicaCluster box(2);
  const Bytes content = noise(kFileBytes, 3);
  box.record(box.put(0, key_of(0), content), {"a"});
  int done = 0;
  for (int i = 0; i < 3; ++i)
    spawn<Result<Replicas::HoldPtr>>(
        box.nodes[1]->replicas->bring({key_of(0)}),
        [&done](const Result<Replicas::HoldPtr>& hold) { done += hold ? 1 : 0; });
  const auto before = box.network.sent();
  ASSERT_TRUE(box.until([&] { return done == 3; }));
  // Each piece is one question and one answer.
  EXPECT_LE(box.network.sent() - before, 2 * (kFileBytes / (16 * 1024) + 1));
}

TEST(ReplicasFetch, GoesOnWithAnotherSourceWhenOneDies) {
  ReplicaCluster box(3);
  const Bytes content = noise(4'000'000, 4);
  const auto file = box.put(0, key_of(0), content);
  box.put(1, key_of(0), content);
  box.record(file, {"a", "b"});
  std::optional<bool> done;
  spawn<Result<Replicas::HoldPtr>>(
      box.nodes[2]->replicas->bring({key_of(0)}),
      [&done](const Result<Replicas::HoldPtr>& hold) { done = hold.has_value(); });
  const auto sent = box.network.sent();
  ASSERT_TRUE(box.until([&] { return box.network.sent() > sent + 100; }));
  ASSERT_FALSE(done);
  // Whoever gives it: one of the two goes, then the fetch ends with the other.
  box.stop(0);
  ASSERT_TRUE(box.until([&] { return done.has_value(); }));
  EXPECT_TRUE(*done);
  EXPECT_TRUE(box.has(2, key_of(0), content));
}

TEST(ReplicasFetch, ADamagedSourceIsRefusedAndMendsItself) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    ReplicaCluster box(3, seed);
    const Bytes content = noise(kFileBytes, 5);
    const auto file = box.put(0, key_of(0), content);
    box.put(1, key_of(0), content);
    box.record(file, {"a", "b"});
    ASSERT_TRUE(
        box.nodes[0]->disk.flip_bit("/data/versions/dst_01J8Z3K4M5N6P7Q8R9S0T1V2W3.1/0", 8 * 1000 + 3));
    auto hold = box.bring(2, {key_of(0)});
    ASSERT_TRUE(hold) << hold.error().message();
    EXPECT_TRUE(box.has(2, key_of(0), content));
    // The good one may have been asked first: then the damage is found by a scrub.
    if (!box.has(0, key_of(0), content)) static_cast<void>(box.run(box.nodes[0]->replicas->mend(key_of(0))));
    EXPECT_TRUE(box.until([&] { return box.has(0, key_of(0), content); }));
  }
}

TEST(ReplicasFetch, WithoutAGoodCopyNothingIsTaken) {
  ReplicaCluster box(2);
  const Bytes content = noise(kFileBytes, 6);
  box.record(box.put(0, key_of(0), content), {"a"});
  ASSERT_TRUE(box.nodes[0]->disk.flip_bit("/data/versions/dst_01J8Z3K4M5N6P7Q8R9S0T1V2W3.1/0", 77));
  const auto hold = box.bring(1, {key_of(0)});
  ASSERT_FALSE(hold);
  EXPECT_EQ(hold.error().code(), Errc::corrupt);
  EXPECT_TRUE(box.nodes[1]->replicas->blobs().list()->empty());
  EXPECT_TRUE(box.nodes[1]->disk.list("/data/incoming")->empty());
}

TEST(ReplicasFetch, AFullDiskSaysSo) {
  ReplicaCluster box(2);
  const Bytes content = noise(kFileBytes, 7);
  box.record(box.put(0, key_of(0), content), {"a"});
  box.nodes[1]->disk.set_capacity(1000);
  const auto hold = box.bring(1, {key_of(0)});
  ASSERT_FALSE(hold);
  EXPECT_EQ(hold.error().code(), Errc::no_space);
  box.nodes[1]->disk.set_capacity(1 << 30);
  EXPECT_TRUE(box.bring(1, {key_of(0)}));
}

// Every write, sync and rename of the fetch fails once: it says so, or the file is there.
TEST(ReplicasFetch, AFailingDiskNeverMakesAHalfFile) {
  const Bytes content = noise(100'000, 8);
  for (std::uint64_t n = 1;; ++n) {
    ReplicaCluster box(2, n);
    box.record(box.put(0, key_of(0), content), {"a"});
    const auto before = box.nodes[1]->disk.operations();
    box.nodes[1]->disk.fail_nth(n);
    const auto hold = box.bring(1, {key_of(0)});
    EXPECT_TRUE(!hold || box.has(1, key_of(0), content)) << n;
    if (box.nodes[1]->disk.operations() - before < n) break;  // it was not reached
    ASSERT_LT(n, 60u);
  }
}

// The attempt that brought it failed at its very last step: the next one finds the file and must not take the
// look of it for its being kept.
TEST(ReplicasFetch, ACopyThatCountsSurvivesALossOfPower) {
  const Bytes content = noise(20'000, 12);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    ReplicaCluster box(2, seed);
    const auto file = box.put(0, key_of(0), content);
    ASSERT_TRUE(failpoint::arm("blob.fetch.after_rename=error@1"));
    box.record(file, {"a"});
    ASSERT_TRUE(box.until([&] { return box.files[key_of(0)].holders.size() == 2; }));
    failpoint::disarm_all();
    box.stop(1, true);
    EXPECT_TRUE(box.has(1, key_of(0), content)) << "seed " << seed;
  }
}

TEST(ReplicasFetch, OnlyMembersAreAnswered) {
  ReplicaCluster box(2);
  box.record(box.put(0, key_of(0), noise(1000, 9)), {"a"});
  SimLoop loop(box.scheduler);
  const auto transport = box.network.attach("stranger", loop);
  net::Exchange exchange(loop, *transport);
  const BlobRead read{key_of(0), 0, 100};
  const auto refused = box.run(exchange.ask("a", net::Topic::blob_read, encode(read)));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::denied);
  BlobFetch fetch;
  fetch.key = key_of(1);
  fetch.bytes = 10;
  fetch.from = {"stranger"};
  const auto also = box.run(box.nodes[1]->exchange->ask("a", net::Topic::blob_fetch, encode(fetch)));
  ASSERT_FALSE(also);
  EXPECT_EQ(also.error().code(), Errc::denied) << "members do not read from strangers either";
}

TEST(ReplicasFetch, AFileIsNotReplacedByAnotherOfItsName) {
  ReplicaCluster box(2);
  const Bytes content = noise(1000, 10);
  box.record(box.put(0, key_of(0), content), {"a"});
  const auto other = box.put(1, key_of(0), noise(1000, 11));
  BlobFetch fetch;
  fetch.key = key_of(0);
  fetch.bytes = 1000;
  fetch.hash = other.hash;
  fetch.from = {"b"};
  const auto refused = box.run(box.nodes[1]->exchange->ask("a", net::Topic::blob_fetch, encode(fetch)));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::conflict);
  EXPECT_TRUE(box.has(0, key_of(0), content));
}

TEST(ReplicasFetch, KeepsItsPace) {
  ReplicaCluster box(2);
  const Bytes content = noise(320 * 1024, 12);
  const auto file = box.put(0, key_of(0), content);
  BlobFetch fetch;
  fetch.key = key_of(0);
  fetch.bytes = file.bytes;
  fetch.hash = file.hash;
  fetch.from = {"a"};
  fetch.bytes_per_second = 64 * 1024;
  const MonoTime before = box.scheduler.clock().mono();
  const auto ask = [&] {
    return box.run(box.nodes[0]->exchange->ask("b", net::Topic::blob_fetch, encode(fetch)));
  };
  ASSERT_TRUE(ask());
  const auto took = box.scheduler.clock().mono() - before;
  EXPECT_GE(took, std::chrono::milliseconds(4500));
  EXPECT_LE(took, std::chrono::milliseconds(5500));
  // Asked for a file that is there, nothing moves.
  const auto sent = box.network.sent();
  const auto again = ask();
  ASSERT_TRUE(again);
  EXPECT_TRUE(decode_blob_fetched(*again)->done);
  EXPECT_LE(box.network.sent() - sent, 2u);
}

}  // namespace
}  // namespace samovar::jobs
