// A fitted generalized linear model: what training ends with and prediction begins with.
//
// Threading: values.
// Format:    docs/formats/model.md
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

namespace samovar::trainer {

enum class Family : std::uint8_t {
  gaussian,
  binomial,
  multinomial,
  poisson,
  gamma,
  negative_binomial,
  tweedie,
};
std::string_view to_string(Family family) noexcept;
std::optional<Family> parse_family(std::string_view text) noexcept;

enum class Link : std::uint8_t {
  identity,
  logit,  // of binomial; multinomial: softmax over the outputs
  log,
  inverse,
  probit,
  cloglog,
};
std::string_view to_string(Link link) noexcept;
std::optional<Link> parse_link(std::string_view text) noexcept;

struct GlmModel {
  Family family = Family::gaussian;
  Link link = Link::identity;
  std::uint32_t outputs = 1;       // linear predictors: the number of classes for multinomial, else 1
  std::vector<double> intercepts;  // one for each output
  std::vector<float> weights;      // pipeline.weights() × outputs: those of one place side by side
  double threshold = 0.5;          // binomial: from this probability on the label is the second class
  std::optional<double> theta;     // negative binomial
  std::optional<double> power;     // Tweedie
  std::optional<double> dispersion;
  // What each origin (trainer/models/contributions.hpp) adds to each linear predictor on average over the
  // training rows: origins × outputs. Empty: taken as 0, right for standardised numbers only.
  std::vector<double> origin_means;
  nlohmann::json inference;  // null, or [{"input","level","estimate","se","z","p","low","high"}…]
};

}  // namespace samovar::trainer
