// New files to those who shall hold them, before anything names them; and how another node is asked to fetch.
#include <algorithm>

#include "base/failpoint.hpp"
#include "base/log.hpp"
#include "daemon/jobs/pause.hpp"
#include "daemon/jobs/replicas.hpp"

namespace samovar::jobs {
namespace {

constexpr unsigned kAskFailuresMax = 3;  // in a row
constexpr std::chrono::milliseconds kAskPause{500};
constexpr std::chrono::seconds kAskSlack{7};      // beyond the time in which it is answered
constexpr std::chrono::seconds kStandstill{120};  // nothing arrived for so long: given up
constexpr unsigned kFilesAtOnce = 4;

bool may_pass(const Error& error) {
  return error.code() == Errc::timeout || error.code() == Errc::unavailable || error.code() == Errc::busy;
}

}  // namespace

// Asking again is harmless: the same fetch goes on, and a file that is there is done.
Task<Result<BlobFetched>> Replicas::ask_fetch(std::string node, BlobFetch wish) {
  const Bytes question = encode(wish);
  net::AskOptions how;
  how.deadline = options_.answer_within + kAskSlack;
  unsigned failures = 0;
  std::uint64_t arrived = 0;
  MonoTime moved = loop_.clock().mono();
  while (!stopping_) {
    Bytes copy = question;
    auto answer = co_await exchange_->ask(node, net::Topic::blob_fetch, std::move(copy), how);
    if (!answer) {
      if (!may_pass(answer.error()) || ++failures >= kAskFailuresMax) co_return std::move(answer).error();
      co_await pause(loop_, kAskPause);
      continue;
    }
    failures = 0;
    SAMOVAR_CO_TRY(const BlobFetched fetched, decode_blob_fetched(*answer));
    if (fetched.done) co_return fetched;
    const MonoTime now = loop_.clock().mono();
    if (fetched.arrived != arrived) moved = now;
    arrived = fetched.arrived;
    if (now - moved > kStandstill)
      co_return Error{Errc::timeout, "a node could not fetch a stored file: nothing arrived for two minutes"};
  }
  co_return Error{Errc::unavailable, "the node is stopping: try again in a moment"};
}

struct Replicas::Spreading {
  std::vector<cluster::StoredFile> files;
  std::vector<cluster::StorageNode> nodes;  // as known when it began, less what was given to them since
  std::vector<std::vector<std::string>> holders;
  std::size_t next = 0;
  unsigned workers = 0;
};

Task<std::vector<std::vector<std::string>>> Replicas::spread(std::vector<cluster::StoredFile> files) {
  auto work = std::make_shared<Spreading>();
  work->files = std::move(files);
  work->holders.resize(work->files.size());
  if (alone()) {
    for (auto& holders : work->holders) holders = {options_.node_id};
    co_return std::move(work->holders);
  }
  work->nodes = world_.nodes();
  // Ours stay until the manifest is known everywhere.
  for (const auto& file : work->files) used_[file.key] = loop_.clock().mono();
  SAMOVAR_FAILPOINT("spread.before");
  auto side_by_side = [this, work](std::function<void(bool)> done) {
    work->workers = kFilesAtOnce;
    for (unsigned i = 0; i < kFilesAtOnce; ++i) {
      auto run = [](Task<void> body, std::shared_ptr<Spreading> of,
                    std::function<void(bool)> all) -> Task<void> {
        co_await std::move(body);
        if (--of->workers == 0) all(true);
      };
      spawn(run(spread_some(work), work, done));
    }
  };
  co_await from_callback<bool>(std::move(side_by_side));
  SAMOVAR_FAILPOINT("spread.after");
  co_return std::move(work->holders);
}

Task<void> Replicas::spread_some(std::shared_ptr<Spreading> work) {
  while (work->next < work->files.size()) {
    const std::size_t index = work->next++;
    co_await spread_one(work, index);
  }
}

Task<void> Replicas::spread_one(std::shared_ptr<Spreading> work, std::size_t index) {
  const cluster::StoredFile& file = work->files[index];
  auto& durable = work->holders[index];
  std::set<std::string> failed;
  while (!stopping_ && durable.size() < file.wanted) {
    auto usable = work->nodes;
    std::erase_if(usable, [&](const auto& node) { return failed.contains(node.id); });
    cluster::StoredFile known = file;
    known.holders = durable;
    known.holders.push_back(options_.node_id);  // room for it is not asked for where it lies already
    const auto chosen = cluster::choose_holders(known, usable);
    const auto next = std::find_if(chosen.begin(), chosen.end(), [&](const std::string& id) {
      return std::find(durable.begin(), durable.end(), id) == durable.end();
    });
    if (next == chosen.end()) break;
    const std::string target = *next;
    if (target != options_.node_id) {
      BlobFetch wish;
      wish.key = file.key;
      wish.bytes = file.bytes;
      wish.hash = file.hash;
      wish.from = {options_.node_id};
      for (const auto& id : durable)
        if (id != options_.node_id && wish.from.size() < kBlobSourcesMax) wish.from.push_back(id);
      auto fetched = co_await ask_fetch(target, std::move(wish));
      if (!fetched) {
        SAMOVAR_LOG(warn, jobs, "a copy was not made; another node is asked", kv("file", file.key),
                    kv("node", target), kv("error", fetched.error().message()));
        failed.insert(target);
        // Without an answer, or without room, it is not asked for the next file either.
        const Errc code = fetched.error().code();
        for (auto& node : work->nodes)
          if (node.id == target && (code == Errc::unavailable || code == Errc::timeout))
            node.reachable = false;
          else if (node.id == target && code == Errc::no_space)
            node.free_bytes = 0;
        continue;
      }
    }
    durable.push_back(target);
    for (auto& node : work->nodes)
      if (node.id == target) node.free_bytes -= std::min(node.free_bytes, file.bytes);
    SAMOVAR_FAILPOINT("spread.after_copy");
  }
  if (durable.empty()) durable.push_back(options_.node_id);
  std::sort(durable.begin(), durable.end());
}

}  // namespace samovar::jobs
