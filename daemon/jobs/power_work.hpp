// What the trainings on a node are, as far as power goes.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "daemon/power/power_message.hpp"

namespace samovar::jobs {

struct PowerWork {
  std::string kind;                 // of model; what curves are kept under. "other": files read, rows scored
  std::optional<double> job_watts;  // the least that one of them wants of all nodes together
  std::string job_id;               // that one
  std::vector<power::JobWish> jobs = {};  // all that train here or are looked after here
  std::size_t workers = 0;                // of trainings, on this node
};

}  // namespace samovar::jobs
