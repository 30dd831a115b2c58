#include "daemon/ingest/sample_data.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>

#include "daemon/ingest/sample_table.hpp"
#include "tests/unit/daemon/ingest/input_support.hpp"

namespace samovar::ingest {
namespace {

using trainer::ColumnType;

std::string made(std::uint64_t rows, std::uint64_t seed, std::size_t piece = 4096) {
  const auto source = make_sample_data(rows, seed);
  return read_all(*source, piece);
}

TEST(SampleData, SameSeedSameBytesHoweverRead) {
  EXPECT_TRUE(made(2000, 5, 1 << 20) == made(2000, 5, 77));
  EXPECT_FALSE(made(200, 5) == made(200, 6));
}

TEST(SampleData, IsUnderstoodByDetection) {
  const auto found = detect_text(made(5000, kSampleDataSeed));
  ASSERT_TRUE(found.has_value()) << found.error().message();
  EXPECT_EQ(found->sample_rows, 5000u);
  EXPECT_TRUE(found->options.header);
  std::map<std::string, ColumnFinding> by_name;
  for (const auto& column : found->columns) by_name[column.spec.name] = column;
  EXPECT_EQ(found->columns.size(), 27u);
  EXPECT_EQ(by_name["age"].spec.type, ColumnType::integer);
  EXPECT_EQ(by_name["sex"].spec.type, ColumnType::category);
  EXPECT_EQ(by_name["admission_date"].spec.type, ColumnType::time);
  EXPECT_EQ(by_name["diagnosis_group"].spec.type, ColumnType::category);
  EXPECT_EQ(by_name["lives_alone"].spec.type, ColumnType::boolean);
  EXPECT_EQ(by_name["creatinine"].spec.type, ColumnType::real);
  EXPECT_EQ(by_name["readmitted_30d"].spec.type, ColumnType::boolean);
  EXPECT_GT(by_name["hba1c"].missing, 2000u);
  EXPECT_TRUE(by_name["admission_id"].identifier);
  for (const auto* name : {"mrn", "birth_date"}) EXPECT_TRUE(by_name[name].spec.sensitive) << name;
  for (const auto* name : {"age", "sex", "insurer", "ward"})
    EXPECT_FALSE(by_name[name].spec.sensitive) << name;
}

// The planted effects are there: groups that should differ do, and those that should not do not.
TEST(SampleData, EffectsCanBeFound) {
  const std::string text = made(kSampleDataRows, kSampleDataSeed);
  const auto split = split_csv(text, {}, kSampleDataRows + 1, true);
  ASSERT_EQ(split.rows.size(), kSampleDataRows + 1);
  std::map<std::string_view, std::size_t> at;
  for (std::size_t i = 0; i < split.rows[0].cells.size(); ++i) at[split.rows[0].cells[i]] = i;
  const auto rate = [&](auto&& chosen) {
    double all = 0;
    double back = 0;
    for (std::size_t i = 1; i < split.rows.size(); ++i) {
      const auto cell = [&](std::string_view name) { return split.rows[i].cells[at[name]]; };
      if (!chosen(cell)) continue;
      all += 1;
      back += cell("readmitted_30d") == "1" ? 1 : 0;
    }
    return back / all;
  };
  const double whole = rate([](auto&&) { return true; });
  EXPECT_NEAR(whole, 0.16, 0.03);
  EXPECT_GT(rate([](auto&& cell) { return cell("diagnosis_group") == "heart failure"; }), whole + 0.08);
  EXPECT_LT(rate([](auto&& cell) { return cell("diagnosis_group") == "hip or knee replacement"; }),
            whole - 0.05);
  EXPECT_GT(rate([](auto&& cell) { return cell("prior_admissions_12m") == "3"; }), whole + 0.10);
  EXPECT_LT(rate([](auto&& cell) { return cell("follow_up_booked") == "yes"; }),
            rate([](auto&& cell) { return cell("follow_up_booked") == "no"; }) - 0.03);
  EXPECT_NEAR(rate([](auto&& cell) { return cell("sex") == "male"; }),
              rate([](auto&& cell) { return cell("sex") == "female"; }), 0.02);
  EXPECT_NEAR(rate([](auto&& cell) { return cell("insurer") == "private"; }), whole, 0.02);
}

}  // namespace
}  // namespace samovar::ingest
