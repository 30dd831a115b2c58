#include "daemon/jobs/job_advice.hpp"
#include "base/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace samovar::jobs {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

json profile_of(std::uint64_t distinct, bool exact) {
  return {{"rows", 20000u},
          {"columns", json::array({{{"name", "patient_id"},
                                    {"type", "integer"},
                                    {"missing", 0u},
                                    {"distinct", distinct},
                                    {"distinct_exact", exact}}})}};
}

std::vector<std::string> advice_for(std::uint64_t distinct, bool exact) {
  trainer::JobSpec spec;
  spec.target = "outcome";
  return advise_job(spec, profile_of(distinct, exact));
}

TEST(JobAdvice, OwnersWithSeveralRowsAreToBeSplitBy) {
  EXPECT_THAT(advice_for(4000, true), Contains(HasSubstr("split by it")));
  EXPECT_THAT(advice_for(19'999, true), Contains(HasSubstr("split by it")));
  EXPECT_THAT(advice_for(4000, false), Contains(HasSubstr("split by it")));
}

TEST(JobAdvice, AnEstimateNearTheRowsNamesRows) {
  for (const auto& [distinct, exact] : {std::pair{20'000u, true}, {19'971u, false}, {20'210u, false}}) {
    const auto advice = advice_for(distinct, exact);
    EXPECT_THAT(advice, Contains(HasSubstr("names rows"))) << distinct;
    EXPECT_THAT(advice, testing::Not(Contains(HasSubstr("split by it")))) << distinct;
  }
}

TEST(JobAdvice, NothingIsSaidOfWhatAnEstimateLeavesOpen) {
  EXPECT_THAT(advice_for(18'500, false), IsEmpty());
}

}  // namespace
}  // namespace samovar::jobs
