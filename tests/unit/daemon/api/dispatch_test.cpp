#include "daemon/api/dispatch.hpp"

#include <gtest/gtest.h>

#include <deque>

namespace samovar::api {
namespace {

// Runs posted work when told, on this thread.
class HandLoop : public Loop {
 public:
  Clock& clock() override { return real_clock(); }
  bool in_loop() const override { return true; }
  void post(Work work) override { queue_.push_back(std::move(work)); }
  Id after(Duration, Work) override { return 1; }
  void cancel(Id) override {}
  Id watch(int, Work) override { return 1; }
  void unwatch(Id) override {}
  void run() {
    while (!queue_.empty()) {
      const Work work = std::move(queue_.front());
      queue_.pop_front();
      work();
    }
  }

 private:
  std::deque<Work> queue_;
};

struct Fixture {
  HandLoop loop;
  int handled = 0;
  Guard guard;
  Route route{Method::post, "/x", Access::anyone(), Body::json, [this](Request& request) -> Task<Response> {
                ++handled;
                Response response;
                response.body = request.body;
                co_return response;
              }};
  std::optional<Response> answer;

  void serve(Request request) {
    dispatch(loop, nullptr, guard, route, std::move(request),
             [this](Response response) { answer = std::move(response); });
    EXPECT_FALSE(answer) << "nothing runs outside the loop";
    loop.run();
  }
};

Request json(std::string body, std::string type = "application/json") {
  Request request;
  request.body = std::move(body);
  request.headers.set("Content-Type", std::move(type));
  return request;
}

TEST(Dispatch, RunsTheHandlerOnTheLoop) {
  Fixture fixture;
  fixture.serve(json("{}"));
  ASSERT_TRUE(fixture.answer);
  EXPECT_EQ(fixture.answer->body, "{}");
}

TEST(Dispatch, TheGuardComesFirstAndMayEndIt) {
  Fixture fixture;
  fixture.guard = [](const Route& route, Request& request) -> Task<std::optional<Response>> {
    EXPECT_EQ(route.pattern, "/x");
    EXPECT_EQ(request.body, "{}");
    Response response;
    response.status = 403;
    co_return response;
  };
  fixture.serve(json("{}", "text/plain"));
  ASSERT_TRUE(fixture.answer);
  EXPECT_EQ(fixture.answer->status, 403) << "before the check of the type";
  EXPECT_EQ(fixture.handled, 0);
}

TEST(Dispatch, OnlyJsonReachesAJsonRoute) {
  for (const char* type : {"text/plain", "", "application/jsonx", "multipart/form-data", "+json"}) {
    Fixture fixture;
    fixture.serve(json("{}", type));
    EXPECT_EQ(fixture.answer->status, 415) << type;
    EXPECT_EQ(fixture.handled, 0);
  }
  for (const char* type :
       {"application/json; charset=utf-8", "Application/JSON", "application/merge-patch+json"}) {
    Fixture fixture;
    fixture.serve(json("{}", type));
    EXPECT_EQ(fixture.answer->status, 200) << type;
  }
  Fixture empty;
  empty.serve(json("", "text/plain"));
  EXPECT_EQ(empty.answer->status, 200) << "nothing to mistake";
}

}  // namespace
}  // namespace samovar::api
