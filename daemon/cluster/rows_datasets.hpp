// Rows of data sets and operations as values: the only place that knows the order of their columns.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/cluster/dataset_types.hpp"
#include "daemon/cluster/sqlite.hpp"
#include "daemon/cluster/types.hpp"

namespace samovar::cluster {

std::optional<Dataset> find_dataset(Db& db, std::string_view id);
// Among those that are not in the bin.
std::optional<Dataset> find_dataset_by_name(Db& db, std::string_view name);
Page<Dataset> list_datasets(Db& db, const DatasetFilter& filter, const PageQuery& page);

// The latest one for version 0.
std::optional<DatasetVersion> find_version(Db& db, std::string_view id, std::uint32_t version);
std::optional<VersionSummary> find_summary(Db& db, std::string_view id, std::uint32_t version);
std::vector<VersionSummary> list_versions(Db& db, std::string_view id);  // newest first
std::vector<VersionRef> list_version_refs(Db& db);
// Version 0 is the source's.
std::optional<Bytes> find_wrapped_key(Db& db, std::string_view id, std::uint32_t version);

std::optional<OperationRecord> find_operation(Db& db, std::string_view id);
std::vector<OperationRecord> list_operations(Db& db, const std::optional<std::string>& owner_id);

}  // namespace samovar::cluster
