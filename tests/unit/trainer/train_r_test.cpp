// Coefficients and standard errors against R 4.2.2's glm (and MASS's glm.nb), with glm.control(epsilon =
// 1e-14). The data come from a generator that R computes the same way: bench/glm_r.R prints the figures anew.
#include <cmath>

#include "tests/unit/trainer/training.hpp"

namespace samovar::trainer {
namespace {

constexpr int kRows = 200;

tests::MemoryTable table_of_r() {
  tests::MemoryTable table({{{"x1", ColumnType::real},
                             {"x2", ColumnType::integer},
                             {"g", ColumnType::category},
                             {"e", ColumnType::integer},
                             {"y_bin", ColumnType::boolean},
                             {"y_cnt", ColumnType::integer},
                             {"y_nb", ColumnType::integer},
                             {"y_amt", ColumnType::real}}});
  std::int64_t state = 42;
  const auto draw = [&] {
    state = state * 16807 % 2147483647;
    return state / 1024;
  };
  for (int row = 0; row < kRows; ++row) {
    const double x1 = static_cast<double>(draw() % 64) / 8;
    const std::int64_t x2 = draw() % 200 - 100;
    const std::int64_t g = draw() % 3;
    const double u = static_cast<double>(draw() % 1000) / 1000;
    const std::int64_t e = 1 + draw() % 4;
    const double v = static_cast<double>(draw() % 1000) / 1000;
    const double other = static_cast<double>(x2);
    const double eta = -1.5 + 0.5 * x1 - 0.01 * other + 0.6 * (g == 1) - 0.8 * (g == 2);
    const double rate = static_cast<double>(e) * std::exp(-1 + 0.2 * x1 + 0.4 * (g == 1));
    table.add({x1, x2, std::to_string(g), e, u < 1 / (1 + std::exp(-eta)),
               static_cast<std::int64_t>(std::floor(rate * (0.25 + 1.5 * u) + v)),
               static_cast<std::int64_t>(std::floor(rate * (0.1 + 6 * u * u * u) * 1.2 + v)),
               std::floor(16 * std::exp(1 + 0.1 * x1 - 0.004 * other) * (0.3 + 1.4 * u) * (0.5 + v)) / 16 +
                   0.0625});
  }
  return table;
}

struct Line {
  double estimate, se, p;
};
struct Case {
  const char* name;
  const char* target;
  const char* family;
  const char* link;
  bool exposure;
  Line lines[5];  // intercept, x1, x2, g = 1, g = 2; g = 0 is the most frequent one and left out
  double dispersion;
};

constexpr Case kCases[] = {
    {"binomial",
     "y_bin",
     "binomial",
     "auto",
     false,
     {{-2.236788535, 0.4454276544, 5.122542768e-07},
      {0.5797783421, 0.08745014861, 3.361069341e-11},
      {-0.007928230837, 0.003224975386, 0.01395635003},
      {1.159277441, 0.4439726802, 0.009023938749},
      {-0.1128600658, 0.4112203802, 0.7837376412}},
     1},
    {"probit",
     "y_bin",
     "binomial",
     "probit",
     false,
     {{-1.357310817, 0.253668053, 8.759716954e-08},
      {0.3496257402, 0.04859563303, 6.264793112e-13},
      {-0.004603275209, 0.00186802277, 0.01373002879},
      {0.6773242422, 0.2551926952, 0.007950427271},
      {-0.04637124173, 0.2415492164, 0.8477623366}},
     1},
    {"cloglog",
     "y_bin",
     "binomial",
     "cloglog",
     false,
     {{-1.941539363, 0.3184069929, 1.076286082e-09},
      {0.3912934779, 0.05537822708, 1.596517282e-12},
      {-0.004660583623, 0.001997855522, 0.01965900579},
      {0.5900536868, 0.260057375, 0.02327218385},
      {-0.08867437459, 0.269306397, 0.7419520182}},
     1},
    {"poisson",
     "y_cnt",
     "poisson",
     "auto",
     true,
     {{-0.8641651388, 0.1257717407, 6.379780186e-12},
      {0.1658177339, 0.02088064504, 2.002070158e-15},
      {-8.219562255e-05, 0.0008085764402, 0.9190307334},
      {0.460943039, 0.1036886165, 8.770619527e-06},
      {-0.1213918053, 0.1213767351, 0.3172504251}},
     1},
    {"gamma",
     "y_amt",
     "gamma",
     "log",
     false,
     {{1.110881766, 0.08250239028, 1.191668169e-29},
      {0.07903274423, 0.01499934415, 3.613100563e-07},
      {-0.004376571295, 0.0006256201203, 4.124954352e-11},
      {-0.05640966975, 0.08438432027, 0.5046144565},
      {-0.1248259478, 0.08294043052, 0.1339402432}},
     0.2351788266},
    {"gamma_inverse",
     "y_amt",
     "gamma",
     "inverse",
     false,
     {{0.3332405956, 0.02311298613, 1.486628078e-32},
      {-0.01876252352, 0.003922369109, 3.392385619e-06},
      {0.001056002613, 0.0001546633971, 1.066885302e-10},
      {1.939501503e-05, 0.02020054869, 0.9992349142},
      {0.02042401199, 0.02111691765, 0.334648487}},
     0.23958678},
    {"gaussian",
     "y_amt",
     "gaussian",
     "auto",
     false,
     {{3.068800716, 0.3349853318, 7.172937961e-17},
      {0.2821992789, 0.0609019964, 6.560617979e-06},
      {-0.01687427474, 0.002540212021, 2.992617908e-10},
      {0.004346804646, 0.3426265521, 0.9898907096},
      {-0.3220600623, 0.3367639113, 0.3400856999}},
     3.877186914},
    {"negative_binomial",
     "y_nb",
     "negative_binomial",
     "auto",
     true,
     {{0.07902762431, 0.2025834405, 0.6964632446},
      {0.144173711, 0.03678071512, 8.86158457e-05},
      {-0.0006555818112, 0.001514003101, 0.6650059079},
      {0.1436076634, 0.2005206052, 0.4738838551},
      {-0.498483499, 0.2049287116, 0.01499612144}},
     1},
};

class AgainstR : public testing::TestWithParam<Case> {};

TEST_P(AgainstR, CoefficientsAndErrorsAgreeToSixDigits) {
  const Case& known = GetParam();
  tests::MemoryTable table = table_of_r();
  JobSpec spec =
      job(known.target, {{"family", known.family}, {"link", known.link}, {"solver", "irls"}, {"l2", 0}});
  spec.inputs = {"x1", "x2", "g"};
  spec.split.valid = 0;
  spec.split.test = 0;
  if (known.exposure) spec.exposure = "e";
  const nlohmann::json evaluation = evaluation_of(table, spec);
  ASSERT_TRUE(evaluation.contains("coefficients"));
  std::map<std::string, nlohmann::json> lines;
  lines["intercept"] = evaluation["intercept_inference"];
  for (const auto& line : evaluation["coefficients"])
    lines[line["input"].get<std::string>() +
          (line["level"].is_null() ? "" : line["level"].get<std::string>())] = line;
  // Six digits; MASS itself stops theta's estimate a little early.
  const double tolerance = std::string(known.name) == "negative_binomial" ? 2e-5 : 1e-6;
  const char* names[] = {"intercept", "x1", "x2", "g1", "g2"};
  for (int i = 0; i < 5; ++i) {
    const Line& r = known.lines[i];
    const nlohmann::json& ours = lines[names[i]];
    ASSERT_FALSE(ours.is_null()) << names[i];
    // A coefficient close to 0 is as exact as its error is large.
    EXPECT_NEAR(ours["estimate"].get<double>(), r.estimate, tolerance * std::max(std::abs(r.estimate), r.se))
        << names[i];
    EXPECT_NEAR(ours["se"].get<double>(), r.se, tolerance * r.se) << names[i];
    EXPECT_NEAR(ours["p"].get<double>(), r.p, 1e-4 * r.p + 1e-12) << names[i];
  }
  EXPECT_NEAR(evaluation["model"]["dispersion"].get<double>(), known.dispersion, 1e-6 * known.dispersion);
  EXPECT_TRUE(lines["g0"]["se"].is_null());
  EXPECT_EQ(lines["g0"]["estimate"], 0.0);
}

INSTANTIATE_TEST_SUITE_P(Glm, AgainstR, testing::ValuesIn(kCases),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace samovar::trainer
