// A box with an analyst, their data set, and a model trained from it.
#pragma once
#include <string>

#include "tests/unit/daemon/api/box.hpp"
#include "tests/unit/daemon/api/dataset_support.hpp"

namespace samovar::api::test {

class ModelBox : public ::testing::Test {
 protected:
  ModelBox()
      : boris(box.add_user("boris", cluster::Role::analyst)),
        as(box.log_in(boris)),
        dataset(add_dataset(box, "Ward", boris).id) {}

  nlohmann::json spec(const std::string& name = "readmission") const {
    return {{"kind", "glm"}, {"name", name}, {"dataset", dataset}, {"target", "age"}};
  }
  std::string start(const std::string& name = "readmission") {
    const Reply reply = box.post("/api/v1/jobs", spec(name), as);
    EXPECT_EQ(reply.status, 201) << reply.response.body;
    return reply.body.value("id", "");
  }
  std::string train(const std::string& name = "readmission") {
    const std::string id = start(name);
    const auto made = box.run(box.models.finish(id));
    EXPECT_TRUE(made) << made.error().message();
    return id;
  }
  void grant(const cluster::User& user, const std::string& name = "readmission") {
    const Reply reply =
        box.send(Method::put, "/api/v1/models/" + name + "/grants/" + user.id, nullptr, box.log_in(boris));
    EXPECT_EQ(reply.status, 200) << reply.response.body;
  }

  Box box;
  cluster::User boris;
  As as;
  std::string dataset;
};

}  // namespace samovar::api::test
