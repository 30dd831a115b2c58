#include "daemon/store/blobs.hpp"

#include <gtest/gtest.h>

#include "base/sim/sim_disk.hpp"
#include "base/sim/sim_rng.hpp"
#include "daemon/store/staging.hpp"
#include "security/sealed_file.hpp"
#include "security/sha256.hpp"

namespace samovar::store {
namespace {

const std::string kDataset = "dst_01J8Z3K4M5N6P7Q8R9S0T1V2W3";
const std::string kModel = "mdl_01J8Z3K4M5N6P7Q8R9S0T1V2W3";
constexpr SpaceRules kRules{.reserve_bytes = 0, .full_share = 1.0, .ballast_bytes = 0};

BlobDir open_blobs(Disk& disk) {
  auto dir = DataDir::open(disk, "/data", kRules);
  EXPECT_TRUE(dir);
  return BlobDir(disk, *std::move(dir), "/data");
}

Bytes noise(std::size_t size) {
  Bytes out(size);
  SimRng(size).fill(out);
  return out;
}

Bytes hash_of(ByteView bytes) {
  security::Sha256 hasher;
  hasher.update(bytes);
  return to_bytes(ByteView(hasher.digest()));
}

BlobKey key_of(const std::string& text) {
  auto key = BlobKey::parse(text);
  EXPECT_TRUE(key) << text;
  return *key;
}

Result<void> put(BlobDir& blobs, const std::string& text, const Bytes& content, const Bytes& hash) {
  SAMOVAR_TRY(auto arrival, blobs.begin("blb_1", content.size()));
  // The second half first: pieces come in any order.
  const std::size_t half = content.size() / 2;
  SAMOVAR_CHECK(arrival->write(half, ByteView(content).subspan(half)));
  SAMOVAR_CHECK(arrival->write(0, ByteView(content).first(half)));
  return blobs.take(std::move(arrival), key_of(text), content.size(), hash);
}

TEST(BlobKey, HasOneSpellingPerFile) {
  for (const std::string& text :
       {kDataset + ".1/0", kDataset + ".200/2047", kDataset + ".1/profile", kDataset + ".1/bad-rows",
        kDataset + "/source", kModel + "/model", kModel + "/evaluation"})
    EXPECT_EQ(key_of(text).text(), text);
  for (const std::string& text : {std::string(),
                                  std::string("/"),
                                  kDataset,
                                  kDataset + "/",
                                  kDataset + ".1/",
                                  kDataset + ".1",
                                  kDataset + ".0/0",
                                  kDataset + ".01/0",
                                  kDataset + ".1/00",
                                  kDataset + ".1/-1",
                                  kDataset + ".1/+1",
                                  kDataset + ".1/../x",
                                  kDataset + ".1/a",
                                  kDataset + ".1/0/0",
                                  kDataset + "/model",
                                  kModel + "/source",
                                  kModel + "/..",
                                  std::string("upl_01J8Z3K4M5N6P7Q8R9S0T1V2W3/source"),
                                  kDataset + ".9999999999/0",
                                  "../" + kDataset + "/source",
                                  kDataset + ".1/profile "})
    EXPECT_FALSE(BlobKey::parse(text)) << text;
}

TEST(BlobDir, AFileComesWholeOrNotAtAll) {
  SimDisk disk(1);
  auto blobs = open_blobs(disk);
  const Bytes content = noise(100'000);
  const std::string text = kDataset + ".1/0";
  Bytes wrong = hash_of(content);
  wrong[0] ^= 1;
  const auto refused = put(blobs, text, content, wrong);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::corrupt);
  EXPECT_FALSE(blobs.size(key_of(text)));
  ASSERT_TRUE(put(blobs, text, content, hash_of(content)));
  EXPECT_TRUE(disk.list("/data/incoming")->empty());
  disk.crash();
  const auto piece = blobs.read(key_of(text), 10, 50);
  ASSERT_TRUE(piece);
  EXPECT_EQ(piece->total, content.size());
  EXPECT_EQ(piece->bytes, Bytes(content.begin() + 10, content.begin() + 60));
  EXPECT_EQ(to_bytes(ByteView(*blobs.hash(key_of(text)))), hash_of(content));
  EXPECT_EQ(*blobs.list(), std::vector<std::string>{text});
}

// The power goes at every operation: afterwards there is the whole file or none.
TEST(BlobDir, ACutNeverLeavesAPart) {
  const Bytes content = noise(5000);
  const std::string text = kModel + "/model";
  bool done = false;
  for (std::uint64_t cut = 1; !done; ++cut) {
    SimDisk disk(cut);
    auto blobs = open_blobs(disk);
    disk.cut_power_at(disk.operations() + cut);
    done = put(blobs, text, content, hash_of(content)).has_value();
    disk.crash();
    if (const auto hash = blobs.hash(key_of(text))) {
      EXPECT_EQ(to_bytes(ByteView(*hash)), hash_of(content)) << cut;
    } else {
      EXPECT_FALSE(done) << "acknowledged, then lost, cut at " << cut;
    }
    ASSERT_LT(cut, 100u);
  }
}

TEST(BlobDir, TheKeyInASourcesHeadStaysHere) {
  SimDisk disk(3);
  auto blobs = open_blobs(disk);
  const security::SecretBytes wrap = security::SecretBytes::random(32);
  StagingHead head;
  head.upload_id = "upl_01J8Z3K4M5N6P7Q8R9S0T1V2W3";
  auto staging = StagingFile::create(disk, "/data/sources/" + kDataset, wrap, head);
  ASSERT_TRUE(staging);
  ASSERT_TRUE((*staging)->append(noise(1000)));
  ASSERT_TRUE((*staging)->sync());
  staging->reset();
  const BlobKey key = key_of(kDataset + "/source");
  const auto before = blobs.hash(key);
  const auto piece = blobs.read(key, 0, 4096);
  ASSERT_TRUE(before && piece);
  ASSERT_TRUE(StagingFile::drop_wrapped_key(disk, "/data/sources/" + kDataset));
  const auto raw = disk.read_file("/data/sources/" + kDataset, 1 << 20);
  ASSERT_TRUE(raw);
  EXPECT_EQ(piece->bytes,
            Bytes(raw->begin(), raw->begin() + static_cast<std::ptrdiff_t>(piece->bytes.size())));
  EXPECT_EQ(*blobs.hash(key), *before);
  EXPECT_EQ(*security::hash_stored_file(disk, "/data/sources/" + kDataset), *before);
}

TEST(BlobDir, AFullDiskTakesNothingAndKeepsNothing) {
  SimDisk disk(4, 50'000);
  auto blobs = open_blobs(disk);
  const auto refused = blobs.begin("blb_1", 100'000);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::no_space);
  EXPECT_TRUE(disk.list("/data/incoming")->empty());
}

TEST(BlobDir, RemovesAFolderWithItsLastFile) {
  SimDisk disk(5);
  auto blobs = open_blobs(disk);
  const Bytes content = noise(10);
  ASSERT_TRUE(put(blobs, kDataset + ".1/0", content, {}));
  ASSERT_TRUE(put(blobs, kDataset + ".1/1", content, {}));
  ASSERT_TRUE(blobs.remove(key_of(kDataset + ".1/0")));
  EXPECT_EQ(*blobs.list(), std::vector<std::string>{kDataset + ".1/1"});
  ASSERT_TRUE(blobs.remove(key_of(kDataset + ".1/1")));
  EXPECT_TRUE(disk.list("/data/versions")->empty());
  EXPECT_TRUE(blobs.remove(key_of(kDataset + ".1/1"))) << "twice is once";
}

}  // namespace
}  // namespace samovar::store
