#include "trainer/models/glm.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "base/assert.hpp"

namespace samovar::trainer {

namespace {

constexpr std::array<std::string_view, 7> kFamilies = {
    "gaussian", "binomial", "multinomial", "poisson", "gamma", "negative_binomial", "tweedie"};
constexpr std::array<std::string_view, 6> kLinks = {"identity", "logit",  "log",
                                                    "inverse",  "probit", "cloglog"};

// Beyond these the expected value is 0, 1 or without end in a float; scores stay within them.
constexpr double kEtaMost = 80;
constexpr double kProbabilityLeast = 1e-15;

double clamp_probability(double p) { return std::clamp(p, kProbabilityLeast, 1 - kProbabilityLeast); }

}  // namespace

std::string_view to_string(Family family) noexcept { return kFamilies[static_cast<std::size_t>(family)]; }
std::string_view to_string(Link link) noexcept { return kLinks[static_cast<std::size_t>(link)]; }

std::optional<Family> parse_family(std::string_view text) noexcept {
  const auto* found = std::find(kFamilies.begin(), kFamilies.end(), text);
  if (found == kFamilies.end()) return std::nullopt;
  return static_cast<Family>(found - kFamilies.begin());
}
std::optional<Link> parse_link(std::string_view text) noexcept {
  const auto* found = std::find(kLinks.begin(), kLinks.end(), text);
  if (found == kLinks.end()) return std::nullopt;
  return static_cast<Link>(found - kLinks.begin());
}

Link usual_link(Family family) noexcept {
  switch (family) {
    case Family::gaussian:
      return Link::identity;
    case Family::binomial:
    case Family::multinomial:
      return Link::logit;
    case Family::poisson:
    case Family::gamma:
    case Family::negative_binomial:
    case Family::tweedie:
      return Link::log;
  }
  return Link::identity;
}

bool link_fits(Family family, Link link) noexcept {
  switch (family) {
    case Family::gaussian:
      return link == Link::identity || link == Link::log;
    case Family::binomial:
      return link == Link::logit || link == Link::probit || link == Link::cloglog;
    case Family::multinomial:
      return link == Link::logit;
    case Family::poisson:
    case Family::negative_binomial:
    case Family::tweedie:
      return link == Link::log;
    case Family::gamma:
      return link == Link::log || link == Link::inverse;
  }
  return false;
}

double inverse_link(Link link, double eta) noexcept {
  switch (link) {
    case Link::identity:
      return eta;
    case Link::logit:
      return clamp_probability(1 / (1 + std::exp(-std::clamp(eta, -kEtaMost, kEtaMost))));
    case Link::log:
      return std::exp(std::clamp(eta, -kEtaMost, kEtaMost));
    case Link::inverse:
      // A gamma mean is above 0: a predictor that says otherwise is held at the edge.
      return 1 / std::max(eta, 1e-12);
    case Link::probit:
      return clamp_probability(0.5 * std::erfc(-eta * M_SQRT1_2));
    case Link::cloglog:
      return clamp_probability(-std::expm1(-std::exp(std::clamp(eta, -kEtaMost, 5.0))));
  }
  return eta;
}

double link_value(Link link, double mu) noexcept {
  switch (link) {
    case Link::identity:
      return mu;
    case Link::logit:
      return std::log(clamp_probability(mu) / (1 - clamp_probability(mu)));
    case Link::log:
      return std::log(std::max(mu, std::numeric_limits<double>::min()));
    case Link::inverse:
      return 1 / std::max(mu, 1e-12);
    case Link::probit: {
      // Newton on the normal distribution function, from its logistic likeness; quadratic, so ten are many.
      const double p = clamp_probability(mu);
      double x = std::log(p / (1 - p)) / 1.702;
      for (int i = 0; i < 10; ++i) {
        const double slope = std::exp(-0.5 * x * x) / std::sqrt(2 * M_PI);
        if (slope < 1e-300) break;
        x -= std::clamp((0.5 * std::erfc(-x * M_SQRT1_2) - p) / slope, -1.0, 1.0);
      }
      return x;
    }
    case Link::cloglog:
      return std::log(-std::log1p(-clamp_probability(mu)));
  }
  return mu;
}

double inverse_link_slope(Link link, double eta) noexcept {
  switch (link) {
    case Link::identity:
      return 1;
    case Link::logit: {
      const double mu = inverse_link(link, eta);
      return mu * (1 - mu);
    }
    case Link::log:
      return std::exp(std::clamp(eta, -kEtaMost, kEtaMost));
    case Link::inverse: {
      const double mu = inverse_link(link, eta);
      return -mu * mu;
    }
    case Link::probit:
      return std::max(std::exp(-0.5 * eta * eta) / std::sqrt(2 * M_PI), 1e-15);
    case Link::cloglog: {
      const double held = std::clamp(eta, -kEtaMost, 5.0);
      return std::max(std::exp(held - std::exp(held)), 1e-15);
    }
  }
  return 1;
}

void linear_predictors(const GlmModel& model, const EncodedBatch& batch, std::vector<float>& out) {
  const std::size_t outputs = model.outputs();
  SAMOVAR_ASSERT(model.weights.size() == outputs * model.width && model.intercepts.size() == outputs);
  out.resize(batch.rows * outputs);
  for (std::uint32_t row = 0; row < batch.rows; ++row) {
    const float* dense = batch.dense.data() + row * batch.dense_width;
    const std::uint32_t* slots = batch.slots.data() + row * batch.slot_width;
    for (std::size_t output = 0; output < outputs; ++output) {
      const float* weights = model.weights.data() + output * model.width;
      float sum = 0;
      for (std::size_t i = 0; i < batch.dense_width; ++i) sum += weights[i] * dense[i];
      for (std::size_t i = 0; i < batch.slot_width; ++i) {
        if (slots[i] != kNoSlot) sum += weights[slots[i]];
      }
      if (!batch.ragged_ends.empty()) {
        const std::uint32_t begin = row == 0 ? 0 : batch.ragged_ends[row - 1];
        for (std::uint32_t i = begin; i < batch.ragged_ends[row]; ++i)
          sum += weights[batch.ragged_slots[i]] * batch.ragged_values[i];
      }
      out[row * outputs + output] = static_cast<float>(model.intercepts[output] + sum);
    }
  }
}

void expected_values(const GlmModel& model, const EncodedBatch& batch, std::vector<float>& predictors) {
  const std::size_t outputs = model.outputs();
  SAMOVAR_ASSERT(predictors.size() == batch.rows * outputs);
  for (std::uint32_t row = 0; row < batch.rows; ++row) {
    float* values = predictors.data() + row * outputs;
    if (outputs == 1) {
      const double offset = batch.offset.empty() ? 0 : batch.offset[row];
      values[0] = static_cast<float>(inverse_link(model.link, values[0] + offset));
      continue;
    }
    const float most = *std::max_element(values, values + outputs);
    float sum = 0;
    for (std::size_t i = 0; i < outputs; ++i) sum += values[i] = std::exp(values[i] - most);
    for (std::size_t i = 0; i < outputs; ++i) values[i] /= sum;
  }
}

}  // namespace samovar::trainer
