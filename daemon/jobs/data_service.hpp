// Everything about data that the API offers: uploads, what they hold, data sets, operations. The handlers see
// this interface; local_data.cpp and its neighbours implement it over the store, the ingest worker and the
// replicated state.
//
// Rights: the caller's role and scope are settled by the route; who may see which data set is settled here,
// from Call's actor: an object the actor may not see is Errc::not_found, as if it were not there.
//
// Threading: loop only; tasks resume on the loop. Disk and cipher work runs on the io pool.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "daemon/cluster/dataset_types.hpp"
#include "daemon/cluster/types.hpp"
#include "daemon/ingest/column_change.hpp"
#include "daemon/ingest/detect.hpp"
#include "daemon/ingest/options.hpp"

namespace samovar::jobs {

struct Upload {
  std::string id;  // "upl_…"
  std::string owner_id;
  std::string file_name;     // as the user's; data, never a path
  std::uint64_t length = 0;  // announced
  std::uint64_t offset = 0;  // synced
  WallTime created_at{};
  WallTime expires_at{};  // 7 days after the last byte
  std::string sha256;     // hex, once complete
  bool complete() const noexcept { return offset == length; }
};

struct NewUpload {
  std::string file_name;
  std::uint64_t length = 0;
};

// What a person chose when making a data set from an upload, or a new version of one.
struct IngestRequest {
  std::string name;  // of the data set; empty for a new version
  std::string description;
  ingest::ParseHints hints;  // what differs from what detection finds
  using ColumnChange = ingest::ColumnChange;
  std::vector<ColumnChange> columns;
};

enum class OperationKind : std::uint8_t { ingest, version, scrub };
enum class OperationState : std::uint8_t { queued, running, done, failed, cancelled };

struct Operation {
  std::string id;  // "op_…"
  OperationKind kind = OperationKind::ingest;
  OperationState state = OperationState::queued;
  std::string owner_id;
  std::string node_id;     // who carries it out; its progress is known there only
  std::string title;       // the data set's name
  std::string dataset_id;  // once there is one
  std::uint32_t version = 0;
  std::string step;  // "checking", "reading", "placing"
  std::uint64_t done_bytes = 0;
  std::uint64_t total_bytes = 0;
  std::uint64_t rows = 0;
  std::uint64_t bad_rows = 0;
  std::string error;  // a sentence, when failed
  unsigned queue_position = 0;
  WallTime created_at{};
  std::optional<WallTime> ended_at;
};

struct Preview {
  std::vector<std::vector<std::optional<std::string>>> rows;  // as in the file, masked where sensitive
};

// A long answer, piece by piece. An empty piece is the end.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  virtual Task<Result<Bytes>> next() = 0;
};

class DataService {
 public:
  virtual ~DataService() = default;

  // ---- uploads ----
  // Errc::no_space: does not fit on the disk; Errc::busy: over the user's quota.
  virtual Task<Result<Upload>> create_upload(cluster::Call call, NewUpload upload) = 0;
  virtual Result<Upload> upload(const cluster::Actor& actor, std::string_view id) const = 0;
  virtual std::vector<Upload> uploads(const cluster::Actor& actor) const = 0;
  // One writer at a time (Errc::busy). Errc::conflict: `offset` is not where the upload stands.
  // `next` gives the body piece by piece, empty at its end; what arrived before an error is kept and synced.
  using NextPiece = std::function<Task<Result<Bytes>>()>;
  virtual Task<Result<Upload>> append(cluster::Call call, std::string id, std::uint64_t offset,
                                      NextPiece next) = 0;
  virtual Task<Result<void>> delete_upload(cluster::Call call, std::string id) = 0;
  // In the sandbox. What was found, before anything is made of it.
  virtual Task<Result<ingest::Detection>> inspect(cluster::Call call, std::string upload_id,
                                                  ingest::ParseHints hints) = 0;

  // ---- making data sets ----
  virtual Task<Result<Operation>> start_ingest(cluster::Call call, std::string upload_id,
                                               IngestRequest request) = 0;
  // Errc::conflict: another version is being made.
  virtual Task<Result<Operation>> start_version(cluster::Call call, std::string dataset_id,
                                                IngestRequest request) = 0;
  // The sample: made here, then the same way as any upload.
  virtual Task<Result<Operation>> start_sample(cluster::Call call) = 0;
  virtual std::vector<Operation> operations(const cluster::Actor& actor) const = 0;
  virtual std::optional<Operation> operation(const cluster::Actor& actor, std::string_view id) const = 0;
  virtual Task<Result<void>> cancel(cluster::Call call, std::string operation_id) = 0;
  // Called on the loop for each change and, at most twice a second, for progress.
  virtual void on_operation(std::function<void(const Operation&)> listener) = 0;

  // ---- reading them (the list and the manifest come from cluster::Cluster) ----
  // May the actor know it is there; read its rows.
  virtual bool may_see(const cluster::Actor& actor, const cluster::Dataset& dataset) const = 0;
  virtual bool may_read_rows(const cluster::Actor& actor, const cluster::Dataset& dataset) const = 0;
  // The profile's JSON for this actor: small cells suppressed when they may not read rows.
  virtual Task<Result<nlohmann::json>> profile(cluster::Actor actor, std::string dataset_id,
                                               std::uint32_t version, std::string target) = 0;
  virtual Task<Result<Preview>> preview(cluster::Call call, std::string dataset_id,
                                        std::uint32_t version) = 0;
  virtual Task<Result<std::unique_ptr<ByteStream>>> download(cluster::Call call, std::string dataset_id,
                                                             std::uint32_t version) = 0;
  virtual Task<Result<std::unique_ptr<ByteStream>>> bad_rows(cluster::Call call, std::string dataset_id,
                                                             std::uint32_t version) = 0;

  // ---- keeping them ----
  virtual Task<Result<cluster::Dataset>> bin(cluster::Call call, std::string dataset_id) = 0;
  virtual Task<Result<cluster::Dataset>> restore(cluster::Call call, std::string dataset_id) = 0;
  // From the bin only: destroys the keys, removes the files, leaves a certificate in the audit log.
  virtual Task<Result<void>> destroy(cluster::Call call, std::string dataset_id) = 0;
  virtual Task<Result<Operation>> start_scrub(cluster::Call call) = 0;
};

}  // namespace samovar::jobs
