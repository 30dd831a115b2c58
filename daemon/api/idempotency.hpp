// Idempotency-Key: a creating POST that is sent twice happens once and answers the same.
//
// Kept 24 h per user in the replicated state. The key is also the command's request id, so a crash
// between the act and the saved answer does not make the repeat a second act.
//
// Threading: loop only.
#pragma once
#include <functional>
#include <string>

#include "daemon/api/http.hpp"
#include "daemon/api/services.hpp"

namespace samovar::api {

struct Created {
  Response response;
  std::string saved_body;  // what a replay shows: the body without what is shown once; empty: the body
};

// Runs `create` with the command's request id (empty without the header).
Task<Response> idempotent(Services& services, Request& request,
                          std::function<Task<Created>(std::string request_id)> create);

}  // namespace samovar::api
