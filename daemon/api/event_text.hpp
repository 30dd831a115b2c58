// A view as the text of an event. What workers and other nodes say may be in it: bytes that are no text are
// replaced, where dump() would throw.
#pragma once
#include <string>

#include "daemon/api/views.hpp"

namespace samovar::api {

inline std::string event_text(const View& view) {
  return view.dump(-1, ' ', false, View::error_handler_t::replace);
}

}  // namespace samovar::api
