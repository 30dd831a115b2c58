// Commands and queries on data sets and operations: typed arguments into a command, the reply into a value.
#include <algorithm>
#include <utility>

#include "daemon/cluster/cluster_impl.hpp"
#include "daemon/cluster/rows_datasets.hpp"

namespace samovar::cluster {
namespace {

constexpr std::size_t kNotesShown = 64;
constexpr std::size_t kNoteBytes = 512;

template <class T>
Result<T> or_gone(std::optional<T> value) {
  if (!value) return Error{Errc::not_found, "it was removed meanwhile"};
  return *std::move(value);
}

std::vector<Fields> encode_shards(const std::vector<ShardRecord>& shards) {
  std::vector<Fields> out;
  out.reserve(shards.size());
  for (const ShardRecord& shard : shards) {
    Fields one;
    one.set("number", std::int64_t{shard.number}).set("rows", shard.rows);
    one.set("blocks", std::int64_t{shard.blocks}).set("plain", shard.plain_bytes);
    one.set("stored", shard.stored_bytes).set("hash", shard.hash).set("nodes", shard.node_ids);
    out.push_back(std::move(one));
  }
  return out;
}

std::vector<Fields> encode_objects(std::vector<ObjectRecord> objects) {
  std::sort(objects.begin(), objects.end(),
            [](const ObjectRecord& a, const ObjectRecord& b) { return a.name < b.name; });
  std::vector<Fields> out;
  for (const ObjectRecord& object : objects)
    out.push_back(
        Fields().set("name", object.name).set("stored", object.stored_bytes).set("hash", object.hash));
  return out;
}

// Notes are for people: what does not fit is cut, not refused.
std::vector<std::string> encode_notes(const std::vector<std::string>& notes) {
  std::vector<std::string> out;
  for (const std::string& note : notes)
    if (out.size() < kNotesShown && !note.empty()) out.push_back(clean_text(note, kNoteBytes));
  return out;
}

// Where objects and the source lie: a level 1 cluster is one node, and says nothing of it.
void encode_places(const NewDataset& manifest, const std::string& self, Fields& body) {
  const auto or_here = [&self](const std::vector<std::string>& ids) {
    return ids.empty() ? std::vector<std::string>{self} : ids;
  };
  Fields holders;
  for (const ObjectRecord& object : manifest.version.objects)
    holders.set(object.name, or_here(object.node_ids));
  body.set("holders", holders);
  if (manifest.wrapped_source_key.empty()) return;
  Fields source;
  source.set("nodes", or_here(manifest.source.node_ids)).set("stored", manifest.source.stored_bytes);
  source.set("hash", manifest.source.hash);
  body.set("source", source);
}

Fields encode_manifest(const NewDataset& manifest) {
  const DatasetVersion& version = manifest.version;
  Fields body;
  body.set("id", manifest.dataset.id).set("name", manifest.dataset.name);
  body.set("description", to_bytes(manifest.dataset.description));
  body.set("owner_id", manifest.dataset.owner_id).set("operation_id", manifest.operation_id);
  body.set("wrapped_source_key", manifest.wrapped_source_key).set("wrapped_key", version.wrapped_key);
  body.set("key_commitment", version.key_commitment).set("version", std::int64_t{version.version});
  body.set("created_by", version.created_by).set("schema", to_bytes(version.schema_json));
  body.set("options", to_bytes(version.options_json)).set("rows", version.rows);
  body.set("bad_rows", version.bad_rows).set("seed", version.seed);
  body.set("source_name", clean_text(version.source_name, 255));
  body.set("source_sha256", version.source_sha256).set("source_bytes", version.source_bytes);
  body.set("notes", encode_notes(version.notes)).set("shards", encode_shards(version.shards));
  body.set("objects", encode_objects(version.objects));
  return body;
}

Result<void> check_bounds(const DatasetVersion& version) {
  if (version.schema_json.size() > kSchemaBytesMax)
    return Error{Errc::invalid,
                 "the names of all columns together are too long to keep: shorten them in the file's header"};
  if (version.shards.size() > kShardsMax)
    return Error{Errc::invalid, "the data has more pieces than one data set can have: split the file"};
  return {};
}

}  // namespace

Task<Result<Dataset>> Cluster::Impl::change_dataset(Call call, std::string type, Fields body) {
  SAMOVAR_CO_TRY(const Fields done, co_await execute(std::move(call), std::move(type), std::move(body)));
  SAMOVAR_CO_TRY(const std::string id, done.text("id", 64));
  co_return or_gone(find_dataset(db(), id));
}

Task<Result<Dataset>> Cluster::commit_dataset(Call call, NewDataset manifest) {
  SAMOVAR_CO_CHECK(check_bounds(manifest.version));
  if (manifest.dataset.id.empty()) manifest.dataset.id = impl_->new_id("dst");
  Fields body = encode_manifest(manifest);
  if (impl_->level() >= 2) encode_places(manifest, impl_->node_id, body);
  if (impl_->level() >= 5) body.set("must_be_held", true);
  co_return co_await impl_->change_dataset(std::move(call), "dataset.commit", std::move(body));
}

Task<Result<Dataset>> Cluster::update_dataset(Call call, std::string dataset_id, DatasetChange change,
                                              std::optional<std::uint64_t> if_revision) {
  Fields body;
  body.set("id", dataset_id).set("name", change.name).set("owner_id", change.owner_id);
  if (change.description) body.set("description", to_bytes(*change.description));
  if (change.copies) body.set("copies", std::int64_t{*change.copies});
  body.set("if_revision", if_revision);
  co_return co_await impl_->change_dataset(std::move(call), "dataset.update", std::move(body));
}

Task<Result<Dataset>> Cluster::bin_dataset(Call call, std::string dataset_id,
                                           std::optional<std::uint64_t> if_revision) {
  Fields body;
  body.set("id", dataset_id).set("if_revision", if_revision);
  co_return co_await impl_->change_dataset(std::move(call), "dataset.bin", std::move(body));
}

Task<Result<Dataset>> Cluster::restore_dataset(Call call, std::string dataset_id) {
  Fields body;
  body.set("id", dataset_id);
  co_return co_await impl_->change_dataset(std::move(call), "dataset.restore", std::move(body));
}

Task<Result<void>> Cluster::destroy_dataset(Call call, std::string dataset_id) {
  Fields body;
  body.set("id", dataset_id);
  SAMOVAR_CO_TRY(const Fields done,
                 co_await impl_->execute(std::move(call), "dataset.destroy", std::move(body)));
  co_return Result<void>();
}

Task<Result<Dataset>> Cluster::grant_dataset(Call call, std::string dataset_id, std::string user_id) {
  Fields body;
  body.set("id", dataset_id).set("user_id", user_id);
  co_return co_await impl_->change_dataset(std::move(call), "dataset.grant", std::move(body));
}

Task<Result<Dataset>> Cluster::ungrant_dataset(Call call, std::string dataset_id, std::string user_id) {
  Fields body;
  body.set("id", dataset_id).set("user_id", user_id);
  co_return co_await impl_->change_dataset(std::move(call), "dataset.ungrant", std::move(body));
}

Task<Result<void>> Cluster::mark_shard(Call call, ShardMark mark) {
  Fields body;
  body.set("id", mark.dataset_id).set("version", std::int64_t{mark.version});
  body.set("shard", std::int64_t{mark.shard}).set("damaged", mark.damaged);
  SAMOVAR_CO_TRY(const Fields done,
                 co_await impl_->execute(std::move(call), "dataset.mark", std::move(body)));
  co_return Result<void>();
}

Task<Result<OperationRecord>> Cluster::begin_operation(Call call, OperationRecord operation) {
  if (operation.id.empty()) operation.id = impl_->new_id("op");
  Fields body;
  body.set("id", operation.id).set("kind", operation.kind).set("owner_id", operation.owner_id);
  body.set("title", clean_text(operation.title, 256)).set("dataset_id", operation.dataset_id);
  body.set("spec", to_bytes(operation.spec_json));
  impl_->set_carrier(body, operation.node_id);
  if (impl_->level() >= kHeldLevel) body.set("must_be_member", true);
  SAMOVAR_CO_TRY(const Fields done,
                 co_await impl_->execute(std::move(call), "operation.begin", std::move(body)));
  // The first one's id, when this request was made before.
  SAMOVAR_CO_TRY(const std::string id, done.text("id", 64));
  co_return or_gone(this->operation(id));
}

Task<Result<OperationRecord>> Cluster::end_operation(Call call, OperationEnd end) {
  Fields body;
  body.set("id", end.id).set("state", end.state).set("error", clean_text(end.error, 2048));
  SAMOVAR_CO_TRY(const Fields done,
                 co_await impl_->execute(std::move(call), "operation.end", std::move(body)));
  co_return or_gone(operation(end.id));
}

std::optional<Dataset> Cluster::dataset(std::string_view id) const { return find_dataset(impl_->db(), id); }

std::optional<Dataset> Cluster::dataset_by_name(std::string_view name) const {
  return find_dataset_by_name(impl_->db(), name);
}

Page<Dataset> Cluster::datasets(const DatasetFilter& filter, const PageQuery& page) const {
  return list_datasets(impl_->db(), filter, page);
}

std::optional<DatasetVersion> Cluster::dataset_version(std::string_view id, std::uint32_t version) const {
  return find_version(impl_->db(), id, version);
}

std::optional<VersionSummary> Cluster::version_summary(std::string_view id, std::uint32_t version) const {
  return find_summary(impl_->db(), id, version);
}

std::vector<VersionSummary> Cluster::dataset_versions(std::string_view id) const {
  return list_versions(impl_->db(), id);
}

std::vector<VersionRef> Cluster::version_refs() const { return list_version_refs(impl_->db()); }

std::optional<Bytes> Cluster::wrapped_source_key(std::string_view dataset_id) const {
  return find_wrapped_key(impl_->db(), dataset_id, 0);
}

std::vector<OperationRecord> Cluster::operations(const std::optional<std::string>& owner_id) const {
  return list_operations(impl_->db(), owner_id);
}

std::optional<OperationRecord> Cluster::operation(std::string_view id) const {
  return find_operation(impl_->db(), id);
}

}  // namespace samovar::cluster
