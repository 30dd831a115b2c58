#include "daemon/power/history_file.hpp"

#include <utility>

#include "base/log.hpp"
#include "base/mutex.hpp"
#include "daemon/power/history_ring.hpp"
#include "security/aead.hpp"

namespace samovar::power {
namespace {

constexpr std::string_view kFileName = "/history.sealed";
constexpr std::string_view kAad = "samovar history 1";
constexpr std::size_t kFileBytesMax = 4 * kHistoryBytes;

Result<History> read_sealed(Disk& disk, const std::string& path, const security::SecretBytes& key) {
  SAMOVAR_TRY(const Bytes sealed, disk.read_file(path, kFileBytesMax));
  SAMOVAR_TRY(const Bytes plain, security::open(key, sealed, as_bytes(kAad)));
  return History::decode(plain);
}

}  // namespace

struct HistoryFile::State : std::enable_shared_from_this<State> {
  State(Loop& loop_, Disk& disk_, History& history_, security::SecretBytes key_, HistoryFileOptions options)
      : loop(loop_),
        disk(disk_),
        history(history_),
        key(std::move(key_)),
        dir(std::move(options.dir)),
        path(dir + std::string(kFileName)),
        offload(std::move(options.offload)) {}

  // One at a time: both the timer's and the last write go through the same temporary name.
  // last: the one of stop(), after which a write that still waits in a queue is stale.
  Result<void> write(ByteView plain, bool last) {
    const MutexLock lock(mutex);
    if (done) return {};
    done = last;
    return disk.write_file(path, security::seal(key, plain, as_bytes(kAad)));
  }

  void load() {
    if (!disk.exists(path)) return;
    auto loaded = read_sealed(disk, path, key);
    if (loaded) {
      history.merge(*loaded);
      return;
    }
    const std::string aside = path + ".damaged";
    const bool moved = disk.rename(path, aside).has_value();
    SAMOVAR_LOG(warn, power, "the recorded history does not open: charts begin anew, nothing else is touched",
                kv("error", loaded.error().message()), kv("file", path),
                kv("set_aside", moved ? aside : "no"));
  }

  void arm() {
    timer = loop.after(kSavePeriod, [this] {
      arm();
      save_later();
    });
  }

  void save_later() {
    if (writing) return;
    if (!offload) {
      report(write(history.encode(), false));
      return;
    }
    writing = true;
    auto plain = std::make_shared<const Bytes>(history.encode());
    auto work = [self = shared_from_this(), plain] {
      auto written = std::make_shared<Result<void>>(self->write(*plain, false));
      self->loop.post([self, written] {
        self->writing = false;
        self->report(*written);
      });
    };
    // A full pool: the next period will do.
    if (!offload(std::move(work))) writing = false;
  }

  void report(const Result<void>& written) const {
    if (!written)
      SAMOVAR_LOG(warn, power,
                  "the history could not be saved: charts would lose their last minutes at a restart",
                  kv("error", written.error().message()), kv("file", path));
  }

  Loop& loop;
  Disk& disk;
  History& history;  // loop only
  const security::SecretBytes key;
  const std::string dir;
  const std::string path;
  const std::function<bool(std::function<void()>)> offload;
  // Loop only.
  Loop::Id timer = 0;
  bool writing = false;
  // Any thread.
  Mutex mutex;
  bool done SAMOVAR_GUARDED_BY(mutex) = false;
};

HistoryFile::HistoryFile(Loop& loop, Disk& disk, History& history, security::SecretBytes key,
                         HistoryFileOptions options)
    : state_(std::make_shared<State>(loop, disk, history, std::move(key), std::move(options))) {}

HistoryFile::~HistoryFile() {
  if (state_->timer != 0) state_->loop.cancel(state_->timer);
}

void HistoryFile::start() {
  state_->report(state_->disk.make_dir(state_->dir));
  state_->load();
  state_->arm();
}

Result<void> HistoryFile::stop() {
  if (state_->timer == 0) return {};
  state_->loop.cancel(std::exchange(state_->timer, 0));
  return state_->write(state_->history.encode(), true);
}

}  // namespace samovar::power
