#include "trainer/models/model_file.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "base/encoding.hpp"
#include "tests/support/memory_table.hpp"
#include "tests/support/random_model.hpp"
#include "tests/unit/trainer/features/fitted.hpp"

namespace samovar::trainer {
namespace {

using tests::random_model;

Fitted fitted_for(const std::string& target) {
  tests::MemoryTable table = tests::random_table(900, 3);
  JobSpec spec = spec_for(target);
  spec.features.hash_bits = 12;
  return fit(table, spec);
}

Bytes file_of(const Fitted& fitted, const GlmModel& model) {
  auto bytes = encode_model(model, *fitted.pipeline, {{"rows", 900}});
  EXPECT_TRUE(bytes) << bytes.error().message();
  return *std::move(bytes);
}

void seal(Bytes& bytes) {
  const std::uint32_t sum = crc32(ByteView(bytes).first(bytes.size() - 4));
  std::memcpy(bytes.data() + bytes.size() - 4, &sum, sizeof sum);
}

void expect_round_trip(const Fitted& fitted, const GlmModel& model) {
  const Bytes bytes = file_of(fitted, model);
  const auto parts = decode_model(bytes);
  ASSERT_TRUE(parts) << parts.error().message();
  EXPECT_EQ(std::memcmp(parts->glm.weights.data(), model.weights.data(), model.weights.size() * 4), 0);
  EXPECT_EQ(parts->glm.intercepts, model.intercepts);
  EXPECT_EQ(parts->glm.contribution_means, model.contribution_means);
  EXPECT_EQ(parts->about["rows"], 900);
  EXPECT_GE(parts->vectors.rows.rows, 10u);
  // Written again it is the same file.
  const auto again = encode_model(parts->glm, *parts->pipeline, parts->about, parts->vectors);
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, bytes);
}

TEST(ModelFile, ComesBackAsItWas) {
  const Fitted binary = fitted_for("yes");
  expect_round_trip(binary, random_model(*binary.pipeline, Family::binomial, Link::logit, 1));
  const Fitted classes = fitted_for("class");
  expect_round_trip(classes, random_model(*classes.pipeline, Family::multinomial, Link::logit, 2));
  const Fitted count = fitted_for("count");
  GlmModel model = random_model(*count.pipeline, Family::poisson, Link::log, 3);
  model.inference.resize(1 + model.width);
  model.inference[2].standard_error = std::numeric_limits<double>::quiet_NaN();
  expect_round_trip(count, model);
}

TEST(ModelFile, MostlyZeroWeightsTakeLittleRoom) {
  const Fitted fitted = fitted_for("yes");
  const GlmModel full = random_model(*fitted.pipeline, Family::binomial, Link::logit, 1);
  const GlmModel few = random_model(*fitted.pipeline, Family::binomial, Link::logit, 1, 0.01);
  expect_round_trip(fitted, few);
  EXPECT_LT(file_of(fitted, few).size() + 2 * few.weights.size(), file_of(fitted, full).size());
  GlmModel signs = few;
  signs.weights[5] = -0.0f;
  expect_round_trip(fitted, signs);
}

TEST(ModelFile, EveryDamagedByteIsToldOf) {
  const Fitted fitted = fitted_for("number");
  const Bytes good =
      file_of(fitted, random_model(*fitted.pipeline, Family::gaussian, Link::identity, 1, 0.1));
  for (std::size_t at = 0; at < good.size(); at += 1 + at / 64) {
    Bytes bad = good;
    bad[at] ^= 0x10;
    const auto parts = decode_model(bad);
    ASSERT_FALSE(parts) << at;
    EXPECT_TRUE(parts.error().code() == Errc::corrupt || parts.error().code() == Errc::unsupported);
  }
  for (std::size_t size = 0; size < good.size(); size += 1 + size / 16)
    EXPECT_FALSE(decode_model(ByteView(good).first(size)));
}

TEST(ModelFile, ALaterVersionIsNotGuessedAt) {
  const Fitted fitted = fitted_for("yes");
  Bytes bytes = file_of(fitted, random_model(*fitted.pipeline, Family::binomial, Link::logit, 1));
  bytes[4] = 2;
  seal(bytes);
  const auto parts = decode_model(bytes);
  ASSERT_FALSE(parts);
  EXPECT_EQ(parts.error().code(), Errc::unsupported);
}

TEST(ModelFile, FewBytesCannotClaimManyWeights) {
  const Fitted fitted = fitted_for("yes");
  Bytes bytes = file_of(fitted, random_model(*fitted.pipeline, Family::binomial, Link::logit, 1, 0.01));
  const std::uint64_t many = std::uint64_t{1} << 29;
  std::memcpy(bytes.data() + 16, &many, sizeof many);
  seal(bytes);
  const auto parts = decode_model(bytes);
  ASSERT_FALSE(parts);
  EXPECT_EQ(parts.error().code(), Errc::corrupt);
}

TEST(ModelFile, ARunawayModelIsRefused) {
  const Fitted fitted = fitted_for("yes");
  GlmModel model = random_model(*fitted.pipeline, Family::binomial, Link::logit, 1);
  model.weights[3] = std::numeric_limits<float>::infinity();
  const auto bytes = encode_model(model, *fitted.pipeline);
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code(), Errc::invalid);
}

}  // namespace
}  // namespace samovar::trainer
