// Work that was accepted: it must survive a restart, so it is in the state from the first moment to its end.
#include "daemon/cluster/copies.hpp"
#include "daemon/cluster/dataset_commands.hpp"
#include "daemon/cluster/rows.hpp"
#include "daemon/cluster/rows_datasets.hpp"

namespace samovar::cluster {
namespace {

constexpr std::size_t kSpecBytesMax = 768 * 1024;  // a schema, as text within JSON
constexpr std::size_t kTitleBytesMax = 256;
constexpr std::size_t kErrorBytesMax = 2048;
constexpr std::int64_t kQueuedPerUserMax = 100;
constexpr std::int64_t kQueuedMax = 1000;

std::int64_t count_queued(Db& db, std::string_view owner_id) {
  Query row(db, "SELECT count(*) FROM operations WHERE state = 'queued' AND (?1 = '' OR owner_id = ?1)",
            owner_id);
  return row.next() ? row.number(0) : 0;
}

Error ended_before(const OperationRecord& operation) {
  return Error{Errc::conflict, "this operation has ended already: it is " + operation.state};
}

// Proposed by a node whose removal was on its way: nobody would ever carry it out, and a data set that a new
// version is being made of would be busy for good.
Result<void> check_carrier(Context& context) {
  if (!context.body.has("must_be_member")) return {};
  SAMOVAR_TRY(const std::string node_id, context.body.text("node_id", 64));
  const auto node = find_node(context.db, node_id);
  if (node && node->state == NodeState::removed)
    return Error{Errc::denied, "this node was removed from the cluster: ask another one"};
  return {};
}

}  // namespace

Result<void> finish_operation(Context& context, std::string_view operation_id, std::string_view dataset_id,
                              std::uint32_t version) {
  const auto operation = find_operation(context.db, operation_id);
  if (!operation) return Error{Errc::not_found, "there is no such operation"};
  if (operation->state != "queued") return ended_before(*operation);
  run(context.db,
      "UPDATE operations SET state = 'done', dataset_id = ?, version = ?, ended_us = ? WHERE id = ?",
      dataset_id, version, context.now, operation_id);
  context.changed(Change::Kind::operations, operation_id);
  return {};
}

Result<void> set_carrier(Context& context, const std::string& id) {
  SAMOVAR_TRY(const auto named, context.body.optional_text("node_id", 64));
  // A box that was alone did not say it.
  const std::string node_id = named ? *named : only_node(context.db);
  if (!node_id.empty()) run(context.db, "INSERT OR REPLACE INTO carriers VALUES (?, ?)", id, node_id);
  return {};
}

Result<Fields> apply_operation_begin(Context& context) {
  SAMOVAR_TRY(const std::string id, context.body.text("id", 64, 1));
  SAMOVAR_TRY(const std::string kind, context.body.text("kind", 32, 1));
  SAMOVAR_TRY(const std::string title, context.body.text("title", kTitleBytesMax));
  SAMOVAR_TRY(const Bytes spec, context.body.bytes("spec", 2, kSpecBytesMax));
  SAMOVAR_TRY(const std::string dataset_id, context.body.text("dataset_id", 64));
  SAMOVAR_TRY(const std::string owner_id, context.body.text("owner_id", 64));
  SAMOVAR_TRY(const std::string document, canonical_json_object(as_text(spec), kSpecBytesMax));
  // Work of the node itself has no owner.
  if (!owner_id.empty()) {
    SAMOVAR_TRY(const User owner, need_user(context, "owner_id"));
    if (count_queued(context.db, owner.id) >= kQueuedPerUserMax)
      return Error{Errc::busy, "too much of your work is waiting: wait for some of it, or cancel some"};
  }
  if (count_queued(context.db, {}) >= kQueuedMax)
    return Error{Errc::busy, "too much work is waiting: try again later"};
  if (find_operation(context.db, id)) return Error{Errc::conflict, "id: is in use"};
  if (!dataset_id.empty()) {
    const auto dataset = find_dataset(context.db, dataset_id);
    if (!dataset) return Error{Errc::not_found, "there is no such data set"};
    if (dataset->binned_at) return refuse(Refusal::dataset_binned);
    if (kind == "version" && is_dataset_busy(context.db, dataset_id)) return refuse(Refusal::dataset_busy);
  }
  SAMOVAR_CHECK(check_carrier(context));
  run(context.db, "INSERT INTO operations VALUES (?, ?, ?, ?, ?, 'queued', ?, 0, '', ?, NULL)", id, kind,
      owner_id, title, document, dataset_id, context.now);
  SAMOVAR_CHECK(set_carrier(context, id));
  Fields details;
  details.set("kind", kind).set("title", title);
  if (!dataset_id.empty()) details.set("dataset", dataset_id);
  context.audit("operation.begin", id, details);
  context.changed(Change::Kind::operations, id);
  return Fields().set("id", id);
}

Result<Fields> apply_operation_end(Context& context) {
  SAMOVAR_TRY(const std::string id, context.body.text("id", 64, 1));
  SAMOVAR_TRY(const std::string state, context.body.text("state", 16, 1));
  SAMOVAR_TRY(const std::string error, context.body.text("error", kErrorBytesMax));
  if (state != "done" && state != "failed" && state != "cancelled")
    return Error{Errc::invalid, "state: must be done, failed or cancelled"};
  const auto operation = find_operation(context.db, id);
  if (!operation) return Error{Errc::not_found, "there is no such operation"};
  if (operation->state != "queued") return ended_before(*operation);
  run(context.db, "UPDATE operations SET state = ?, error = ?, ended_us = ? WHERE id = ?", state, error,
      context.now, id);
  // Why it failed may quote the data; the log keeps only that it did.
  context.audit("operation.end", id,
                Fields().set("kind", operation->kind).set("title", operation->title).set("state", state),
                state == "failed" ? "failed" : "ok");
  context.changed(Change::Kind::operations, id);
  return Fields().set("id", id);
}

}  // namespace samovar::cluster
