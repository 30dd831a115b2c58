// Reading data sets: the profile, the first rows, all rows as CSV, the rows that were not read.
#include <fmt/format.h>

#include <algorithm>

#include "base/json.hpp"
#include "base/log.hpp"
#include "daemon/cluster/dataset_rights.hpp"
#include "daemon/ingest/profile.hpp"
#include "daemon/jobs/csv_export.hpp"
#include "daemon/jobs/local_data.hpp"
#include "daemon/store/shard_file.hpp"
#include "security/sealed_file.hpp"
#include "trainer/data/block.hpp"

namespace samovar::jobs {

using nlohmann::json;
using security::SecretBytes;

struct LocalData::Opened {
  cluster::Dataset dataset;
  cluster::DatasetVersion version;
  trainer::Schema schema;
  std::shared_ptr<const SecretBytes> key;  // shared: work on the pool is copied
  bool may_read_rows = false;
};

namespace {

constexpr std::size_t kProfileBytesMax = 64u << 20;
constexpr std::size_t kPieceBytes = 256 * 1024;
constexpr std::uint32_t kRowsPerPiece = 1024;
constexpr const char* kMask = "•••";

// A sealed object beside the shards, piece by piece.
struct ObjectState {
  std::unique_ptr<security::SealedReader> reader;
  std::uint64_t offset = 0;

  Result<Bytes> next() {
    Bytes piece(kPieceBytes);
    SAMOVAR_TRY(const std::size_t got, reader->read_at(offset, piece));
    offset += got;
    piece.resize(got);
    return piece;
  }
};

Result<std::unique_ptr<security::SealedReader>> open_object(Disk& disk, const std::string& path,
                                                            const SecretBytes& key,
                                                            const security::SealedFileId& place) {
  return security::SealedReader::open(disk, path, key, place);
}

class ObjectStream final : public ByteStream {
 public:
  ObjectStream(Loop& loop, Pool& io, std::shared_ptr<const SecretBytes> key,
               std::shared_ptr<ObjectState> state, Replicas::HoldPtr hold)
      : loop_(loop), io_(io), key_(std::move(key)), state_(std::move(state)), hold_(std::move(hold)) {}
  Task<Result<Bytes>> next() override {
    auto work = [state = state_, key = key_] { return state->next(); };
    co_return co_await run_on(io_, loop_, std::move(work));
  }

 private:
  Loop& loop_;
  Pool& io_;
  std::shared_ptr<const SecretBytes> key_;
  std::shared_ptr<ObjectState> state_;
  Replicas::HoldPtr hold_;
};

// All rows, shard by shard: one block in memory, a piece of it as text.
struct RowsState {
  Disk* disk = nullptr;
  std::string dataset_id;
  std::uint32_t version = 1;
  std::vector<std::string> paths;
  trainer::Schema schema;
  std::shared_ptr<const SecretBytes> key;

  bool begun = false;
  std::uint32_t shard = 0;
  std::uint32_t ready = 0;  // so many shards are here to be read
  std::size_t block = 0;    // the next one of the shard
  std::uint32_t row = 0;
  std::unique_ptr<store::ShardReader> reader;
  Bytes bytes;
  std::optional<trainer::BlockView> view;
  std::string text;  // what was made before an error stays: the same block is read again

  bool over() const noexcept { return shard >= paths.size(); }

  // False at the end of what is ready.
  Result<bool> find_rows() {
    while (!view || row >= view->rows()) {
      if (reader && block >= reader->blocks().size()) {
        reader.reset();
        view.reset();
        ++shard;
        block = 0;
      }
      if (!reader) {
        if (shard >= ready) return false;
        SAMOVAR_TRY(auto file, disk->open(paths[shard], OpenMode::read));
        SAMOVAR_TRY(reader, store::ShardReader::open(std::move(file), *key,
                                                     store::shard_place(dataset_id, version, shard)));
        continue;
      }
      view.reset();
      SAMOVAR_CHECK(reader->read(block, bytes));
      SAMOVAR_TRY(view, trainer::BlockView::open(bytes, schema));
      ++block;
      row = 0;
    }
    return true;
  }

  Result<Bytes> next() {
    if (!begun) append_csv_header(schema, text);
    begun = true;
    while (text.size() < kPieceBytes) {
      SAMOVAR_TRY(const bool more, find_rows());
      if (!more) break;
      const std::uint32_t count = std::min(kRowsPerPiece, view->rows() - row);
      append_csv_rows(*view, schema, row, count, text);
      row += count;
    }
    Bytes piece = to_bytes(text);
    text.clear();
    return piece;
  }
};

// What the rows need of whoever keeps the files.
struct RowsSource {
  // Makes a shard readable here.
  std::function<Task<Result<Replicas::HoldPtr>>(std::uint32_t shard)> bring;
  // It is damaged. True: it was mended, read it again.
  std::function<Task<bool>(std::uint32_t shard)> mend;
};

class RowsStream final : public ByteStream {
 public:
  RowsStream(Loop& loop, Pool& io, std::shared_ptr<RowsState> state, RowsSource source)
      : loop_(loop), io_(io), state_(std::move(state)), source_(std::move(source)) {}
  Task<Result<Bytes>> next() override {
    for (;;) {
      if (!state_->over() && state_->shard >= state_->ready) {
        auto brought = co_await source_.bring(state_->shard);
        if (!brought) co_return std::move(brought).error();
        hold_ = std::move(*brought);
        state_->ready = state_->shard + 1;
      }
      auto work = [state = state_] { return state->next(); };
      auto piece = co_await run_on(io_, loop_, std::move(work));
      if (piece && piece->empty() && !state_->over()) continue;
      if (piece || piece.error().code() != Errc::corrupt || mended_ == state_->shard + 1) co_return piece;
      mended_ = state_->shard + 1;  // once each
      const bool again = co_await source_.mend(state_->shard);
      if (!again) co_return piece;
      state_->reader.reset();
      state_->view.reset();
    }
  }

 private:
  Loop& loop_;
  Pool& io_;
  std::shared_ptr<RowsState> state_;
  const RowsSource source_;
  Replicas::HoldPtr hold_;
  std::uint32_t mended_ = 0;
};

Error rows_denied() {
  return {Errc::denied, "you may see this data set but not its rows: its owner can grant you that"};
}

}  // namespace

Result<LocalData::Opened> LocalData::open_version(const cluster::Actor& actor, const std::string& dataset_id,
                                                  std::uint32_t version) const {
  Opened opened;
  const auto dataset = cluster_.dataset(dataset_id);
  if (!dataset || !may_see(actor, *dataset)) return Error{Errc::not_found, "there is no such data set"};
  if (dataset->binned_at) return Error{Errc::conflict, "this data set is in the bin: restore it first"};
  auto manifest = cluster_.dataset_version(dataset_id, version);
  if (!manifest) return Error{Errc::not_found, "there is no such version of this data set"};
  opened.dataset = *dataset;
  opened.version = *std::move(manifest);
  opened.may_read_rows = may_read_rows(actor, *dataset);
  SAMOVAR_TRY(opened.schema, trainer::decode_schema(opened.version.schema_json));
  SAMOVAR_TRY(auto key, unwrap("data-key", fmt::format("{}.{}", dataset_id, opened.version.version),
                               opened.version.wrapped_key));
  opened.key = std::make_shared<const SecretBytes>(std::move(key));
  return opened;
}

// A file of a version, to be read here.
Task<Result<Replicas::HoldPtr>> LocalData::bring(const cluster::DatasetVersion& version, std::string file) {
  std::vector<std::string> keys = {store::BlobKey::of_version(version.dataset_id, version.version, file)};
  return replicas_->bring(std::move(keys));
}

Task<Result<json>> LocalData::read_profile(const Opened& opened) {
  auto read = co_await read_profile_once(opened);
  if (read || read.error().code() != Errc::corrupt) co_return read;
  const auto outcome = co_await on_damage(
      store::BlobKey::of_version(opened.version.dataset_id, opened.version.version, "profile"));
  if (outcome != Replicas::Mended::mended) co_return read;
  co_return co_await read_profile_once(opened);
}

Task<Result<json>> LocalData::read_profile_once(const Opened& opened) {
  const auto& version = opened.version;
  auto hold = co_await bring(version, "profile");
  if (!hold) co_return std::move(hold).error();
  auto work = [disk = &disk_, key = opened.key,
               path = dir_->version_file(version.dataset_id, version.version, "profile"),
               place =
                   store::object_place(version.dataset_id, version.version, "profile")]() -> Result<json> {
    SAMOVAR_TRY(const Bytes text, security::read_sealed_file(*disk, path, *key, place, kProfileBytesMax));
    json profile = json::parse(text.begin(), text.end(), nullptr, false);
    if (!profile.is_object()) return Error{Errc::corrupt, "the profile of this data set cannot be read"};
    return profile;
  };
  co_return co_await run_on(io_, loop_, std::move(work));
}

Task<Result<json>> LocalData::profile(cluster::Actor actor, std::string dataset_id, std::uint32_t version,
                                      std::string target) {
  SAMOVAR_CO_TRY(const Opened opened, open_version(actor, dataset_id, version));
  auto read = co_await read_profile(opened);
  if (!read) co_return std::move(read).error();
  json profile = std::move(*read);
  profile.erase("head");  // rows are the preview's, which is recorded
  SAMOVAR_CO_CHECK(ingest::correlate(profile, target));
  if (!opened.may_read_rows) ingest::suppress_small_cells(profile);
  ingest::mask_sensitive(profile, opened.schema);
  co_return profile;
}

Task<Result<Preview>> LocalData::preview(cluster::Call call, std::string dataset_id, std::uint32_t version) {
  SAMOVAR_CO_TRY(const Opened opened, open_version(call.actor, dataset_id, version));
  if (!opened.may_read_rows) co_return rows_denied();
  auto profile = co_await read_profile(opened);
  if (!profile) co_return std::move(profile).error();
  auto recorded = co_await record_read(std::move(call), "dataset.preview", opened);
  if (!recorded) co_return std::move(recorded).error();
  Preview preview;
  const auto head = profile->find("head");
  if (head == profile->end() || !head->is_array()) co_return preview;
  for (const auto& row : *head) {
    if (!row.is_array()) continue;
    std::vector<std::optional<std::string>> cells;
    for (std::size_t i = 0; i < row.size() && i < opened.schema.columns.size(); ++i) {
      if (!row[i].is_string()) {
        cells.emplace_back();
      } else if (opened.schema.columns[i].sensitive) {
        cells.emplace_back(kMask);
      } else {
        cells.emplace_back(row[i].get<std::string>());
      }
    }
    preview.rows.push_back(std::move(cells));
  }
  co_return preview;
}

// Nobody reads rows unrecorded: when it cannot be written down, it does not happen.
Task<Result<void>> LocalData::record_read(cluster::Call call, std::string action, const Opened& opened) {
  const json details = {{"name", opened.dataset.name}, {"version", opened.version.version}};
  auto recorded =
      co_await cluster_.record(std::move(call), std::move(action), opened.dataset.id, "ok", details.dump());
  if (!recorded) co_return std::move(recorded).error();
  co_return Result<void>{};
}

Task<Result<std::unique_ptr<ByteStream>>> LocalData::download(cluster::Call call, std::string dataset_id,
                                                              std::uint32_t version) {
  SAMOVAR_CO_TRY(const Opened opened, open_version(call.actor, dataset_id, version));
  if (!opened.may_read_rows) co_return rows_denied();
  auto state = std::make_shared<RowsState>();
  state->disk = &disk_;
  state->dataset_id = dataset_id;
  state->version = opened.version.version;
  state->schema = opened.schema;
  state->key = opened.key;
  for (const auto& shard : opened.version.shards) {
    if (shard.damaged)
      co_return Error{
          Errc::corrupt,
          "a part of this data set is damaged, so it is not handed out: make it anew from its file"};
    state->paths.push_back(
        dir_->version_file(dataset_id, opened.version.version, std::to_string(shard.number)));
  }
  auto recorded = co_await record_read(std::move(call), "dataset.download", opened);
  if (!recorded) co_return std::move(recorded).error();
  RowsSource source;
  source.bring = [this, dataset_id, number = opened.version.version](std::uint32_t shard) {
    std::vector<std::string> keys = {store::BlobKey::of_version(dataset_id, number, std::to_string(shard))};
    return replicas_->bring(std::move(keys));
  };
  source.mend = [this, dataset_id, number = opened.version.version](std::uint32_t shard) {
    return mend_shard(store::BlobKey::of_version(dataset_id, number, std::to_string(shard)));
  };
  std::unique_ptr<ByteStream> stream =
      std::make_unique<RowsStream>(loop_, io_, std::move(state), std::move(source));
  co_return stream;
}

Task<bool> LocalData::mend_shard(std::string key) {
  const auto outcome = co_await on_damage(std::move(key));
  co_return outcome == Replicas::Mended::mended;
}

Task<Result<std::unique_ptr<ByteStream>>> LocalData::bad_rows(cluster::Call call, std::string dataset_id,
                                                              std::uint32_t version) {
  SAMOVAR_CO_TRY(const Opened opened, open_version(call.actor, dataset_id, version));
  if (!opened.may_read_rows) co_return rows_denied();
  const auto& objects = opened.version.objects;
  const bool any = std::any_of(objects.begin(), objects.end(),
                               [](const auto& object) { return object.name == "bad-rows"; });
  if (!any) co_return Error{Errc::not_found, "every row of this data set was read: there are no bad rows"};
  auto work = [disk = &disk_, key = opened.key,
               path = dir_->version_file(dataset_id, opened.version.version, "bad-rows"),
               place = store::object_place(dataset_id, opened.version.version,
                                           "bad-rows")]() -> Result<std::shared_ptr<ObjectState>> {
    auto state = std::make_shared<ObjectState>();
    SAMOVAR_TRY(state->reader, open_object(*disk, path, *key, place));
    return state;
  };
  auto hold = co_await bring(opened.version, "bad-rows");
  if (!hold) co_return std::move(hold).error();
  auto state = co_await run_on(io_, loop_, std::move(work));
  if (!state) co_return std::move(state).error();
  auto recorded = co_await record_read(std::move(call), "dataset.bad_rows", opened);
  if (!recorded) co_return std::move(recorded).error();
  std::unique_ptr<ByteStream> stream =
      std::make_unique<ObjectStream>(loop_, io_, opened.key, std::move(*state), std::move(*hold));
  co_return stream;
}

}  // namespace samovar::jobs
