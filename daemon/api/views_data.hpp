// How uploads, operations and what belongs to data sets look to clients.
//
// Threading: loop only.
#pragma once
#include "daemon/api/views.hpp"
#include "daemon/jobs/data_service.hpp"

namespace samovar::api {

View upload_view(const jobs::Upload& upload);
View operation_view(const jobs::Operation& operation);

std::string_view to_string(jobs::OperationKind kind) noexcept;
std::string_view to_string(jobs::OperationState state) noexcept;

}  // namespace samovar::api
