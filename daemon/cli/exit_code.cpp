// What a script sees of an answer. docs/reference/cli.md lists the codes.
#include "daemon/cli/app.hpp"

namespace samovar::cli {

Exit exit_for_status(int status, std::string_view code) noexcept {
  switch (status) {
    case 400:
    case 413:
    case 415:
    case 422:
      return Exit::invalid;
    case 401:
    case 403:
      return Exit::denied;
    case 404:
      return Exit::not_found;
    case 409:
    case 412:
    case 423:
    case 428:
      return Exit::conflict;
    case 408:
    case 502:
    case 503:
    case 504:
      return Exit::unreachable;
    // Too many wrong passwords is a refusal; too many requests is a failure to be repeated later.
    case 429:
      return code == "locked_out" ? Exit::denied : Exit::failure;
    default:
      return Exit::failure;
  }
}

Exit exit_for_error(Errc code) noexcept {
  switch (code) {
    case Errc::invalid:
      return Exit::invalid;
    case Errc::not_found:
      return Exit::not_found;
    case Errc::denied:
      return Exit::denied;
    case Errc::conflict:
      return Exit::conflict;
    case Errc::timeout:
    case Errc::io:
    case Errc::unavailable:
      return Exit::unreachable;
    case Errc::unsupported:
      return Exit::usage;
    case Errc::busy:
    case Errc::corrupt:
    case Errc::no_space:
    case Errc::internal:
      return Exit::failure;
  }
  return Exit::failure;
}

}  // namespace samovar::cli
