#include "base/result.hpp"

namespace samovar {

std::string_view to_string(Errc code) noexcept {
  switch (code) {
    case Errc::invalid:
      return "invalid";
    case Errc::not_found:
      return "not_found";
    case Errc::denied:
      return "denied";
    case Errc::conflict:
      return "conflict";
    case Errc::busy:
      return "busy";
    case Errc::timeout:
      return "timeout";
    case Errc::corrupt:
      return "corrupt";
    case Errc::io:
      return "io";
    case Errc::no_space:
      return "no_space";
    case Errc::unavailable:
      return "unavailable";
    case Errc::unsupported:
      return "unsupported";
    case Errc::internal:
      return "internal";
  }
  return "unknown";
}

}  // namespace samovar
