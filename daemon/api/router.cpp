#include "daemon/api/router.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace samovar::api {
namespace {

// "/a/b" → {"a", "b"}; "/" → {""}. The caller has checked the leading slash.
std::vector<std::string_view> split(std::string_view path) {
  std::vector<std::string_view> parts;
  path.remove_prefix(1);
  for (;;) {
    const std::size_t slash = path.find('/');
    parts.push_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return parts;
    path.remove_prefix(slash + 1);
  }
}

constexpr std::size_t kNone = std::string_view::npos;

}  // namespace

Result<Router::Pattern> Router::parse(std::string_view text) {
  const auto malformed = [&](std::string_view why) {
    return Error{Errc::invalid, fmt::format("route pattern '{}' {}", text, why)};
  };
  if (text.empty() || text.front() != '/') return malformed("must begin with '/'");
  Pattern pattern;
  std::vector<std::string_view> parts = split(text);
  if (const std::size_t colon = parts.back().find(':'); colon != kNone) {
    pattern.verb = parts.back().substr(colon + 1);
    parts.back() = parts.back().substr(0, colon);
    if (pattern.verb.empty() || pattern.verb.find(':') != kNone) return malformed("needs one word after ':'");
  }
  for (const std::string_view part : parts) {
    const bool param = part.size() > 2 && part.front() == '{' && part.back() == '}';
    const std::string_view name = param ? part.substr(1, part.size() - 2) : part;
    if (name.find_first_of("{}:") != kNone) return malformed("has a stray '{', '}' or ':'");
    if (name.empty() && text != "/") return malformed("has an empty segment");
    pattern.segments.push_back({name, param});
  }
  return pattern;
}

bool Router::same_shape(const Pattern& a, const Pattern& b) {
  return a.verb == b.verb && std::equal(a.segments.begin(), a.segments.end(), b.segments.begin(),
                                        b.segments.end(), [](const Segment& x, const Segment& y) {
                                          return x.param == y.param && (x.param || x.text == y.text);
                                        });
}

// Some path would match both.
bool Router::overlap(const Pattern& a, const Pattern& b) {
  return a.verb == b.verb && std::equal(a.segments.begin(), a.segments.end(), b.segments.begin(),
                                        b.segments.end(), [](const Segment& x, const Segment& y) {
                                          return x.param || y.param || x.text == y.text;
                                        });
}

Result<Router> Router::create(std::vector<Route> routes) {
  Router router;
  for (std::size_t i = 0; i < routes.size(); ++i) {
    if (!routes[i].handler) {
      return Error{Errc::invalid, fmt::format("route '{}' has no handler", routes[i].pattern)};
    }
    SAMOVAR_TRY(Pattern pattern, parse(routes[i].pattern));
    pattern.route = i;
    for (const Pattern& other : router.patterns_) {
      const Route& earlier = routes[other.route];
      const bool same = same_shape(pattern, other);
      if (same ? earlier.method == routes[i].method : overlap(pattern, other)) {
        return Error{Errc::invalid,
                     fmt::format("routes '{} {}' and '{} {}' clash", to_string(earlier.method),
                                 earlier.pattern, to_string(routes[i].method), routes[i].pattern)};
      }
    }
    router.patterns_.push_back(std::move(pattern));
  }
  router.routes_ = std::move(routes);
  return router;
}

bool Router::matches(const Pattern& pattern, const std::vector<std::string_view>& parts,
                     std::string_view verb) {
  if (pattern.verb != verb) return false;
  return std::equal(pattern.segments.begin(), pattern.segments.end(), parts.begin(), parts.end(),
                    [](const Segment& segment, std::string_view part) {
                      if (!segment.param) return segment.text == part;
                      return !part.empty() && part.find(':') == kNone;
                    });
}

Router::Match Router::match(Method method, std::string_view path) const {
  Match match;
  if (path.empty() || path.front() != '/') return match;
  std::vector<std::string_view> parts = split(path);
  std::string_view verb;
  if (const std::size_t colon = parts.back().find(':'); colon != kNone) {
    verb = parts.back().substr(colon + 1);
    parts.back() = parts.back().substr(0, colon);
    if (verb.empty()) return match;  // "/users:" is not "/users"
  }
  std::vector<std::string_view> allowed;
  const Pattern* found = nullptr;
  for (const Pattern& pattern : patterns_) {
    if (!matches(pattern, parts, verb)) continue;
    const Method has = routes_[pattern.route].method;
    allowed.push_back(to_string(has));
    if (has == Method::get) allowed.push_back("HEAD");
    // A route of its own for HEAD comes before the GET route that would do.
    if (has == method || (method == Method::head && has == Method::get && found == nullptr)) found = &pattern;
  }
  if (found != nullptr) {
    match.outcome = Match::Outcome::found;
    match.route = &routes_[found->route];
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Segment& segment = found->segments[i];
      if (segment.param) match.params.emplace_back(segment.text, parts[i]);
    }
  } else if (!allowed.empty()) {
    match.outcome = method == Method::options ? Match::Outcome::options : Match::Outcome::wrong_method;
    allowed.push_back("OPTIONS");
    std::sort(allowed.begin(), allowed.end());
    allowed.erase(std::unique(allowed.begin(), allowed.end()), allowed.end());
    match.allow = fmt::format("{}", fmt::join(allowed, ", "));
  }
  return match;
}

}  // namespace samovar::api
