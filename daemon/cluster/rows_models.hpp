// Rows of jobs and models as values: the only place that knows the order of their columns.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/cluster/model_types.hpp"
#include "daemon/cluster/sqlite.hpp"

namespace samovar::cluster {

// rows_jobs.cpp
std::optional<JobRecord> find_job(Db& db, std::string_view id);
std::vector<JobRecord> list_jobs(Db& db, const JobFilter& filter);
std::vector<JobRef> list_job_refs(Db& db);

// rows_models.cpp
// What is unique among models: the name without its case. Names are ASCII.
std::string model_key(std::string_view name);
std::optional<Model> find_model(Db& db, std::string_view name);
std::vector<Model> list_models(Db& db, const std::optional<std::string>& user_id);
// Version 0: the one in production, else the latest there is.
std::optional<ModelVersion> find_model_version(Db& db, std::string_view name, std::uint32_t version);
std::vector<ModelVersion> list_model_versions(Db& db, std::string_view name);
std::vector<ModelRef> list_model_refs(Db& db);

// By a job that may still go on, or a model in production that was made from it.
bool is_dataset_needed(Db& db, std::string_view dataset_id);

}  // namespace samovar::cluster
