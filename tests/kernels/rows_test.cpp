#include "tests/kernels/naive.hpp"

namespace samovar::kernels {
namespace {

SAMOVAR_KERNEL_SUITE(RowProducts);

TEST_P(RowProducts, MarginsAreBiasOffsetAndTheProduct) {
  for (const SampleShape& shape : kShapes) {
    const Sample sample = make_sample(shape);
    const Matrix x = sample.matrix();
    const DeviceRows rows(table(), sample);
    const std::vector<float> w = normals(sample.width, 3);
    auto weights = buffer(w);
    auto weights_f64 = buffer(doubles(w));
    auto offset = buffer(normals(sample.rows, 4));
    Buffer<float> out(table(), sample.rows * 2);
    Buffer<double> out_f64(table(), sample.rows);
    table().margins(stream_, *rows, weights.data(), 0.5f, offset.data(), out.data(), 2);
    table().margins_f64(stream_, *rows, weights_f64.data(), 0.5, nullptr, out_f64.data(), 1);
    wait();
    for (std::uint32_t row = 0; row < sample.rows; ++row) {
      double want = 0.5;
      for (std::uint32_t i = 0; i < sample.width; ++i) want += x[row][i] * static_cast<double>(w[i]);
      expect_close(static_cast<double>(out[row * 2]), want + static_cast<double>(offset[row]), 2e-5,
                   "margin");
      EXPECT_EQ(out[row * 2 + 1], 0) << "between the strides";
      expect_close(out_f64[row], want, 1e-13, "margin, double");
    }
  }
}

TEST_P(RowProducts, GradientAddsTheTransposedProduct) {
  for (const SampleShape& shape : kShapes) {
    const Sample sample = make_sample(shape);
    const Matrix x = sample.matrix();
    const DeviceRows rows(table(), sample);
    const std::vector<float> c = normals(sample.rows, 5);
    auto coefficients = buffer(c);
    auto coefficients_f64 = buffer(doubles(c));
    Buffer<float> gradient(table(), std::vector<float>(sample.width, 0.25f));
    Buffer<double> gradient_f64(table(), sample.width);
    Buffer<float> bias(table(), 1);
    Buffer<double> bias_f64(table(), 1);
    table().gradient(stream_, *rows, coefficients.data(), 1, gradient.data(), bias.data());
    table().gradient_f64(stream_, *rows, coefficients_f64.data(), 1, gradient_f64.data(), bias_f64.data());
    table().gradient(stream_, *rows, coefficients.data(), 1, gradient.data(), nullptr);
    wait();
    double total = 0;
    for (const float each : c) total += static_cast<double>(each);
    expect_close(static_cast<double>(bias[0]), total, 1e-5, "bias");
    expect_close(bias_f64[0], total, 1e-12, "bias, double");
    for (std::uint32_t i = 0; i < sample.width; ++i) {
      double want = 0;
      for (std::uint32_t row = 0; row < sample.rows; ++row) want += x[row][i] * static_cast<double>(c[row]);
      expect_close(static_cast<double>(gradient[i]), 0.25 + 2 * want, 1e-4, "gradient");
      expect_close(gradient_f64[i], want, 1e-12, "gradient, double");
    }
  }
}

TEST_P(RowProducts, GramIsTheWeightedSquareWithAnIntercept) {
  for (const SampleShape& shape : kShapes) {
    const Sample sample = make_sample(shape, 12);
    Matrix x = sample.matrix();
    for (auto& row : x) row.push_back(1);
    const DeviceRows rows(table(), sample);
    std::vector<double> w = doubles(normals(sample.rows, 6));
    for (double& each : w) each = std::abs(each);
    auto weights = buffer(w);
    const std::size_t stride = sample.width + 1;
    Buffer<double> gram(table(), stride * stride);
    Buffer<double> scratch(table(), gram_scratch(sample.dense_width));
    table().gram_f64(stream_, *rows, weights.data(), sample.width, gram.data(), scratch.data());
    wait();
    for (std::size_t i = 0; i < stride; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double want = 0;
        for (std::uint32_t row = 0; row < sample.rows; ++row) want += w[row] * x[row][i] * x[row][j];
        expect_close(gram[i * stride + j], want, 1e-12,
                     "gram " + std::to_string(i) + "," + std::to_string(j));
      }
    }
  }
}

TEST_P(RowProducts, NoRowsChangeNothing) {
  Rows none;
  Buffer<float> weights(table(), 4);
  Buffer<float> out(table(), 1);
  table().margins(stream_, none, weights.data(), 1, nullptr, out.data(), 1);
  table().gradient(stream_, none, out.data(), 1, weights.data(), nullptr);
  wait();
  EXPECT_EQ(weights.values(), std::vector<float>(4));
}

}  // namespace
}  // namespace samovar::kernels
