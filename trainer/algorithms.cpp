
#include "base/json.hpp"
#include "trainer/models/glm_parameters.hpp"
#include "trainer/spec.hpp"
#include "trainer/spec_device.hpp"
#include "trainer/spec_power.hpp"
#include "trainer/spec_together.hpp"

namespace samovar::trainer {

nlohmann::json algorithms() {
  using nlohmann::json;
  json glm = {
      {"id", "glm"},
      {"name", "Generalized linear model"},
      {"summary",
       "Linear and logistic regression and their kin: counts, amounts, classes. Quick to train, every "
       "effect can be read."},
      {"targets", {"boolean", "category", "integer", "real"}},
      {"parameters", glm_parameters_schema()},
      {"strategy", strategy_schema()},
      {"power", power_schema()},
      {"device", device_schema()}};
  return json::array({std::move(glm)});
}

}  // namespace samovar::trainer
