// Uploads as the daemon has them: a real disk, a pool of threads, several at once.
#include <gtest/gtest.h>

#include "base/asio_loop.hpp"
#include "daemon/jobs/uploads.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/unit/daemon/jobs/uploads_fixture.hpp"

namespace samovar::jobs {
namespace {

struct Client {
  Bytes file;
  std::string id;
  std::size_t sent = 0;
  std::optional<Result<Upload>> result;
};

Task<void> upload(Uploads& uploads, Client& client, std::size_t piece) {
  NewUpload wanted;
  wanted.file_name = "f";
  wanted.length = client.file.size();
  auto made = co_await uploads.create(call_of("usr_a"), std::move(wanted));
  if (!made) {
    client.result.emplace(std::move(made));
    co_return;
  }
  client.id = made->id;
  // In two requests, so that the second one finds the file open and the hash running.
  for (const std::size_t until : {client.file.size() / 3, client.file.size()}) {
    DataService::NextPiece next = [&client, piece, until]() -> Task<Result<Bytes>> {
      const ByteView part = ByteView(client.file).subspan(client.sent, std::min(piece, until - client.sent));
      client.sent += part.size();
      co_return to_bytes(part);
    };
    const std::uint64_t offset = client.sent;
    auto done = co_await uploads.append(call_of("usr_a"), client.id, offset, next);
    client.result.emplace(std::move(done));
    if (!*client.result) co_return;
  }
}

TEST(UploadsThreads, ManyAtOnceOnARealDisk) {
  const test::TempDir folder;
  AsioLoop loop;
  SimRng rng(1);
  auto dir = store::DataDir::open(real_disk(), folder / "data", {0, 1.0, 0});
  ASSERT_TRUE(dir);
  security::SecretBytes key(32);
  UploadOptions options;
  options.piece_bytes = 64 * 1024;
  options.sync_bytes = 256 * 1024;
  options.unsynced_bytes_max = 512 * 1024;
  std::vector<Client> clients(4);
  {
    Pool io("io", 3, 64);
    auto uploads = Uploads::open(loop, rng, real_disk(), io, *dir, key, options);
    ASSERT_TRUE(uploads);
    std::size_t left = clients.size();
    for (std::size_t i = 0; i < clients.size(); ++i) {
      clients[i].file = content(1'500'000 + i * 77'777, i);
      loop.post([&, i] {
        auto all = [](Uploads& into, Client& client, std::size_t& rest, AsioLoop& in,
                      std::size_t piece) -> Task<void> {
          co_await upload(into, client, piece);
          if (--rest == 0) in.stop();
        };
        spawn(all(**uploads, clients[i], left, loop, 10'000 + i * 7'000));
      });
    }
    loop.run();
  }
  // Opened again, by another daemon.
  Pool io("io", 1, 64);
  auto uploads = Uploads::open(loop, rng, real_disk(), io, *dir, key, options);
  ASSERT_TRUE(uploads);
  for (const Client& client : clients) {
    ASSERT_TRUE(client.result && *client.result) << client.id;
    EXPECT_EQ((*client.result)->sha256, sha256_hex(client.file));
    const auto stored = (*uploads)->get(call_of("usr_a").actor, client.id);
    ASSERT_TRUE(stored);
    EXPECT_EQ(stored->sha256, sha256_hex(client.file));
    auto file = real_disk().open(dir->upload(client.id), OpenMode::read);
    ASSERT_TRUE(file);
    const auto one_off = (*uploads)->key(client.id);
    auto reader = store::StagingReader::open(*std::move(file), *one_off);
    ASSERT_TRUE(reader);
    Bytes out(client.file.size());
    ASSERT_EQ((*reader)->read(out).value_or(0), out.size());
    EXPECT_EQ(out, client.file);
  }
}

}  // namespace
}  // namespace samovar::jobs
