// What a spec says about where its steps are computed: "device": "auto", "cpu" or "gpu".
//
// Threading: pure.
#pragma once
#include <cstdint>

#include "trainer/spec_members.hpp"

namespace samovar::trainer {

void parse_device(SpecMembers& members, JobSpec& spec);
// JSON Schema (2020-12) with title, description and default.
nlohmann::json device_schema();

// Of a node that has a GPU of this generation (kernels::Table): whether its worker is to open it for this
// job. What speaks for the CPU is in `why`, a part of a sentence; it is empty where nobody would ask.
struct DevicePlan {
  bool gpu = false;
  std::string why;
};
DevicePlan plan_device(const JobSpec& spec, std::uint64_t rows, std::uint32_t generation);

}  // namespace samovar::trainer
