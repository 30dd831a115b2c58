#include "tests/kernels/naive.hpp"

namespace samovar::kernels {
namespace {

SAMOVAR_KERNEL_SUITE(DenseProducts);

TEST_P(DenseProducts, GemmInAllOrders) {
  const std::size_t m = 5;
  const std::size_t n = 7;
  const std::size_t k = 9;
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      const std::vector<float> av = normals(m * k, 31);
      const std::vector<float> bv = normals(k * n, 32);
      auto a = buffer(av);
      auto b = buffer(bv);
      auto a_f64 = buffer(doubles(av));
      auto b_f64 = buffer(doubles(bv));
      Buffer<float> c(table(), std::vector<float>(m * n, 1));
      Buffer<double> c_f64(table(), std::vector<double>(m * n, 1));
      const std::size_t lda = ta ? m : k;
      const std::size_t ldb = tb ? k : n;
      table().gemm(stream_, ta, tb, m, n, k, 2, a.data(), lda, b.data(), ldb, 3, c.data(), n);
      table().gemm_f64(stream_, ta, tb, m, n, k, 2, a_f64.data(), lda, b_f64.data(), ldb, 3, c_f64.data(), n);
      wait();
      for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
          double want = 3;
          for (std::size_t l = 0; l < k; ++l)
            want += 2 * static_cast<double>(av[ta ? l * m + i : i * k + l]) *
                    static_cast<double>(bv[tb ? j * k + l : l * n + j]);
          expect_close(static_cast<double>(c[i * n + j]), want, 1e-5, "gemm");
          expect_close(c_f64[i * n + j], want, 1e-13, "gemm, double");
        }
      }
    }
  }
}

TEST_P(DenseProducts, Gemv) {
  const std::size_t m = 6;
  const std::size_t n = 11;
  for (const bool transpose : {false, true}) {
    const std::vector<float> av = normals(m * n, 33);
    const std::vector<float> xv = normals(transpose ? m : n, 34);
    auto a = buffer(av);
    auto x = buffer(xv);
    Buffer<float> y(table(), std::vector<float>(transpose ? n : m, 1));
    table().gemv(stream_, transpose, m, n, 2, a.data(), n, x.data(), 0.5f, y.data());
    wait();
    for (std::size_t i = 0; i < y.size(); ++i) {
      double want = 0.5;
      for (std::size_t j = 0; j < xv.size(); ++j)
        want += 2 * static_cast<double>(av[transpose ? j * n + i : i * n + j]) * static_cast<double>(xv[j]);
      expect_close(static_cast<double>(y[i]), want, 1e-5, "gemv");
    }
  }
}

TEST_P(DenseProducts, CholeskySolvesAndInverts) {
  const std::size_t n = 9;
  // A square plus something on the diagonal is positive.
  const std::vector<double> root = doubles(normals(n * n, 35));
  std::vector<double> full(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      full[i * n + j] = i == j ? 0.5 : 0;
      for (std::size_t k = 0; k < n; ++k) full[i * n + j] += root[i * n + k] * root[j * n + k];
    }
  }
  std::vector<double> lower = full;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) lower[i * n + j] = 1e9;  // the upper triangle is not looked at
  }
  const std::vector<double> want = doubles(normals(n * 2, 36));
  std::vector<double> sides(n * 2);
  for (std::size_t side = 0; side < 2; ++side) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) sides[side * n + i] += full[i * n + j] * want[side * n + j];
    }
  }
  auto a = buffer(lower);
  auto b = buffer(sides);
  Buffer<int> info(table(), std::vector<int>{7});
  table().cholesky_f64(stream_, a.data(), n, info.data());
  table().cholesky_solve_f64(stream_, a.data(), n, 2, b.data());
  wait();
  ASSERT_EQ(info[0], 0);
  for (std::size_t i = 0; i < n * 2; ++i) expect_close(b[i], want[i], 1e-10, "solution");
  table().cholesky_inverse_f64(stream_, a.data(), n, info.data());
  wait();
  ASSERT_EQ(info[0], 0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double product = 0;
      for (std::size_t k = 0; k < n; ++k) product += a[i * n + k] * full[k * n + j];
      expect_close(product, i == j ? 1 : 0, 1e-10, "inverse");
    }
  }
}

TEST_P(DenseProducts, CholeskyNamesTheUnknownThatFollows) {
  // The third is the sum of the first two.
  const std::vector<double> x = {1, 0, 1, 0, 1, 1, 1, 1, 2};
  std::vector<double> gram(9);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t k = 0; k < 3; ++k) gram[i * 3 + j] += x[k * 3 + i] * x[k * 3 + j];
    }
  }
  gram[8] -= 1e-9;
  auto a = buffer(gram);
  Buffer<int> info(table(), 1);
  table().cholesky_f64(stream_, a.data(), 3, info.data());
  wait();
  EXPECT_EQ(info[0], 3);
}

}  // namespace
}  // namespace samovar::kernels
