#include "daemon/ingest/infer.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "daemon/ingest/sensitive.hpp"

namespace samovar::ingest {
namespace {

using testing::HasSubstr;
using trainer::ColumnType;

ColumnFinding infer(std::string_view name, const std::vector<std::string>& values, bool whole = true) {
  ColumnSample column{name, {}, 0};
  for (const auto& value : values) column.values.push_back(value);
  InferRules rules;
  rules.whole = whole;
  return infer_column(column, rules);
}

template <class Make>
std::vector<std::string> many(std::size_t count, Make make) {
  std::vector<std::string> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(make(i));
  return values;
}

TEST(Infer, TellsTypesWithEvidence) {
  EXPECT_EQ(infer("x", {"1", "2", "-3"}).spec.type, ColumnType::integer);
  EXPECT_EQ(infer("x", {"1", "2", "-3"}).evidence, "all 3 values are whole numbers from -3 to 2");
  EXPECT_EQ(infer("x", {"1", "2.5"}).spec.type, ColumnType::real);
  EXPECT_EQ(infer("x", {"1", "2.5"}).evidence, "all 2 values are numbers from 1 to 2.5");
  EXPECT_EQ(infer("x", {"yes", "No", "yes"}).spec.type, ColumnType::boolean);
  EXPECT_EQ(infer("x", {"0", "1", "1"}).spec.type, ColumnType::boolean);
  EXPECT_EQ(infer("x", {"true"}).spec.type, ColumnType::boolean);
  EXPECT_EQ(infer("x", {"0", "0"}).spec.type, ColumnType::integer);
  EXPECT_EQ(infer("x", {"2024-01-01", "2024-05-01 12:00"}).spec.type, ColumnType::time);
  EXPECT_EQ(infer("x", {"red", "green", "red"}).spec.type, ColumnType::category);
  EXPECT_EQ(infer("x", {"a whole sentence with many words", "and another one that is different"}).spec.type,
            ColumnType::text);
  EXPECT_EQ(infer("x", {}).spec.type, ColumnType::text);
}

TEST(Infer, NumbersThatAreNamesStayAsWritten) {
  EXPECT_EQ(infer("zip", {"8001", "00501", "3012"}).spec.type, ColumnType::category);
  EXPECT_THAT(infer("zip", {"007", "8001"}).evidence, HasSubstr("begin with 0"));
  EXPECT_EQ(infer("x", {"12345678901234567890", "22345678901234567891"}).spec.type, ColumnType::category);
  EXPECT_EQ(infer("x", {"1e30", "2.5"}).spec.type, ColumnType::real);
  // Digits may be a time to a person, never to us.
  EXPECT_EQ(infer("x", {"1709209815", "1709209816"}).spec.type, ColumnType::integer);
  EXPECT_EQ(infer("x", {"20240101", "20240102"}).spec.type, ColumnType::integer);
}

TEST(Infer, OneInAHundredMayBeWrongAndIsNamed) {
  auto values = many(1000, [](std::size_t i) { return std::to_string(i % 90); });
  values[500] = "oops";
  const auto found = infer("x", values);
  EXPECT_EQ(found.spec.type, ColumnType::integer);
  EXPECT_THAT(
      found.evidence,
      HasSubstr(
          "999 of 1,000 values are whole numbers from 0 to 89; the others, like \"oops\", will be bad rows"));
  for (std::size_t i = 0; i < 20; ++i) values[i] = "oops";
  EXPECT_NE(infer("x", values).spec.type, ColumnType::integer);
  // A number with a fraction among whole ones is no fault: the column is real.
  auto numbers = many(1000, [](std::size_t i) { return std::to_string(i % 90); });
  numbers[3] = "1.5";
  EXPECT_EQ(infer("x", numbers).spec.type, ColumnType::real);
}

TEST(Infer, ZeroAndOneInPartOfAFileMustBothBeCommon) {
  const auto even = many(1000, [](std::size_t i) { return std::to_string(i % 2); });
  EXPECT_EQ(infer("x", even, false).spec.type, ColumnType::boolean);
  const auto rare = many(1000, [](std::size_t i) { return std::string(i == 7 ? "1" : "0"); });
  EXPECT_EQ(infer("x", rare, false).spec.type, ColumnType::integer);
  EXPECT_EQ(infer("x", rare, true).spec.type, ColumnType::boolean);
}

TEST(Infer, FlagsConstantAndIdentifierColumns) {
  EXPECT_TRUE(infer("x", {"a", "a"}).constant);
  EXPECT_FALSE(infer("x", {"a", "b"}).constant);
  EXPECT_TRUE(infer("anything", many(100, [](std::size_t i) { return std::to_string(i + 5); })).identifier);
  EXPECT_TRUE(
      infer("customer_id", many(100, [](std::size_t i) { return std::to_string(i * 7919 % 100'003); }))
          .identifier);
  EXPECT_FALSE(infer("salary", many(100, [](std::size_t i) { return std::to_string(i * 7919 % 100'003); }))
                   .identifier);
  EXPECT_TRUE(infer("x", many(100, [](std::size_t i) { return "N" + std::to_string(i); })).identifier);
  EXPECT_FALSE(
      infer("x", many(100, [](std::size_t i) { return std::to_string(static_cast<double>(i) * 0.37); }))
          .identifier);
}

TEST(Infer, HashesAreCategoriesAndTitlesAreText) {
  EXPECT_EQ(
      infer("c", many(500, [](std::size_t i) { return fmt::format("{:08x}", i * 2654435761u % 0xffffffff); }))
          .spec.type,
      ColumnType::category);
  EXPECT_EQ(infer("t", many(500, [](std::size_t i) { return fmt::format("The Film Number {} (1995)", i); }))
                .spec.type,
            ColumnType::text);
  EXPECT_EQ(infer("t", many(500,
                            [](std::size_t i) {
                              return fmt::format("a rather long level of a survey question, number {}",
                                                 i % 7);
                            }))
                .spec.type,
            ColumnType::category);
}

TEST(Sensitive, PatternsAreChecked) {
  EXPECT_TRUE(is_email("jane.doe@example.org"));
  for (const auto* value : {"jane", "@x.org", "a@b", "a b@c.de", "a@b@c.de"})
    EXPECT_FALSE(is_email(value)) << value;
  EXPECT_TRUE(is_phone("+41 44 668 18 00"));
  EXPECT_TRUE(is_phone("(212) 555-0142"));
  EXPECT_TRUE(is_phone("+41446681800"));
  for (const auto* value : {"2024-01-01", "12.5", "123456789", "1-2"}) EXPECT_FALSE(is_phone(value)) << value;
  EXPECT_TRUE(is_iban("CH93 0076 2011 6238 5295 7"));
  EXPECT_TRUE(is_iban("DE89370400440532013000"));
  EXPECT_FALSE(is_iban("DE89370400440532013001"));
  EXPECT_TRUE(is_card_number("4111 1111 1111 1111"));
  EXPECT_FALSE(is_card_number("4111 1111 1111 1112"));
  EXPECT_TRUE(is_national_id("078-05-1120"));
  EXPECT_TRUE(is_national_id("756.9217.0769.85"));
  EXPECT_FALSE(is_national_id("756.9217.0769.84"));
  EXPECT_TRUE(is_national_id("AB 12 34 56 C"));
  EXPECT_FALSE(is_national_id("2024-01-01"));
  EXPECT_TRUE(is_ip_address("192.168.0.1"));
  EXPECT_FALSE(is_ip_address("1.2.3"));
  EXPECT_FALSE(is_ip_address("300.1.1.1"));
}

TEST(Sensitive, ColumnsByValueAndByName) {
  const auto mails =
      infer("contact", many(50, [](std::size_t i) { return fmt::format("p{}@example.org", i); }));
  EXPECT_TRUE(mails.spec.sensitive);
  EXPECT_EQ(mails.sensitive_reason, "looks like e-mail addresses");
  for (const auto& example : mails.examples)
    EXPECT_EQ(example.find_first_of("p0123456789"), std::string::npos) << example;
  const auto dates = many(50, [](std::size_t i) { return fmt::format("19{}-01-{:02}", 40 + i, i % 28 + 1); });
  for (const auto* name : {"birth_date", "DateOfBirth", "dob", "Patient DOB"})
    EXPECT_TRUE(infer(name, dates).spec.sensitive) << name;
  const auto words = many(50, [](std::size_t i) { return fmt::format("Word{}", i); });
  for (const auto* name :
       {"patient_name", "LastName", "surname", "SSN", "mrn", "street", "home address", "patientId"})
    EXPECT_TRUE(infer(name, words).spec.sensitive) << name;
  for (const auto* name :
       {"birth_weight", "phone_calls", "country", "feature", "rename", "nine", "username_length", "insurer"})
    EXPECT_FALSE(infer(name, words).spec.sensitive) << name;
  // "Telephone" that only says whether there is one.
  EXPECT_FALSE(
      infer("Telephone", many(50, [](std::size_t i) { return std::to_string(i % 2); })).spec.sensitive);
}

TEST(Sensitive, NumbersOfMeasurementsAreNot) {
  EXPECT_FALSE(
      infer("x",
            many(200, [](std::size_t i) { return fmt::format("{:.4f}", static_cast<double>(i) * 1.37); }))
          .spec.sensitive);
  EXPECT_FALSE(
      infer("x", many(200, [](std::size_t i) { return std::to_string(4'000'000'000'000'000 + i * 7919); }))
          .spec.sensitive);
  EXPECT_FALSE(infer("x", many(200, [](std::size_t i) { return fmt::format("2024-01-{:02}", i % 28 + 1); }))
                   .spec.sensitive);
}

TEST(Sensitive, MaskKeepsOnlyTheShape) {
  EXPECT_EQ(mask("a1-Zü"), "••-••");
  EXPECT_EQ(mask(std::string(100, 'x')), "••••••••••••••••…");
}

}  // namespace
}  // namespace samovar::ingest
