// What the commands on jobs and models share.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "daemon/cluster/context.hpp"
#include "daemon/cluster/model_types.hpp"

namespace samovar::cluster {

// By the field "id".
Result<JobRecord> need_job(Context& context);
// By the field "name".
Result<Model> need_model(Context& context);
// A field of bytes that hold a JSON object, in its one spelling.
Result<std::string> read_document(const Fields& body, std::string_view field, std::size_t bytes_max);
// May this user put a version under this name? Refusal::model_name_taken.
Result<void> check_model_owner(Context& context, std::string_view name, std::string_view user_id);

// As done, with what came of it. Refusal::job_state when it ended meanwhile.
Result<void> finish_job(Context& context, const JobRecord& job, std::string_view model, std::uint32_t version,
                        const std::string& summary_json);

inline constexpr std::size_t kJobHashBytes = 32;
inline constexpr std::size_t kModelKeyBytesMin = 40;  // wrapped
inline constexpr std::size_t kModelKeyBytesMax = 512;

}  // namespace samovar::cluster
