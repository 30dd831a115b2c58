// Families, links and softmax over vectors: one loop for each family and link, chosen outside of it.
#include "kernels/cpu/variant.hpp"
#include "kernels/ops/choose.hpp"
#include "kernels/ops/glm.hpp"

namespace samovar::kernels::SAMOVAR_KERNELS_VARIANT {
namespace {

using ops::with_family;
using ops::with_link;

template <class T>
void means_of(Glm glm, const T* margins, std::size_t n, T* out) {
  with_link(glm.link, [&](auto link) {
    for (std::size_t i = 0; i < n; ++i) out[i] = ops::mean_of<decltype(link)::value>(margins[i]).mean;
  });
}
void means(Stream*, Glm glm, const float* margins, std::size_t n, float* out) {
  means_of(glm, margins, n, out);
}
void means_f64(Stream*, Glm glm, const double* margins, std::size_t n, double* out) {
  means_of(glm, margins, n, out);
}

// Eight rows: a loop of fixed length, which becomes vectors. Losses stay apart until the end.
constexpr std::size_t kBlock = 8;

template <Family family, Link link, bool kLoss, class T>
inline void residuals_block(T parameter, const T* margins, const float* target, const float* weight, T* out,
                            T* losses) {
  for (std::size_t i = 0; i < kBlock; ++i) {
    const auto m = ops::inside<family>(ops::mean_of<link>(margins[i]));
    const auto y = static_cast<T>(target[i]);
    const auto w = static_cast<T>(weight[i]);
    out[i] = w * ops::residual<family, link>(m, y, parameter);
    if constexpr (kLoss) losses[i] += w * ops::loss<family>(m, y, parameter);
  }
}

template <Family family, Link link, bool kLoss, class T>
double residuals_loop(T parameter, const T* margins, const float* target, const float* weight, std::size_t n,
                      T* out) {
  constexpr std::size_t kStretch = 32 * kBlock;  // losses are added in T that far, then in double
  static constexpr float kOnes[kBlock] = {1, 1, 1, 1, 1, 1, 1, 1};
  double total = 0;
  for (std::size_t first = 0; first < n; first += kStretch) {
    const std::size_t end = n - first < kStretch ? n : first + kStretch;
    T losses[kBlock] = {};
    std::size_t i = first;
    for (; i + kBlock <= end; i += kBlock) {
      residuals_block<family, link, kLoss>(parameter, margins + i, target + i,
                                           weight != nullptr ? weight + i : kOnes, out + i, losses);
    }
    if (i < end) {
      // The last rows in a block of their own, filled up with rows that weigh nothing.
      T m[kBlock];
      float y[kBlock];
      float w[kBlock];
      T r[kBlock];
      for (std::size_t j = 0; j < kBlock; ++j) {
        const bool there = i + j < end;
        m[j] = there ? margins[i + j] : margins[i];
        y[j] = there ? target[i + j] : target[i];
        w[j] = !there ? 0 : weight != nullptr ? weight[i + j] : 1;
      }
      residuals_block<family, link, kLoss>(parameter, m, y, w, r, losses);
      for (std::size_t j = 0; i + j < end; ++j) out[i + j] = r[j];
    }
    for (const T loss : losses) total += static_cast<double>(loss);
  }
  return total;
}

template <class T>
void residuals_of(Glm glm, const T* margins, const float* target, const float* weight, std::size_t n, T* out,
                  double* loss) {
  const auto parameter = static_cast<T>(glm.parameter);
  with_family(glm.family, [&](auto family) {
    with_link(glm.link, [&](auto link) {
      constexpr Family kFamily = decltype(family)::value;
      constexpr Link kLink = decltype(link)::value;
      if (loss == nullptr)
        residuals_loop<kFamily, kLink, false>(parameter, margins, target, weight, n, out);
      else
        *loss += residuals_loop<kFamily, kLink, true>(parameter, margins, target, weight, n, out);
    });
  });
}
void residuals(Stream*, Glm glm, const float* margins, const float* target, const float* weight,
               std::size_t n, float* out, double* loss) {
  residuals_of(glm, margins, target, weight, n, out, loss);
}
void residuals_f64(Stream*, Glm glm, const double* margins, const float* target, const float* weight,
                   std::size_t n, double* out, double* loss) {
  residuals_of(glm, margins, target, weight, n, out, loss);
}

void curvatures_f64(Stream*, Glm glm, const double* margins, const float* weight, std::size_t n,
                    double* out) {
  with_family(glm.family, [&](auto family) {
    with_link(glm.link, [&](auto link) {
      constexpr Family kFamily = decltype(family)::value;
      for (std::size_t i = 0; i < n; ++i) {
        const auto m = ops::inside<kFamily>(ops::mean_of<decltype(link)::value>(margins[i]));
        const double w = weight != nullptr ? static_cast<double>(weight[i]) : 1.0;
        out[i] = w * ops::curvature<kFamily>(m, glm.parameter);
      }
    });
  });
}

void deviance_f64(Stream*, Glm glm, const double* means, const float* target, const float* weight,
                  std::size_t n, double* deviance) {
  with_family(glm.family, [&](auto family) {
    double total = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double w = weight != nullptr ? static_cast<double>(weight[i]) : 1.0;
      total += w * ops::unit_deviance<decltype(family)::value>(means[i], static_cast<double>(target[i]),
                                                               glm.parameter);
    }
    *deviance += total;
  });
}

// Probabilities of one row in place; the log of their scale, so that -log p = scale - score.
template <class T>
T softmax_row(T* scores, std::size_t classes) {
  T high = scores[0];
  for (std::size_t k = 1; k < classes; ++k) high = ops::max(high, scores[k]);
  T total = 0;
  for (std::size_t k = 0; k < classes; ++k) {
    scores[k] = ops::exp(scores[k] - high);
    total += scores[k];
  }
  const T scale = T(1) / total;
  for (std::size_t k = 0; k < classes; ++k) scores[k] *= scale;
  return high + ops::log(total);
}

void softmax(Stream*, float* scores, std::size_t rows, std::size_t classes) {
  for (std::size_t row = 0; row < rows; ++row) softmax_row(scores + row * classes, classes);
}

template <class T>
void softmax_residuals_of(T* scores, const float* target, const float* weight, std::size_t rows,
                          std::size_t classes, double* loss) {
  double total = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    T* mine = scores + row * classes;
    const auto y = static_cast<std::size_t>(target[row]);
    const T own = mine[y];
    const T w = weight != nullptr ? static_cast<T>(weight[row]) : T(1);
    total += static_cast<double>(w * (softmax_row(mine, classes) - own));
    mine[y] -= T(1);
    for (std::size_t k = 0; k < classes; ++k) mine[k] *= w;
  }
  if (loss != nullptr) *loss += total;
}
void softmax_residuals(Stream*, float* scores, const float* target, const float* weight, std::size_t rows,
                       std::size_t classes, double* loss) {
  softmax_residuals_of(scores, target, weight, rows, classes, loss);
}
void softmax_residuals_f64(Stream*, double* scores, const float* target, const float* weight,
                           std::size_t rows, std::size_t classes, double* loss) {
  softmax_residuals_of(scores, target, weight, rows, classes, loss);
}

}  // namespace

void fill_families(Table& table) noexcept {
  table.means = means;
  table.means_f64 = means_f64;
  table.residuals = residuals;
  table.residuals_f64 = residuals_f64;
  table.curvatures_f64 = curvatures_f64;
  table.deviance_f64 = deviance_f64;
  table.softmax = softmax;
  table.softmax_residuals = softmax_residuals;
  table.softmax_residuals_f64 = softmax_residuals_f64;
}

}  // namespace samovar::kernels::SAMOVAR_KERNELS_VARIANT
