// A data set of our own making, for the first minute and for tests: admissions to a hospital, and who came
// back within 30 days. Nobody in it exists. The planted effects are listed in
// docs/explanation/sample-data.md.
//
// The same seed gives the same bytes.
//
// Threading: one thread at a time.
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>

#include "daemon/ingest/source.hpp"

namespace samovar::ingest {

inline constexpr std::string_view kSampleDataName = "Hospital readmissions (sample)";
inline constexpr std::string_view kSampleDataFile = "hospital-readmissions.csv";
inline constexpr std::uint64_t kSampleDataRows = 20'000;
inline constexpr std::uint64_t kSampleDataSeed = 20'260'101;

// CSV in UTF-8 with a header, made piece by piece as it is read.
std::unique_ptr<Source> make_sample_data(std::uint64_t rows = kSampleDataRows,
                                         std::uint64_t seed = kSampleDataSeed);

}  // namespace samovar::ingest
