#include "daemon/api/router.hpp"

#include <gtest/gtest.h>

#include <type_traits>

namespace samovar::api {
namespace {

using Outcome = Router::Match::Outcome;

Handler ok() {
  return [](Request&) -> Task<Response> { co_return Response{}; };
}

Route make(Method method, std::string_view pattern) {
  return {method, pattern, Access::anyone(), Body::none, ok()};
}

Router users() {
  return *Router::create({
      make(Method::get, "/"),
      make(Method::get, "/api/v1/users"),
      make(Method::post, "/api/v1/users"),
      make(Method::get, "/api/v1/users/{id}"),
      make(Method::del, "/api/v1/users/{id}"),
      make(Method::post, "/api/v1/users/{id}:set-password"),
      make(Method::post, "/api/v1/users/{id}:unlock"),
      make(Method::post, "/api/v1/audit:verify"),
      make(Method::get, "/api/v1/a/{x}/b/{y}"),
  });
}

// A route without rights must not compile.
static_assert(!std::is_default_constructible_v<Access>);
static_assert(!std::is_default_constructible_v<Route>);
static_assert(!std::is_constructible_v<Access, int, int>);

TEST(Router, FindsLiteralsAndParams) {
  const Router router = users();
  auto match = router.match(Method::get, "/api/v1/users/usr_7");
  ASSERT_EQ(match.outcome, Outcome::found);
  EXPECT_EQ(match.route->pattern, "/api/v1/users/{id}");
  ASSERT_EQ(match.params.size(), 1U);
  EXPECT_EQ(match.params[0], (std::pair<std::string, std::string>{"id", "usr_7"}));
  match = router.match(Method::get, "/api/v1/a/1/b/2");
  ASSERT_EQ(match.outcome, Outcome::found);
  EXPECT_EQ(match.params[1].second, "2");
  EXPECT_EQ(router.match(Method::get, "/").outcome, Outcome::found);
}

TEST(Router, VerbsAreApartFromTheirObject) {
  const Router router = users();
  auto match = router.match(Method::post, "/api/v1/users/u1:set-password");
  ASSERT_EQ(match.outcome, Outcome::found);
  EXPECT_EQ(match.params[0].second, "u1");
  EXPECT_EQ(router.match(Method::post, "/api/v1/audit:verify").outcome, Outcome::found);
  EXPECT_EQ(router.match(Method::post, "/api/v1/users/u1:explode").outcome, Outcome::not_found);
  EXPECT_EQ(router.match(Method::get, "/api/v1/users/u1:set-password").outcome, Outcome::wrong_method);
  EXPECT_EQ(router.match(Method::post, "/api/v1/users/:set-password").outcome, Outcome::not_found);
  EXPECT_EQ(router.match(Method::get, "/api/v1/users/u1:").outcome, Outcome::not_found);
  EXPECT_EQ(router.match(Method::post, "/api/v1/users/a:b:unlock").outcome, Outcome::not_found);
}

TEST(Router, NothingElseMatches) {
  const Router router = users();
  for (const char* path : {"", "x", "/api", "/api/v1/users/", "/api/v1/users/a/b", "//", "/api/v1//users",
                           "/API/v1/users", "/api/v1/a//b/2"}) {
    EXPECT_EQ(router.match(Method::get, path).outcome, Outcome::not_found) << path;
  }
}

TEST(Router, WrongMethodListsTheRightOnes) {
  const auto match = users().match(Method::put, "/api/v1/users/u1");
  EXPECT_EQ(match.outcome, Outcome::wrong_method);
  EXPECT_EQ(match.allow, "DELETE, GET, HEAD, OPTIONS");
}

TEST(Router, HeadFallsToGetAndOptionsIsAnswered) {
  const Router router = users();
  EXPECT_EQ(router.match(Method::head, "/api/v1/users").outcome, Outcome::found);
  EXPECT_EQ(router.match(Method::head, "/api/v1/audit:verify").outcome, Outcome::wrong_method);
  const auto match = router.match(Method::options, "/api/v1/users");
  EXPECT_EQ(match.outcome, Outcome::options);
  EXPECT_EQ(match.allow, "GET, HEAD, OPTIONS, POST");
  EXPECT_EQ(router.match(Method::options, "/nowhere").outcome, Outcome::not_found);
}

TEST(Router, OwnHeadAndOptionsRoutesComeFirst) {
  const Router router =
      *Router::create({make(Method::get, "/x"), make(Method::head, "/x"), make(Method::options, "/x")});
  EXPECT_EQ(router.match(Method::head, "/x").route->method, Method::head);
  EXPECT_EQ(router.match(Method::options, "/x").route->method, Method::options);
}

TEST(Router, RefusesDuplicatesAndAmbiguity) {
  const std::pair<const char*, const char*> pairs[] = {
      {"/a/{id}", "/a/{id}"}, {"/a/{id}", "/a/{name}"}, {"/a/{id}", "/a/b"},
      {"/{x}/b", "/a/{y}"},   {"/a:do", "/{x}:do"},
  };
  for (const auto& [first, second] : pairs) {
    const auto router = Router::create({make(Method::get, first), make(Method::get, second)});
    ASSERT_FALSE(router) << first << " " << second;
    EXPECT_EQ(router.error().code(), Errc::invalid);
    EXPECT_NE(router.error().message().find(second), std::string::npos);
  }
  EXPECT_FALSE(Router::create({make(Method::get, "/a/{id}"), make(Method::post, "/a/b")}))
      << "other method, same doubt";
  EXPECT_TRUE(Router::create({make(Method::get, "/a/{id}"), make(Method::post, "/a/{id}")}));
  EXPECT_TRUE(Router::create({make(Method::get, "/a/{id}"), make(Method::get, "/a/b:do")}));
}

TEST(Router, RefusesMalformedPatterns) {
  for (const char* pattern :
       {"", "a", "/a//b", "/a/", "/{}", "/{a", "/a}", "/a:", "/a:b:c", "/a:b/c", "/x{a}"}) {
    EXPECT_FALSE(Router::create({make(Method::get, pattern)})) << pattern;
  }
  EXPECT_FALSE(Router::create({Route{Method::get, "/a", Access::anyone(), Body::none, {}}})) << "no handler";
}

TEST(Access, SaysWhoAndHow) {
  constexpr Access admins = Access::roles({Role::admin, Role::auditor}).with_reauth();
  EXPECT_TRUE(admins.needs_user());
  EXPECT_TRUE(admins.allows(Role::admin));
  EXPECT_TRUE(admins.allows(Role::auditor));
  EXPECT_FALSE(admins.allows(Role::viewer));
  EXPECT_TRUE(admins.needs_reauth());
  EXPECT_FALSE(admins.every_phase());
  for (const Role role : kAllRoles) EXPECT_TRUE(Access::any_user().allows(role));
  EXPECT_FALSE(Access::roles({}).allows(Role::admin));
  EXPECT_FALSE(Access::anyone().needs_user());
  EXPECT_TRUE(Access::anyone().in_every_phase().every_phase());
  EXPECT_EQ(Access::any_user().with_scope("metrics").scope(), "metrics");
}

TEST(Access, RoleNamesGoBothWays) {
  for (const Role role : kAllRoles) EXPECT_EQ(role_from(to_string(role)), role);
  EXPECT_EQ(role_from("Admin"), std::nullopt);
  EXPECT_EQ(role_from(""), std::nullopt);
}

}  // namespace
}  // namespace samovar::api
