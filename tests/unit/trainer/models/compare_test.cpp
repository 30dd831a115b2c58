#include "trainer/models/compare.hpp"

#include <gtest/gtest.h>

namespace samovar::trainer {
namespace {

using Json = nlohmann::json;

TEST(Differences, NameThePathAndBothValues) {
  const Json a = {{"target", "yes"}, {"parameters", {{"l2", 0.1}, {"passes", 5}}}, {"inputs", {"x", "y"}}};
  Json b = a;
  EXPECT_EQ(differences(a, b), Json::array());
  b["parameters"]["l2"] = 0.2;
  b["parameters"].erase("passes");
  b["inputs"] = {"x"};
  b["a/b"] = 1;
  EXPECT_EQ(differences(a, b), Json::parse(R"([
    {"path":"/a~1b","a":null,"b":1},
    {"path":"/inputs","a":["x","y"],"b":["x"]},
    {"path":"/parameters/l2","a":0.1,"b":0.2},
    {"path":"/parameters/passes","a":5,"b":null}])"));
}

TEST(Differences, GoIntoListsOfObjects) {
  const Json a = Json::parse(R"([{"x":1},{"x":2}])"), b = Json::parse(R"([{"x":1},{"x":3}])");
  EXPECT_EQ(differences(a, b), Json::parse(R"([{"path":"/1/x","a":2,"b":3}])"));
}

TEST(Differences, AreBounded) {
  Json a = Json::object(), b = Json::object();
  for (int i = 0; i < 50; ++i) a[std::to_string(i)] = i, b[std::to_string(i)] = -i - 1;
  EXPECT_EQ(differences(a, b, 10).size(), 10u);
}

}  // namespace
}  // namespace samovar::trainer
