#include "tests/kernels/naive.hpp"

namespace samovar::kernels {
namespace {

SAMOVAR_KERNEL_SUITE(Families);

double naive_mean(Link link, double eta) {
  switch (link) {
    case Link::identity:
      return eta;
    case Link::logit:
      return eta >= 0 ? 1 / (1 + std::exp(-eta)) : std::exp(eta) / (1 + std::exp(eta));
    case Link::log:
      return std::exp(eta);
    case Link::inverse:
      return 1 / eta;
    case Link::probit:
      return 0.5 * std::erfc(-eta / std::sqrt(2.0));
    case Link::cloglog:
      return -std::expm1(-std::exp(eta));
  }
  return 0;
}
double naive_variance(Glm glm, double mean) {
  switch (glm.family) {
    case Family::gaussian:
      return 1;
    case Family::binomial:
      return mean * (1 - mean);
    case Family::poisson:
      return mean;
    case Family::gamma:
      return mean * mean;
    case Family::negative_binomial:
      return mean + mean * mean / glm.parameter;
    case Family::tweedie:
      return std::pow(mean, glm.parameter);
  }
  return 0;
}
double naive_slope(Link link, double eta) {
  const double h = 1e-5;
  return (naive_mean(link, eta + h) - naive_mean(link, eta - h)) / (2 * h);
}
double naive_loss(Glm glm, double mean, double y) {
  const double p = glm.parameter;
  switch (glm.family) {
    case Family::gaussian:
      return (y - mean) * (y - mean) / 2;
    case Family::binomial:
      return -(y * std::log(mean) + (1 - y) * std::log1p(-mean));
    case Family::poisson:
      return mean - y * std::log(mean);
    case Family::gamma:
      return y / mean + std::log(mean);
    case Family::negative_binomial:
      return (y + p) * std::log(mean + p) - y * std::log(mean);
    case Family::tweedie:
      return std::pow(mean, 2 - p) / (2 - p) - y * std::pow(mean, 1 - p) / (1 - p);
  }
  return 0;
}
// The same up to what does not depend on the mean: twice the loss less that of the best mean there is.
double naive_deviance(Glm glm, double mean, double y) {
  const double best = y == 0 ? 1e-300 : y == 1 && glm.family == Family::binomial ? 1 - 1e-16 : y;
  return 2 * (naive_loss(glm, mean, y) - naive_loss(glm, best, y));
}

const Glm kPairs[] = {{Family::gaussian, Link::identity, 1},
                      {Family::gaussian, Link::log, 1},
                      {Family::gaussian, Link::inverse, 1},
                      {Family::binomial, Link::logit, 1},
                      {Family::binomial, Link::probit, 1},
                      {Family::binomial, Link::cloglog, 1},
                      {Family::poisson, Link::log, 1},
                      {Family::poisson, Link::identity, 1},
                      {Family::gamma, Link::log, 1},
                      {Family::gamma, Link::inverse, 1},
                      {Family::negative_binomial, Link::log, 2.5},
                      {Family::tweedie, Link::log, 1.5}};

struct Points {
  std::vector<float> margin;
  std::vector<float> target;
  std::vector<float> weight;
};

// Margins the link and the family both have a meaning for, and targets of the family.
Points points_for(Glm glm) {
  Points points;
  const bool positive =
      glm.link == Link::inverse || (glm.link == Link::identity && glm.family != Family::gaussian);
  for (int i = 0; i < 301; ++i) {
    const float at = static_cast<float>(i) / 300;
    points.margin.push_back(positive ? 0.05f + 4 * at : -4 + 8 * at);
    if (glm.link == Link::cloglog) points.margin.back() = -6 + 7 * at;
    const int turn = i % 4;
    if (glm.family == Family::gaussian) points.target.push_back(static_cast<float>(turn) - 1.3f);
    if (glm.family == Family::binomial) points.target.push_back(static_cast<float>(turn % 2));
    if (glm.family == Family::gamma) points.target.push_back(0.2f + static_cast<float>(turn));
    if (points.target.size() < points.margin.size()) points.target.push_back(static_cast<float>(turn));
    points.weight.push_back(0.5f + static_cast<float>(i % 3));
  }
  return points;
}

TEST_P(Families, MeansFollowTheLink) {
  for (const Glm& glm : kPairs) {
    const Points points = points_for(glm);
    const std::size_t n = points.margin.size();
    auto margin = buffer(points.margin);
    auto margin_f64 = buffer(doubles(points.margin));
    Buffer<float> out(table(), n);
    Buffer<double> out_f64(table(), n);
    table().means(stream_, glm, margin.data(), n, out.data());
    table().means_f64(stream_, glm, margin_f64.data(), n, out_f64.data());
    wait();
    for (std::size_t i = 0; i < n; ++i) {
      const double want = naive_mean(glm.link, static_cast<double>(points.margin[i]));
      expect_close(static_cast<double>(out[i]), want, 1e-6, "mean");
      expect_close(out_f64[i], want, 1e-14, "mean, double");
    }
  }
}

TEST_P(Families, ResidualsAreTheSlopesOfTheLoss) {
  for (const Glm& glm : kPairs) {
    const Points points = points_for(glm);
    const std::size_t n = points.margin.size();
    auto margin = buffer(points.margin);
    auto margin_f64 = buffer(doubles(points.margin));
    auto target = buffer(points.target);
    auto weight = buffer(points.weight);
    Buffer<float> out(table(), n);
    Buffer<double> out_f64(table(), n);
    Buffer<double> loss(table(), std::vector<double>{10.0});
    Buffer<double> loss_f64(table(), 1);
    table().residuals(stream_, glm, margin.data(), target.data(), weight.data(), n, out.data(), loss.data());
    table().residuals_f64(stream_, glm, margin_f64.data(), target.data(), weight.data(), n, out_f64.data(),
                          loss_f64.data());
    wait();
    double total = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const auto eta = static_cast<double>(points.margin[i]);
      const auto y = static_cast<double>(points.target[i]);
      const auto w = static_cast<double>(points.weight[i]);
      const auto loss_at = [&](double at) { return naive_loss(glm, naive_mean(glm.link, at), y); };
      const double h = 1e-5;
      const double want = w * (loss_at(eta + h) - loss_at(eta - h)) / (2 * h);
      const std::string where = "family " + std::to_string(static_cast<int>(glm.family)) + " link " +
                                std::to_string(static_cast<int>(glm.link)) + " at " + std::to_string(eta);
      expect_close(static_cast<double>(out[i]), want, 2e-5, where);
      expect_close(out_f64[i], want, 1e-7, where + ", double");
      total += w * loss_at(eta);
    }
    expect_close(loss[0], 10 + total, 2e-5, "loss");
    expect_close(loss_f64[0], total, 1e-12, "loss, double");
  }
}

TEST_P(Families, WithoutWeightsEachRowCountsOnce) {
  const Glm glm{Family::binomial, Link::logit, 1};
  for (const std::size_t n : {1u, 3u, 8u, 9u, 600u}) {
    const std::vector<float> m = normals(n, 8);
    std::vector<float> y(n);
    for (std::size_t i = 0; i < n; ++i) y[i] = static_cast<float>(i % 2);
    auto margin = buffer(m);
    auto target = buffer(y);
    Buffer<double> loss(table(), 1);
    // In place, as the solvers do it.
    table().residuals(stream_, glm, margin.data(), target.data(), nullptr, n, margin.data(), loss.data());
    wait();
    double total = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double mean = naive_mean(Link::logit, static_cast<double>(m[i]));
      total += naive_loss(glm, mean, static_cast<double>(y[i]));
      expect_close(static_cast<double>(margin[i]), mean - static_cast<double>(y[i]), 1e-6, "residual");
    }
    expect_close(loss[0], total, 1e-5, "loss");
  }
}

TEST_P(Families, CurvaturesAndDeviance) {
  for (const Glm& glm : kPairs) {
    const Points points = points_for(glm);
    const std::size_t n = points.margin.size();
    std::vector<double> means(n);
    for (std::size_t i = 0; i < n; ++i) {
      means[i] = naive_mean(glm.link, static_cast<double>(points.margin[i]));
    }
    auto margin = buffer(doubles(points.margin));
    auto mean = buffer(means);
    auto target = buffer(points.target);
    auto weight = buffer(points.weight);
    Buffer<double> out(table(), n);
    Buffer<double> deviance(table(), 1);
    table().curvatures_f64(stream_, glm, margin.data(), weight.data(), n, out.data());
    table().deviance_f64(stream_, glm, mean.data(), target.data(), weight.data(), n, deviance.data());
    wait();
    double total = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double slope = naive_slope(glm.link, static_cast<double>(points.margin[i]));
      const auto w = static_cast<double>(points.weight[i]);
      expect_close(out[i], w * slope * slope / naive_variance(glm, means[i]), 2e-5, "curvature");
      total += w * naive_deviance(glm, means[i], static_cast<double>(points.target[i]));
    }
    expect_close(deviance[0], total, 1e-9, "deviance");
  }
}

// A margin far out must give a loss and a residual that are numbers: one bad row is not to ruin a model.
TEST_P(Families, ExtremesStayFinite) {
  const std::vector<float> far = {-1e30f, -1e4f, -90, -30, 0, 30, 90, 1e4f, 1e30f};
  for (const Glm& glm : kPairs) {
    auto margin = buffer(far);
    auto margin_f64 = buffer(doubles(far));
    Buffer<float> target(table(), std::vector<float>(far.size(), 1));
    Buffer<float> out(table(), far.size());
    Buffer<double> out_f64(table(), far.size());
    Buffer<double> loss(table(), 1);
    if (glm.family == Family::gaussian) continue;  // its loss is a square, and has a right to be huge
    table().residuals(stream_, glm, margin.data(), target.data(), nullptr, far.size(), out.data(),
                      loss.data());
    wait();
    EXPECT_FALSE(std::isnan(loss[0])) << static_cast<int>(glm.link);
    for (std::size_t i = 0; i < far.size(); ++i) EXPECT_FALSE(std::isnan(out[i])) << far[i];
    table().curvatures_f64(stream_, glm, margin_f64.data(), nullptr, far.size(), out_f64.data());
    wait();
    for (std::size_t i = 0; i < far.size(); ++i) EXPECT_FALSE(std::isnan(out_f64[i])) << far[i];
  }
}

TEST_P(Families, SoftmaxAndItsResiduals) {
  for (const std::size_t classes : {2u, 3u, 10u, 70u}) {
    const std::size_t rows = 37;
    const std::vector<float> s = normals(rows * classes, 9, 3);
    std::vector<float> y(rows);
    std::vector<float> w(rows);
    for (std::size_t i = 0; i < rows; ++i) {
      y[i] = static_cast<float>(i % classes);
      w[i] = 0.5f + static_cast<float>(i % 2);
    }
    auto scores = buffer(s);
    auto residuals = buffer(s);
    auto residuals_f64 = buffer(doubles(s));
    auto target = buffer(y);
    auto weight = buffer(w);
    Buffer<double> loss(table(), 1);
    Buffer<double> loss_f64(table(), 1);
    table().softmax(stream_, scores.data(), rows, classes);
    table().softmax_residuals(stream_, residuals.data(), target.data(), weight.data(), rows, classes,
                              loss.data());
    table().softmax_residuals_f64(stream_, residuals_f64.data(), target.data(), weight.data(), rows, classes,
                                  loss_f64.data());
    wait();
    double total = 0;
    for (std::size_t row = 0; row < rows; ++row) {
      double sum = 0;
      for (std::size_t k = 0; k < classes; ++k) sum += std::exp(static_cast<double>(s[row * classes + k]));
      for (std::size_t k = 0; k < classes; ++k) {
        const double p = std::exp(static_cast<double>(s[row * classes + k])) / sum;
        const bool own = k == row % classes;
        const double want = static_cast<double>(w[row]) * (p - (own ? 1 : 0));
        expect_close(static_cast<double>(scores[row * classes + k]), p, 1e-6, "probability");
        expect_close(static_cast<double>(residuals[row * classes + k]), want, 2e-6, "residual");
        expect_close(residuals_f64[row * classes + k], want, 1e-13, "residual, double");
        if (own) total -= static_cast<double>(w[row]) * std::log(p);
      }
    }
    expect_close(loss[0], total, 1e-5, "loss");
    expect_close(loss_f64[0], total, 1e-12, "loss, double");
  }
}

}  // namespace
}  // namespace samovar::kernels
