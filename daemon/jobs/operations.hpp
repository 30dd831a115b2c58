// Work under way and lately ended, as people see it. What was accepted is in the replicated state as well;
// progress is only here.
//
// Threading: loop only.
#pragma once
#include <cstddef>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/cluster/dataset_types.hpp"
#include "daemon/jobs/data_service.hpp"

namespace samovar::jobs {

std::string_view to_string(OperationKind kind) noexcept;
std::string_view to_string(OperationState state) noexcept;
std::optional<OperationKind> parse_operation_kind(std::string_view text) noexcept;
// A record as an operation: without progress.
Operation from_record(const cluster::OperationRecord& record);

class OperationBook {
 public:
  static constexpr std::size_t kEndedMax = 200;  // older ones are in the replicated state alone

  // Told of every change below.
  void listen(std::function<void(const Operation&)> listener) { listener_ = std::move(listener); }

  void add(Operation operation);
  // Nothing when it is not here.
  void change(std::string_view id, const std::function<void(Operation&)>& how);
  void end(std::string_view id, OperationState state, std::string error, WallTime now);

  const Operation* find(std::string_view id) const;
  const std::list<Operation>& all() const noexcept { return operations_; }  // oldest first
  // The oldest that waits, of those that use the ingest worker.
  const Operation* next_queued() const;

 private:
  void tell(const Operation& operation) const;
  void renumber();  // the queue has moved

  std::list<Operation> operations_;
  std::function<void(const Operation&)> listener_;
};

}  // namespace samovar::jobs
