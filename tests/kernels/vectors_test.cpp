#include "tests/kernels/naive.hpp"

namespace samovar::kernels {
namespace {

SAMOVAR_KERNEL_SUITE(Vectors);

TEST_P(Vectors, Reductions) {
  for (const std::size_t n : {0u, 1u, 15u, 16u, 17u, 257u, 5000u}) {
    const std::vector<float> a = normals(n, 21);
    const std::vector<float> b = normals(n, 22);
    auto x = buffer(a);
    auto y = buffer(b);
    auto x_f64 = buffer(doubles(a));
    auto y_f64 = buffer(doubles(b));
    Buffer<double> out(table(), std::vector<double>(4, 99.0));
    Buffer<float> high(table(), 1);
    table().sum(stream_, x.data(), n, out.data());
    table().sum_squares(stream_, x.data(), n, out.data() + 1);
    table().dot(stream_, x.data(), y.data(), n, out.data() + 2);
    table().dot_f64(stream_, x_f64.data(), y_f64.data(), n, out.data() + 3);
    table().max(stream_, x.data(), n, high.data());
    wait();
    double sum = 0;
    double squares = 0;
    double dot = 0;
    float most = -std::numeric_limits<float>::infinity();
    for (std::size_t i = 0; i < n; ++i) {
      sum += static_cast<double>(a[i]);
      squares += static_cast<double>(a[i]) * static_cast<double>(a[i]);
      dot += static_cast<double>(a[i]) * static_cast<double>(b[i]);
      most = std::max(most, a[i]);
    }
    expect_close(out[0], sum, 1e-12, "sum");
    expect_close(out[1], squares, 1e-12, "squares");
    expect_close(out[2], dot, 1e-12, "dot");
    expect_close(out[3], dot, 1e-12, "dot, double");
    EXPECT_EQ(high[0], most);
  }
}

TEST_P(Vectors, Axpy) {
  for (const std::size_t n : {1u, 33u, 1000u}) {
    const std::vector<float> a = normals(n, 23);
    const std::vector<float> b = normals(n, 24);
    auto x = buffer(a);
    auto y = buffer(b);
    auto x_f64 = buffer(doubles(a));
    auto y_f64 = buffer(doubles(b));
    table().axpy(stream_, 0.5f, x.data(), n, y.data());
    table().axpy_f64(stream_, 0.5, x_f64.data(), n, y_f64.data());
    wait();
    for (std::size_t i = 0; i < n; ++i) {
      const double want = 0.5 * static_cast<double>(a[i]) + static_cast<double>(b[i]);
      expect_close(static_cast<double>(y[i]), want, 1e-6, "axpy");
      expect_close(y_f64[i], want, 1e-15, "axpy, double");
    }
  }
}

TEST_P(Vectors, MemoryIsThereOrNull) {
  void* some = table().allocate(100);
  ASSERT_NE(some, nullptr);
  table().release(some);
  EXPECT_EQ(table().allocate(std::size_t{1} << 60), nullptr);
}

}  // namespace
}  // namespace samovar::kernels
