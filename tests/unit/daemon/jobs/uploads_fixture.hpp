// Uploads on a simulated disk: one box whose power can go.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/encoding.hpp"
#include "base/sim/sim_disk.hpp"
#include "base/sim/sim_loop.hpp"
#include "daemon/jobs/uploads.hpp"
#include "daemon/store/staging.hpp"
#include "security/hash.hpp"

namespace samovar::jobs {

inline UploadOptions small_pieces() {
  UploadOptions options;
  options.piece_bytes = 4096;
  options.sync_bytes = 16 * 1024;
  options.unsynced_bytes_max = 64 * 1024;
  return options;
}

inline cluster::Call call_of(const std::string& user) {
  cluster::Call call;
  call.actor.user_id = user;
  call.actor.role = cluster::Role::analyst;
  call.actor.auth = cluster::AuthKind::session;
  return call;
}

inline Bytes content(std::size_t size, std::uint64_t seed) {
  Bytes out(size);
  SimRng(seed).fill(out);
  return out;
}

class Box {
 public:
  explicit Box(std::uint64_t seed, UploadOptions options = small_pieces(),
               store::SpaceRules rules = {.reserve_bytes = 0, .full_share = 1.0, .ballast_bytes = 0})
      : disk(seed),
        scheduler(seed),
        loop(scheduler),
        rng(seed + 1),
        options_(std::move(options)),
        rules_(rules) {
    key = security::SecretBytes(32);
    key.mutable_view()[0] = 7;
  }

  // Start of the daemon. False when the disk does not let it.
  bool start(Disk* through = nullptr) {
    uploads.reset();
    Disk& used = through != nullptr ? *through : disk;
    auto opened_dir = store::DataDir::open(used, "/data", rules_);
    if (!opened_dir) return false;
    dir.emplace(*std::move(opened_dir));
    auto opened = Uploads::open(loop, rng, used, io, *dir, key, options_);
    if (!opened) return false;
    uploads = *std::move(opened);
    scheduler.run_for(std::chrono::milliseconds(1));
    return true;
  }
  void cut_power() {
    uploads.reset();
    disk.crash();
  }

  template <class T>
  T run(Task<T> task) {
    std::optional<T> result;
    spawn<T>(std::move(task), [&](T value) { result.emplace(std::move(value)); });
    EXPECT_TRUE(scheduler.run_until([&] { return result.has_value(); }, std::chrono::hours(1)));
    return *std::move(result);
  }

  Result<Upload> create(std::uint64_t length, std::string name = "table.csv",
                        const std::string& user = "usr_a") {
    return run(uploads->create(call_of(user), NewUpload{std::move(name), length}));
  }
  // Sends `body` from `offset` on in pieces; with `cut`, the client leaves after that many bytes.
  Result<Upload> send(const std::string& id, std::uint64_t offset, ByteView body, std::size_t piece = 1500,
                      std::optional<std::size_t> cut = {}) {
    auto rest = std::make_shared<ByteView>(cut ? body.first(std::min(*cut, body.size())) : body);
    DataService::NextPiece next = [rest, piece, left = cut.has_value()]() -> Task<Result<Bytes>> {
      if (rest->empty() && left) co_return Error{Errc::io, "the client left"};
      const ByteView part = rest->first(std::min(piece, rest->size()));
      *rest = rest->subspan(part.size());
      co_return to_bytes(part);
    };
    return run(uploads->append(call_of("usr_a"), id, offset, std::move(next)));
  }
  Result<Upload> get(const std::string& id) { return uploads->get(call_of("usr_a").actor, id); }

  Result<Bytes> stored(const std::string& id) {
    SAMOVAR_TRY(const auto one_off, uploads->key(id));
    SAMOVAR_TRY(auto file, disk.open(dir->upload(id), OpenMode::read));
    SAMOVAR_TRY(const auto reader, store::StagingReader::open(std::move(file), one_off));
    Bytes out(static_cast<std::size_t>(reader->size()));
    SAMOVAR_TRY(const std::size_t got, reader->read(out));
    out.resize(got);
    return out;
  }

  SimDisk disk;
  SimScheduler scheduler;
  SimLoop loop;
  SimRng rng;
  Pool io{"io", 0, 64};
  security::SecretBytes key;
  std::optional<store::DataDir> dir;
  std::unique_ptr<Uploads> uploads;

 private:
  UploadOptions options_;
  store::SpaceRules rules_;
};

inline std::string sha256_hex(ByteView bytes) { return hex_encode(security::sha256(bytes)); }

}  // namespace samovar::jobs
