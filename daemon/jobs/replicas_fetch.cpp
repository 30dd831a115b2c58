// One file from one of several nodes: pieces side by side from one source, the rest from the next one when
// it fails; then length, hash, sync, rename.
#include <algorithm>
#include <deque>

#include "base/ids.hpp"
#include "base/log.hpp"
#include "base/metrics.hpp"
#include "daemon/jobs/pause.hpp"
#include "daemon/jobs/replicas.hpp"

namespace samovar::jobs {

using store::BlobDir;
using store::BlobKey;

namespace {

constexpr unsigned kFailuresMax = 3;  // of one source, in a row
constexpr unsigned kBusyMax = 100;
constexpr std::chrono::milliseconds kFailurePause{200};
constexpr std::chrono::milliseconds kBusyPause{50};
constexpr std::chrono::milliseconds kRemovalStep{10};

metrics::Counter& fetched_bytes() {
  static metrics::Counter& counter =
      metrics::counter("samovar_blob_fetched_bytes_total", "Bytes of stored files fetched from other nodes.");
  return counter;
}

Error stopped() { return {Errc::unavailable, "the node is stopping: try again in a moment"}; }

// May the same source do better next time?
bool may_pass(const Error& error) {
  return error.code() == Errc::timeout || error.code() == Errc::unavailable || error.code() == Errc::io;
}

}  // namespace

struct Replicas::Fetch {
  Fetch(BlobFetch what, BlobKey name, bool anew)
      : asked(std::move(what)), key(std::move(name)), replace(anew), sources(asked.from), writing(1) {}
  BlobFetch asked;
  const BlobKey key;
  const bool replace;  // what is here is damaged
  std::vector<std::string> sources;
  std::set<std::string> gave;                 // whose pieces it is made of
  std::deque<std::uint64_t> todo;             // offsets of pieces
  std::shared_ptr<BlobDir::Arrival> arrival;  // shared: pool work holds it
  std::uint64_t arrived = 0;
  bool failed_here = false;  // the disk, not a source
  MonoTime next_read{};      // at this pace
  Turns writing;             // one thread at a time
  bool over = false;
  std::optional<Error> error;
  std::vector<std::function<void()>> waiting;
};

struct Replicas::Pull {
  unsigned readers = 0;
  std::optional<Error> error;
};

Replicas::FetchPtr Replicas::begin_fetch(BlobFetch asked, bool replace) {
  if (const auto found = fetches_.find(asked.key); found != fetches_.end()) {
    if (found->second->asked.hash != asked.hash) return nullptr;
    // More to ask when the first ones fail.
    for (auto& source : asked.from) {
      auto& known = found->second->asked.from;
      if (std::find(known.begin(), known.end(), source) != known.end()) continue;
      known.push_back(source);
      found->second->sources.push_back(source);
    }
    return found->second;
  }
  auto key = BlobKey::parse(asked.key);
  if (!key) return nullptr;
  std::string name = asked.key;
  auto fetch = std::make_shared<Fetch>(std::move(asked), *std::move(key), replace);
  fetches_[std::move(name)] = fetch;
  spawn(run_fetch(fetch));
  return fetch;
}

Task<Result<void>> Replicas::fetch(BlobFetch asked, bool replace) {
  const auto running = begin_fetch(std::move(asked), replace);
  if (!running) co_return Error{Errc::busy, "this file is being fetched already"};
  while (!running->over) {
    auto some = co_await wait_for(running, options_.answer_within);
    if (!some) co_return std::move(some).error();
  }
  if (running->error) co_return *running->error;
  co_return Result<void>{};
}

Task<Result<BlobFetched>> Replicas::wait_for(FetchPtr fetch, Duration limit) {
  if (!fetch->over) {
    auto wait = [this, fetch, limit](std::function<void(bool)> done) {
      // Shared: the first of the two ends it.
      auto once = std::make_shared<std::function<void(bool)>>(std::move(done));
      const auto timer = loop_.after(limit, [once] {
        if (*once) std::exchange(*once, nullptr)(false);
      });
      fetch->waiting.push_back([this, once, timer] {
        loop_.cancel(timer);
        if (*once) std::exchange(*once, nullptr)(true);
      });
    };
    co_await from_callback<bool>(std::move(wait));
  }
  if (fetch->error) co_return *fetch->error;
  BlobFetched fetched;
  fetched.done = fetch->over;
  fetched.arrived = fetch->arrived;
  co_return fetched;
}

Task<void> Replicas::run_fetch(FetchPtr fetch) {
  co_await fetch_turns_.take();
  auto done = Result<void>(stopped());
  if (!stopping_) done = co_await carry_out(fetch);
  if (fetch->arrival) {
    auto drop = [blobs = blobs_, arrival = std::move(fetch->arrival)]() mutable {
      return blobs.drop(std::move(arrival));
    };
    ignore(co_await run_on(io_, loop_, std::move(drop)), "the next start removes it");
  }
  if (done) {
    whole_[fetch->asked.key] = fetch->asked.hash;
    used_[fetch->asked.key] = loop_.clock().mono();
    damaged_.erase(fetch->asked.key);
  } else {
    fetch->error = std::move(done).error();
    SAMOVAR_LOG(info, jobs, "a stored file was not fetched", kv("file", fetch->asked.key),
                kv("error", fetch->error->message()));
  }
  fetch->over = true;
  fetches_.erase(fetch->asked.key);
  fetch_turns_.give();
  for (auto& tell : std::exchange(fetch->waiting, {})) tell();
}

// ---- from the first byte to the name ----

Task<Result<bool>> Replicas::is_here(FetchPtr fetch) {
  const auto& asked = fetch->asked;
  const auto known = whole_.find(asked.key);
  if (known != whole_.end() && known->second == asked.hash && !asked.hash.empty()) {
    // Removed behind our back it is fetched anew.
    std::vector<BlobCheck::File> one = {{asked.key, asked.bytes}};
    auto there = co_await look(std::move(one));
    if (there && there->front()) co_return true;
  }
  auto work = [blobs = blobs_, key = fetch->key, bytes = asked.bytes,
               hash = asked.hash]() mutable -> Result<bool> {
    const auto size = blobs.size(key);
    if (!size) return false;
    if (bytes != 0 && *size != bytes) return false;
    if (!hash.empty()) {
      const auto found = blobs.hash(key);
      if (!found || !std::equal(found->begin(), found->end(), hash.begin(), hash.end())) return false;
    }
    SAMOVAR_CHECK(blobs.sync_name(key));
    return true;
  };
  co_return co_await run_on(io_, loop_, std::move(work));
}

Task<Result<void>> Replicas::carry_out(FetchPtr fetch) {
  // It would be found here and counted, and be gone the next moment.
  while (removing_.contains(fetch->asked.key) && !stopping_) co_await pause(loop_, kRemovalStep);
  if (!fetch->replace && !damaged_.contains(fetch->asked.key)) {
    auto here = co_await is_here(fetch);
    if (here && *here) co_return Result<void>{};
  }
  Error last{Errc::unavailable, "no node that has this file can be reached"};
  while (!fetch->sources.empty()) {
    if (stopping_) co_return stopped();
    const std::string source = fetch->sources.front();
    auto pulled = co_await pull(fetch, source);
    if (!pulled) {
      if (fetch->failed_here || stopping_) co_return std::move(pulled).error();
      std::erase(fetch->sources, source);
      last = std::move(pulled).error();
      continue;
    }
    auto taken = co_await take(fetch);
    if (taken) co_return taken;
    if (taken.error().code() != Errc::corrupt) co_return taken;
    last = std::move(taken).error();
    SAMOVAR_LOG(warn, jobs, "a copy does not match its hash", kv("file", fetch->asked.key),
                kv("from", source));
    // Made of one node's pieces it is that node's fault; else begin anew, with the last one alone.
    if (fetch->gave.size() == 1) {
      std::erase(fetch->sources, source);
      doubt(source, *fetch);
    }
    fetch->gave.clear();
    fetch->arrived = 0;
  }
  co_return last;
}

Task<Result<void>> Replicas::open_arrival(FetchPtr fetch, const std::string& source) {
  if (fetch->asked.bytes == 0) {
    // Kept before lengths were recorded: the source knows.
    auto piece = co_await ask_piece(source, fetch->asked.key, 0, 1);
    if (!piece) co_return std::move(piece).error();
    fetch->asked.bytes = piece->total;
  }
  auto work = [blobs = blobs_, id = new_id("blb", loop_.clock(), rng_),
               bytes = fetch->asked.bytes]() mutable -> Result<std::shared_ptr<BlobDir::Arrival>> {
    SAMOVAR_TRY(auto arrival, blobs.begin(id, bytes));
    return std::shared_ptr<BlobDir::Arrival>(std::move(arrival));
  };
  auto opened = co_await run_on(io_, loop_, std::move(work));
  if (!opened) {
    fetch->failed_here = true;
    co_return std::move(opened).error();
  }
  fetch->arrival = std::move(*opened);
  fetch->todo.clear();
  for (std::uint64_t at = 0; at < fetch->asked.bytes; at += options_.piece_bytes) fetch->todo.push_back(at);
  co_return Result<void>{};
}

// All pieces that are missing, from one source.
Task<Result<void>> Replicas::pull(FetchPtr fetch, std::string source) {
  if (!fetch->arrival) {
    auto opened = co_await open_arrival(fetch, source);
    if (!opened) co_return opened;
  }
  auto pull = std::make_shared<Pull>();
  auto side_by_side = [this, fetch, source, pull](std::function<void(bool)> done) {
    pull->readers = options_.reads_at_once;
    for (unsigned i = 0; i < options_.reads_at_once; ++i) {
      const std::function<void(Result<void>)> ended = [pull, done](Result<void> read) {
        if (!read && !pull->error) pull->error = std::move(read).error();
        if (--pull->readers == 0) done(true);
      };
      spawn<Result<void>>(read_pieces(fetch, source, pull), ended);
    }
  };
  co_await from_callback<bool>(std::move(side_by_side));
  if (pull->error) co_return *pull->error;
  co_return Result<void>{};
}

Task<Result<void>> Replicas::read_pieces(FetchPtr fetch, std::string source, std::shared_ptr<Pull> pull) {
  unsigned failures = 0;
  unsigned busy = 0;
  while (!fetch->todo.empty() && !pull->error) {
    if (stopping_) co_return stopped();
    const std::uint64_t offset = fetch->todo.front();
    fetch->todo.pop_front();
    const std::uint64_t length = std::min<std::uint64_t>(options_.piece_bytes, fetch->asked.bytes - offset);
    co_await keep_pace(*fetch, static_cast<std::size_t>(length));
    auto piece = co_await ask_piece(source, fetch->asked.key, offset, length);
    if (!piece) {
      fetch->todo.push_front(offset);
      const bool again = piece.error().code() == Errc::busy
                             ? ++busy < kBusyMax
                             : may_pass(piece.error()) && ++failures < kFailuresMax;
      if (!again) co_return std::move(piece).error();
      co_await pause(loop_, piece.error().code() == Errc::busy ? kBusyPause : kFailurePause);
      continue;
    }
    failures = 0;
    if (piece->total != fetch->asked.bytes || piece->bytes.size() != length) {
      fetch->todo.push_front(offset);
      co_return Error{Errc::corrupt, "a node has this file with another length"};
    }
    fetch->gave.insert(source);
    fetch->arrived += length;
    fetched_bytes().add(length);
    auto written = co_await write_piece(fetch, offset, std::move(piece->bytes));
    if (!written) {
      fetch->failed_here = true;
      co_return written;
    }
  }
  co_return Result<void>{};
}

Task<Result<BlobPiece>> Replicas::ask_piece(std::string source, const std::string& key, std::uint64_t offset,
                                            std::uint64_t length) {
  BlobRead read;
  read.key = key;
  read.offset = offset;
  read.length = static_cast<std::uint32_t>(length);
  net::AskOptions how;
  how.deadline = options_.read_deadline;
  how.lane = Lane::bulk;
  auto answer = co_await exchange_->ask(std::move(source), net::Topic::blob_read, encode(read), how);
  if (!answer) co_return std::move(answer).error();
  co_return decode_blob_piece(*answer);
}

Task<Result<void>> Replicas::write_piece(FetchPtr fetch, std::uint64_t offset, Bytes bytes) {
  co_await fetch->writing.take();
  auto shared = std::make_shared<const Bytes>(std::move(bytes));
  auto written = Result<void>(Error{Errc::busy, ""});
  for (unsigned tries = 0; !written && written.error().code() == Errc::busy && tries < kBusyMax; ++tries) {
    if (tries > 0) co_await pause(loop_, kBusyPause);
    if (!fetch->arrival) break;
    auto work = [arrival = fetch->arrival, offset, shared] { return arrival->write(offset, *shared); };
    written = co_await run_on(io_, loop_, std::move(work));
  }
  fetch->writing.give();
  co_return written;
}

Task<void> Replicas::keep_pace(Fetch& fetch, std::size_t bytes) {
  if (fetch.asked.bytes_per_second == 0) co_return;
  const MonoTime now = loop_.clock().mono();
  const MonoTime at = std::max(now, fetch.next_read);
  const double seconds = static_cast<double>(bytes) / static_cast<double>(fetch.asked.bytes_per_second);
  fetch.next_read = at + std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
  if (at > now) co_await pause(loop_, at - now);
}

Task<Result<void>> Replicas::take(FetchPtr fetch) {
  auto work = [blobs = blobs_, key = fetch->key, bytes = fetch->asked.bytes, hash = fetch->asked.hash,
               arrival = std::move(fetch->arrival)]() mutable {
    return blobs.take(std::move(arrival), key, bytes, hash);
  };
  co_return co_await run_on(io_, loop_, std::move(work));
}

// It gave other bytes than it should have: it is asked to read its copy, and to mend it.
void Replicas::doubt(const std::string& source, const Fetch& fetch) {
  BlobCheck check;
  check.read = true;
  check.files.push_back({fetch.asked.key, fetch.asked.bytes});
  const std::function<void(Result<Bytes>)> done = [](Result<Bytes>) {};
  spawn<Result<Bytes>>(exchange_->ask(source, net::Topic::blob_check, encode(check)), done);
}

}  // namespace samovar::jobs
