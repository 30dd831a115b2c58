#include "daemon/jobs/replicas.hpp"

#include <algorithm>

#include "base/log.hpp"

namespace samovar::jobs {

using store::BlobKey;

namespace {

constexpr std::chrono::seconds kMembersKept{1};

Error stranger() { return {Errc::denied, "only members of this cluster are given stored files"}; }

}  // namespace

Replicas::Replicas(Loop& loop, Rng& rng, net::Exchange* exchange, Pool& io, ReplicaWorld world,
                   ReplicasOptions options, store::BlobDir blobs)
    : loop_(loop),
      rng_(rng),
      exchange_(exchange),
      io_(io),
      world_(std::move(world)),
      options_(std::move(options)),
      blobs_(std::move(blobs)),
      fetch_turns_(options_.fetches_at_once),
      bring_turns_(options_.fetches_at_once) {}

Replicas::~Replicas() { stop(); }

Result<std::unique_ptr<Replicas>> Replicas::open(Loop& loop, Rng& rng, net::Exchange* exchange, Disk& disk,
                                                 Pool& io, ReplicaWorld world, ReplicasOptions options) {
  SAMOVAR_TRY(auto dir, store::DataDir::open(disk, options.root, options.space));
  store::BlobDir blobs(disk, std::move(dir), options.root);
  return std::unique_ptr<Replicas>(
      new Replicas(loop, rng, exchange, io, std::move(world), std::move(options), std::move(blobs)));
}

void Replicas::start() {
  if (started_ || stopping_) return;
  started_ = true;
  if (exchange_ != nullptr) {
    const auto serve = [this](net::Topic topic, Task<Result<Bytes>> (Replicas::*how)(std::string, Bytes)) {
      exchange_->on_ask(topic, [this, how](std::string from, Bytes body) {
        return (this->*how)(std::move(from), std::move(body));
      });
    };
    serve(net::Topic::blob_read, &Replicas::on_read);
    serve(net::Topic::blob_fetch, &Replicas::on_fetch);
    serve(net::Topic::blob_check, &Replicas::on_check);
  }
  arm_repair(options_.repair_every);
  arm_sweep();
}

void Replicas::stop() {
  if (stopping_) return;
  stopping_ = true;
  loop_.cancel(repair_timer_);
  loop_.cancel(sweep_timer_);
  if (!started_ || exchange_ == nullptr) return;
  for (const auto topic : {net::Topic::blob_read, net::Topic::blob_fetch, net::Topic::blob_check})
    exchange_->on_ask(topic, nullptr);
}

bool Replicas::alone() const {
  if (exchange_ == nullptr) return true;
  const auto nodes = world_.nodes();
  return std::none_of(nodes.begin(), nodes.end(),
                      [this](const auto& node) { return node.id != options_.node_id; });
}

unsigned Replicas::wanted(unsigned chosen) const {
  const auto nodes = world_.nodes();
  const auto staying = static_cast<std::size_t>(
      std::count_if(nodes.begin(), nodes.end(), [](const auto& node) { return !node.draining; }));
  return chosen > 0 ? chosen : std::max(1u, cluster::default_copies(staying));
}

// Asked for every piece: who is a member is looked up once a second.
bool Replicas::is_member(const std::string& node) {
  const MonoTime now = loop_.clock().mono();
  if (!members_at_ || now - *members_at_ >= kMembersKept || !members_.contains(node)) {
    members_.clear();
    for (auto& one : world_.nodes()) members_.insert(std::move(one.id));
    members_at_ = now;
  }
  return members_.contains(node);
}

Result<BlobFetch> Replicas::wish_for(const std::string& key) const {
  const auto record = world_.file(key);
  if (!record) return Error{Errc::not_found, "there is no such stored file"};
  BlobFetch wish;
  wish.key = key;
  wish.bytes = record->bytes;
  wish.hash = record->hash;
  const auto nodes = world_.nodes();
  const auto within_reach = [&nodes](const std::string& id) {
    return std::any_of(nodes.begin(), nodes.end(),
                       [&id](const auto& node) { return node.id == id && node.reachable; });
  };
  for (const auto& id : record->holders)
    if (id != options_.node_id && within_reach(id) && wish.from.size() < kBlobSourcesMax)
      wish.from.push_back(id);
  // Each file begins with another of its holders, so that no node gives them all.
  if (!wish.from.empty())
    std::rotate(wish.from.begin(),
                wish.from.begin() + static_cast<std::ptrdiff_t>(rng_.below(wish.from.size())),
                wish.from.end());
  return wish;
}

// ---- answering ----

Task<Result<Bytes>> Replicas::on_read(std::string from, Bytes body) {
  if (!is_member(from)) co_return stranger();
  SAMOVAR_CO_TRY(const BlobRead asked, decode_blob_read(body));
  SAMOVAR_CO_TRY(const BlobKey key, BlobKey::parse(asked.key));
  if (damaged_.contains(asked.key)) co_return Error{Errc::corrupt, "this copy is damaged: ask another node"};
  if (used_.contains(asked.key)) used_[asked.key] = loop_.clock().mono();
  auto work = [blobs = blobs_, key, asked]() -> Result<Bytes> {
    SAMOVAR_TRY(auto piece, blobs.read(key, asked.offset, asked.length));
    BlobPiece answer;
    answer.total = piece.total;
    answer.bytes = std::move(piece.bytes);
    return encode(answer);
  };
  co_return co_await run_on(io_, loop_, std::move(work));
}

Task<Result<Bytes>> Replicas::on_fetch(std::string from, Bytes body) {
  if (!is_member(from)) co_return stranger();
  SAMOVAR_CO_TRY(BlobFetch asked, decode_blob_fetch(body));
  for (const auto& source : asked.from)
    if (!is_member(source)) co_return stranger();
  const auto record = world_.file(asked.key);
  if (record && !record->hash.empty() && record->hash != asked.hash)
    co_return Error{Errc::conflict, "this file is known with another hash"};
  std::erase(asked.from, options_.node_id);
  const auto fetch = begin_fetch(std::move(asked), false);
  if (!fetch) co_return Error{Errc::busy, "this file is being fetched with another hash"};
  auto fetched = co_await wait_for(fetch, options_.answer_within);
  if (!fetched) co_return std::move(fetched).error();
  co_return encode(*fetched);
}

Task<Result<Bytes>> Replicas::on_check(std::string from, Bytes body) {
  if (!is_member(from)) co_return stranger();
  SAMOVAR_CO_TRY(const BlobCheck asked, decode_blob_check(body));
  if (asked.read) {
    const std::function<void(Mended)> done = [](Mended) {};
    for (const auto& file : asked.files) spawn<Mended>(mend(file.key), done);
  }
  auto files = asked.files;
  auto there = co_await look(std::move(files));
  if (!there) co_return std::move(there).error();
  BlobChecked answer;
  answer.there = std::move(*there);
  co_return encode(answer);
}

Task<Result<std::vector<bool>>> Replicas::look(std::vector<BlobCheck::File> files) {
  auto shared = std::make_shared<const std::vector<BlobCheck::File>>(std::move(files));
  auto work = [blobs = blobs_, shared]() -> Result<std::vector<bool>> {
    std::vector<bool> there;
    for (const auto& file : *shared) {
      SAMOVAR_TRY(const BlobKey key, BlobKey::parse(file.key));
      const auto size = blobs.size(key);
      if (!size && size.error().code() != Errc::not_found) return size.error();
      there.push_back(size && (file.bytes == 0 || *size == file.bytes));
    }
    return there;
  };
  auto found = co_await run_on(io_, loop_, std::move(work));
  if (!found) co_return std::move(found).error();
  for (std::size_t i = 0; i < found->size(); ++i)
    if (damaged_.contains((*shared)[i].key)) (*found)[i] = false;
  co_return found;
}

}  // namespace samovar::jobs
