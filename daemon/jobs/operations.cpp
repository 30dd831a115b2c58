#include "daemon/jobs/operations.hpp"

#include <algorithm>
#include <array>

namespace samovar::jobs {
namespace {

constexpr std::array<std::string_view, 3> kKinds = {"ingest", "version", "scrub"};
constexpr std::array<std::string_view, 5> kStates = {"queued", "running", "done", "failed", "cancelled"};

bool waits(const Operation& operation) {
  return operation.state == OperationState::queued && operation.kind != OperationKind::scrub;
}

}  // namespace

std::string_view to_string(OperationKind kind) noexcept { return kKinds[static_cast<std::size_t>(kind)]; }
std::string_view to_string(OperationState state) noexcept { return kStates[static_cast<std::size_t>(state)]; }

std::optional<OperationKind> parse_operation_kind(std::string_view text) noexcept {
  const auto* const it = std::find(kKinds.begin(), kKinds.end(), text);
  if (it == kKinds.end()) return std::nullopt;
  return static_cast<OperationKind>(it - kKinds.begin());
}

Operation from_record(const cluster::OperationRecord& record) {
  Operation operation;
  operation.id = record.id;
  operation.kind = parse_operation_kind(record.kind).value_or(OperationKind::ingest);
  const auto* const state = std::find(kStates.begin(), kStates.end(), record.state);
  if (state != kStates.end()) operation.state = static_cast<OperationState>(state - kStates.begin());
  operation.owner_id = record.owner_id;
  operation.node_id = record.node_id;
  operation.title = record.title;
  operation.dataset_id = record.dataset_id;
  operation.version = record.version;
  operation.error = record.error;
  operation.created_at = record.created_at;
  operation.ended_at = record.ended_at;
  return operation;
}

void OperationBook::tell(const Operation& operation) const {
  if (listener_) listener_(operation);
}

void OperationBook::add(Operation operation) {
  operations_.push_back(std::move(operation));
  const std::string id = operations_.back().id;
  renumber();
  if (!waits(operations_.back())) tell(operations_.back());  // renumber told of the others
  std::size_t ended = 0;
  for (const auto& other : operations_) ended += other.ended_at ? 1 : 0;
  for (auto it = operations_.begin(); it != operations_.end() && ended > kEndedMax;) {
    if (!it->ended_at) {
      ++it;
      continue;
    }
    it = operations_.erase(it);
    --ended;
  }
}

void OperationBook::change(std::string_view id, const std::function<void(Operation&)>& how) {
  const auto it = std::find_if(operations_.begin(), operations_.end(),
                               [id](const Operation& operation) { return operation.id == id; });
  if (it == operations_.end()) return;
  const bool waited = waits(*it);
  how(*it);
  if (waited != waits(*it)) {
    it->queue_position = 0;
    renumber();
  }
  tell(*it);
}

void OperationBook::end(std::string_view id, OperationState state, std::string error, WallTime now) {
  change(id, [&](Operation& operation) {
    operation.state = state;
    operation.error = std::move(error);
    operation.ended_at = now;
  });
}

const Operation* OperationBook::find(std::string_view id) const {
  const auto it = std::find_if(operations_.begin(), operations_.end(),
                               [id](const Operation& operation) { return operation.id == id; });
  return it == operations_.end() ? nullptr : &*it;
}

const Operation* OperationBook::next_queued() const {
  const auto it = std::find_if(operations_.begin(), operations_.end(), waits);
  return it == operations_.end() ? nullptr : &*it;
}

void OperationBook::renumber() {
  unsigned position = 0;
  for (auto& operation : operations_) {
    if (!waits(operation)) continue;
    ++position;
    if (operation.queue_position == position) continue;
    operation.queue_position = position;
    tell(operation);
  }
}

}  // namespace samovar::jobs
