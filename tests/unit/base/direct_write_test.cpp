#include "base/direct_write.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

#include "base/disk.hpp"
#include "base/failpoint.hpp"
#include "tests/support/temp_dir.hpp"

namespace samovar {
namespace {

struct Target {
  explicit Target(const std::string& at)
      : path(at), fd(::open(at.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    EXPECT_GE(fd, 0);
  }
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;
  ~Target() {
    ::close(fd);
    ::unlink(path.c_str());
  }
  Bytes content() const { return *real_disk().read_file(path, 16 << 20); }
  const std::string path;
  const int fd;
};

void fill(MutableBytes out, unsigned seed) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::uint8_t>(i * 7 + i / 251 + seed);
}

// Pieces of all kinds, one after the other: those that lie well and those that do not meet in the same
// blocks.
void write_pieces(const std::string& path) {
  Target target(path);
  DirectWriter writer;
  BlockBuffer buffer(2 << 20);
  Bytes want;
  unsigned seed = 1;
  const std::size_t sizes[] = {kDirectBytesMin,
                               1 << 20,
                               kDirectBytesMin + 5,
                               kDirectBytesMin,
                               4091 - 5,
                               kDirectBytesMin,
                               3,
                               512 << 10,
                               1,
                               700'001};
  for (const std::size_t size : sizes) {
    // Every third one lies badly.
    const std::size_t skew = (want.size() + (++seed % 3 == 0 ? 1 : 0)) % kDiskBlockBytes;
    const MutableBytes piece = buffer.bytes().subspan(skew, size);
    fill(piece, seed);
    const int flags = ::fcntl(target.fd, F_GETFL);
    ASSERT_EQ(writer.write(target.fd, want.size(), piece), 0) << size;
    EXPECT_EQ(::fcntl(target.fd, F_GETFL), flags);
    want.insert(want.end(), piece.begin(), piece.end());
    ASSERT_EQ(target.content(), want) << size;
  }
  // Over what is there, from memory that lies badly.
  Bytes over(1 << 20);
  fill(over, 99);
  ASSERT_EQ(writer.write(target.fd, kDiskBlockBytes, ByteView(over).subspan(1)), 0);
  std::copy(over.begin() + 1, over.end(), want.begin() + kDiskBlockBytes);
  EXPECT_EQ(target.content(), want);
}

TEST(DirectWriter, EveryPieceArrivesWhereverItLies) {
  const test::TempDir dir;
  write_pieces(dir / "file");
}

TEST(DirectWriter, GoesThroughTheCacheWhereItMust) {
  if (failpoint::names().empty()) GTEST_SKIP() << "failpoints are compiled out";
  const test::TempDir dir;
  // Not at all, and all but the first block.
  for (const char* spec : {"disk.write.direct=short:0", "disk.write.direct=short:4096"}) {
    ASSERT_TRUE(failpoint::arm(spec));
    write_pieces(dir / "file");
    failpoint::disarm_all();
  }
}

TEST(DirectWriter, WritesToMemoryToo) {
  if (::access("/dev/shm", W_OK) != 0) GTEST_SKIP() << "no file system in memory here";
  write_pieces("/dev/shm/samovar-direct-write-" + std::to_string(::getpid()));
}

TEST(DirectWriter, SaysWhatFailed) {
  const test::TempDir dir;
  const Target target(dir / "file");
  const int read_only = ::open(target.path.c_str(), O_RDONLY | O_CLOEXEC);
  BlockBuffer buffer(kDirectBytesMin);
  fill(buffer.bytes(), 1);
  EXPECT_EQ(DirectWriter().write(read_only, 0, buffer.bytes()), EBADF);
  EXPECT_EQ(DirectWriter().write(read_only, 0, buffer.bytes().first(1)), EBADF);
  ::close(read_only);
  EXPECT_TRUE(target.content().empty());
}

TEST(BlockBuffer, BeginsAtABlock) {
  for (const std::size_t bytes : {std::size_t{1}, kDiskBlockBytes, 3 * kDiskBlockBytes + 1}) {
    BlockBuffer buffer(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.bytes().data()) % kDiskBlockBytes, 0U);
    EXPECT_GE(buffer.bytes().size(), bytes);
  }
}

}  // namespace
}  // namespace samovar
