// Where the handlers ask about power. A node that has one is one.
//
// Threading: loop only.
#pragma once
#include <string>

#include "base/task.hpp"
#include "daemon/power/power_message.hpp"

namespace samovar::api {

class PowerDesk {
 public:
  virtual ~PowerDesk() = default;
  // The budget, and how all nodes stand with it.
  virtual Task<power::ClusterPower> look_at_power() = 0;
  // Why this node's clocks are not capped, or what else could be; for people, may be empty.
  virtual std::string power_advice() const = 0;
};

}  // namespace samovar::api
