// What the commands on data sets and operations share.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "daemon/cluster/context.hpp"
#include "daemon/cluster/dataset_types.hpp"

namespace samovar::cluster {

// By the field "id".
Result<Dataset> need_dataset(Context& context);
// The field "description", bytes: text that may have line breaks.
Result<std::string> read_description(const Fields& body);
// Is a version of it being made?
bool is_dataset_busy(Db& db, std::string_view dataset_id);

// Who carries out an operation or a job, by the field "node_id".
Result<void> set_carrier(Context& context, const std::string& id);

// As done. Errc::conflict when it ended before: it was cancelled.
Result<void> finish_operation(Context& context, std::string_view operation_id, std::string_view dataset_id,
                              std::uint32_t version);

}  // namespace samovar::cluster
