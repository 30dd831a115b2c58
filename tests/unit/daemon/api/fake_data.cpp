#include "tests/unit/daemon/api/fake_data.hpp"

#include <algorithm>

#include "daemon/cluster/dataset_rights.hpp"

namespace samovar::api::test {
namespace {

Error none() { return {Errc::not_found, "there is no such thing"}; }

}  // namespace

Task<Result<jobs::Upload>> FakeData::create_upload(cluster::Call call, jobs::NewUpload upload) {
  if (create_error) co_return *std::exchange(create_error, std::nullopt);
  jobs::Upload made;
  made.id = "upl_" + std::to_string(++made_);
  made.owner_id = call.actor.user_id;
  made.file_name = upload.file_name;
  made.length = upload.length;
  made.created_at = clock_.wall();
  made.expires_at = clock_.wall() + std::chrono::hours(24 * 7);
  if (made.length == 0) made.sha256 = "sha-of-0";
  held[made.id] = {made, ""};
  co_return made;
}

Result<jobs::Upload> FakeData::upload(const cluster::Actor& actor, std::string_view id) const {
  const auto found = held.find(id);
  if (found == held.end() || found->second.upload.owner_id != actor.user_id) return none();
  return found->second.upload;
}

std::vector<jobs::Upload> FakeData::uploads(const cluster::Actor& actor) const {
  std::vector<jobs::Upload> out;
  for (const auto& [id, one] : held) {
    if (one.upload.owner_id == actor.user_id) out.push_back(one.upload);
  }
  return out;
}

Task<Result<jobs::Upload>> FakeData::append(cluster::Call call, std::string id, std::uint64_t offset,
                                            NextPiece next) {
  const auto known = upload(call.actor, id);
  if (!known) co_return known.error();
  if (known->offset != offset) co_return Error{Errc::conflict, "another offset"};
  Held& one = held.find(id)->second;
  for (;;) {
    Result<Bytes> piece = co_await next();
    if (!piece) co_return piece.error();
    if (piece->empty()) break;
    one.bytes += as_text(*piece);
    one.upload.offset = one.bytes.size();
    if (append_error) co_return *std::exchange(append_error, std::nullopt);
  }
  one.upload.expires_at = clock_.wall() + std::chrono::hours(24 * 7);
  if (one.upload.complete()) one.upload.sha256 = "sha-of-" + std::to_string(one.bytes.size());
  co_return one.upload;
}

Task<Result<void>> FakeData::delete_upload(cluster::Call call, std::string id) {
  const auto known = upload(call.actor, id);
  if (!known) co_return known.error();
  held.erase(held.find(id));
  co_return Result<void>{};
}

Task<Result<ingest::Detection>> FakeData::inspect(cluster::Call, std::string, ingest::ParseHints hints) {
  seen_hints = std::move(hints);
  if (inspect_error) co_return *std::exchange(inspect_error, std::nullopt);
  ingest::Detection found;
  ingest::ColumnFinding age;
  age.spec = {"age", trainer::ColumnType::integer, false};
  age.evidence = "all 3 values are whole numbers";
  found.columns.push_back(age);
  found.sample_rows = 3;
  co_return found;
}

jobs::Operation FakeData::start(const cluster::Call& call, jobs::OperationKind kind, std::string title) {
  jobs::Operation made;
  made.id = "op_" + std::to_string(++made_);
  made.kind = kind;
  made.owner_id = call.actor.user_id;
  made.title = std::move(title);
  made.created_at = clock_.wall();
  running[made.id] = made;
  if (listener) listener(made);
  return made;
}

Task<Result<jobs::Operation>> FakeData::start_ingest(cluster::Call call, std::string upload_id,
                                                     jobs::IngestRequest request) {
  const auto known = upload(call.actor, upload_id);
  if (!known) co_return known.error();
  seen_request = request;
  co_return start(call, jobs::OperationKind::ingest, request.name);
}

Task<Result<jobs::Operation>> FakeData::start_version(cluster::Call call, std::string dataset_id,
                                                      jobs::IngestRequest request) {
  seen_request = std::move(request);
  jobs::Operation made = start(call, jobs::OperationKind::version, dataset_id);
  made.dataset_id = dataset_id;
  co_return made;
}

Task<Result<jobs::Operation>> FakeData::start_sample(cluster::Call call) {
  co_return start(call, jobs::OperationKind::ingest, "sample");
}

std::vector<jobs::Operation> FakeData::operations(const cluster::Actor& actor) const {
  std::vector<jobs::Operation> out;
  for (const auto& [id, one] : running) {
    if (one.owner_id == actor.user_id || actor.role == cluster::Role::admin) out.push_back(one);
  }
  return out;
}

std::optional<jobs::Operation> FakeData::operation(const cluster::Actor& actor, std::string_view id) const {
  const auto all = operations(actor);
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.id == id; });
  return found == all.end() ? std::nullopt : std::optional(*found);
}

Task<Result<void>> FakeData::cancel(cluster::Call call, std::string operation_id) {
  if (!operation(call.actor, operation_id)) co_return none();
  running[operation_id].state = jobs::OperationState::cancelled;
  co_return Result<void>{};
}

void FakeData::on_operation(std::function<void(const jobs::Operation&)> to) { listener = std::move(to); }

bool FakeData::may_see(const cluster::Actor& actor, const cluster::Dataset& dataset) const {
  return cluster::may_see(actor, dataset);
}

bool FakeData::may_read_rows(const cluster::Actor& actor, const cluster::Dataset& dataset) const {
  return cluster::may_read_rows(actor, dataset);
}

Task<Result<nlohmann::json>> FakeData::profile(cluster::Actor, std::string, std::uint32_t version,
                                               std::string target) {
  seen_version = version;
  seen_target = std::move(target);
  if (read_error) co_return *std::exchange(read_error, {});
  co_return nlohmann::json{{"rows", 3}, {"bad_rows", 0}, {"columns", nlohmann::json::array()}};
}

Task<Result<jobs::Preview>> FakeData::preview(cluster::Call, std::string, std::uint32_t version) {
  seen_version = version;
  if (read_error) co_return *std::exchange(read_error, {});
  jobs::Preview preview;
  preview.rows = {{std::string("17")}, {std::nullopt}};
  co_return preview;
}

namespace {

class Pieces : public jobs::ByteStream {
 public:
  explicit Pieces(std::vector<std::string> pieces) : pieces_(std::move(pieces)) {}
  Task<Result<Bytes>> next() override {
    if (at_ == pieces_.size()) co_return Bytes();
    co_return to_bytes(std::string_view(pieces_[at_++]));
  }

 private:
  std::vector<std::string> pieces_;
  std::size_t at_ = 0;
};

}  // namespace

Task<Result<std::unique_ptr<jobs::ByteStream>>> FakeData::download(cluster::Call, std::string,
                                                                   std::uint32_t version) {
  seen_version = version;
  if (read_error) co_return *std::exchange(read_error, {});
  co_return std::unique_ptr<jobs::ByteStream>(new Pieces(pieces));
}

Task<Result<std::unique_ptr<jobs::ByteStream>>> FakeData::bad_rows(cluster::Call call, std::string id,
                                                                   std::uint32_t version) {
  return download(std::move(call), std::move(id), version);
}

Task<Result<cluster::Dataset>> FakeData::bin(cluster::Call call, std::string id) {
  return state->bin_dataset(std::move(call), std::move(id));
}
Task<Result<cluster::Dataset>> FakeData::restore(cluster::Call call, std::string id) {
  return state->restore_dataset(std::move(call), std::move(id));
}
Task<Result<void>> FakeData::destroy(cluster::Call call, std::string id) {
  return state->destroy_dataset(std::move(call), std::move(id));
}

Task<Result<jobs::Operation>> FakeData::start_scrub(cluster::Call call) {
  co_return start(call, jobs::OperationKind::scrub, "");
}

}  // namespace samovar::api::test
