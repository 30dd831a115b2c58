// The route table as data, and the search in it.
//
// Patterns: "/api/v1/users/{id}:set-password": literal segments, {param} segments, and an optional
// :verb on the last one. A param takes one non-empty segment without ':'.
//
// Threading: constant after create(), so any thread may match. Ownership: patterns are literals and
// outlive the router; handlers run on the loop thread only.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/task.hpp"
#include "daemon/api/access.hpp"
#include "daemon/api/http.hpp"

namespace samovar::api {

enum class Body : std::uint8_t {
  none,    // nothing is expected; up to 4 KiB is read and may be ignored
  json,    // read whole before the handler runs, into Request::body; else 411, 413 or 415
  stream,  // the handler reads it from Request::stream
};

struct Route {
  Method method;
  std::string_view pattern;
  Access access;
  Body body;
  Handler handler;
  std::uint64_t body_bytes_max = 0;  // 0: the server's limit for this kind of body
};

// Runs on the loop thread before the handler: sessions, CSRF, phase, rights. A response ends the
// request there. For Body::json the body is already in the request; for Body::stream it is not yet
// read, so that a stranger's upload is refused before it is sent.
using Guard = std::function<Task<std::optional<Response>>(const Route&, Request&)>;

class Router {
 public:
  // Errc::invalid, naming both patterns, when one path could reach two routes or a pattern is malformed.
  static Result<Router> create(std::vector<Route> routes);

  struct Match {
    enum class Outcome : std::uint8_t { found, not_found, wrong_method, options };
    Outcome outcome = Outcome::not_found;
    const Route* route = nullptr;                             // when found
    std::vector<std::pair<std::string, std::string>> params;  // when found
    std::string allow;                                        // when wrong_method or options
  };
  // `path` is decoded. HEAD reaches GET routes; OPTIONS is answered from the table unless it has a route.
  Match match(Method method, std::string_view path) const;

  const std::vector<Route>& routes() const noexcept { return routes_; }

 private:
  struct Segment {
    std::string_view text;  // literal, or the param's name
    bool param = false;
  };
  struct Pattern {
    std::vector<Segment> segments;
    std::string_view verb;
    std::size_t route = 0;
  };
  Router() = default;
  static Result<Pattern> parse(std::string_view text);
  static bool same_shape(const Pattern& a, const Pattern& b);
  static bool overlap(const Pattern& a, const Pattern& b);
  static bool matches(const Pattern& pattern, const std::vector<std::string_view>& parts,
                      std::string_view verb);

  std::vector<Route> routes_;
  std::vector<Pattern> patterns_;
};

}  // namespace samovar::api
