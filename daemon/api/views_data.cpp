#include "daemon/api/views_data.hpp"

#include "base/ids.hpp"
#include "base/json.hpp"

namespace samovar::api {
namespace {

View text_or_null(const std::string& text) { return text.empty() ? View(nullptr) : View(text); }

}  // namespace

std::string_view to_string(jobs::OperationKind kind) noexcept {
  switch (kind) {
    case jobs::OperationKind::ingest:
      return "ingest";
    case jobs::OperationKind::version:
      return "version";
    case jobs::OperationKind::scrub:
      return "scrub";
  }
  return "ingest";
}

std::string_view to_string(jobs::OperationState state) noexcept {
  switch (state) {
    case jobs::OperationState::queued:
      return "queued";
    case jobs::OperationState::running:
      return "running";
    case jobs::OperationState::done:
      return "done";
    case jobs::OperationState::failed:
      return "failed";
    case jobs::OperationState::cancelled:
      return "cancelled";
  }
  return "queued";
}

View upload_view(const jobs::Upload& upload) {
  return {{"id", upload.id},
          {"file_name", upload.file_name},
          {"length", upload.length},
          {"offset", upload.offset},
          {"complete", upload.complete()},
          {"sha256", text_or_null(upload.sha256)},
          {"created_at", format_time(upload.created_at)},
          {"expires_at", format_time(upload.expires_at)},
          {"owner_id", upload.owner_id}};
}

View operation_view(const jobs::Operation& operation) {
  return {{"id", operation.id},
          {"kind", to_string(operation.kind)},
          {"state", to_string(operation.state)},
          {"title", operation.title},
          {"owner_id", operation.owner_id},
          {"dataset_id", text_or_null(operation.dataset_id)},
          {"version", operation.version},
          {"step", operation.step},
          {"done_bytes", operation.done_bytes},
          {"total_bytes", operation.total_bytes},
          {"rows", operation.rows},
          {"bad_rows", operation.bad_rows},
          {"error", text_or_null(operation.error)},
          {"queue_position", operation.queue_position},
          {"created_at", format_time(operation.created_at)},
          {"ended_at", time_view(operation.ended_at)}};
}

}  // namespace samovar::api
