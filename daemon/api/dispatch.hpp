// The loop thread's half of a request: guard, then handler.
#pragma once
#include <functional>
#include <memory>

#include "base/loop.hpp"
#include "daemon/api/http.hpp"
#include "daemon/api/router.hpp"

namespace samovar::api {

// Any thread. Runs guard and handler on the loop thread and calls `done` there, exactly once unless the
// loop ends first. `owner` keeps guard and route alive until then.
void dispatch(Loop& loop, std::shared_ptr<const void> owner, const Guard& guard, const Route& route,
              Request request, std::function<void(Response)> done);

}  // namespace samovar::api
