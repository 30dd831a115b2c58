// Families, links and softmax: twins of kernels/cpu/families.cpp.
#include "kernels/cuda/gpu.hpp"
#include "kernels/ops/choose.hpp"
#include "kernels/ops/glm.hpp"

namespace samovar::kernels {
namespace {

using namespace gpu;

template <Link link, class T>
__global__ void __launch_bounds__(kThreads) link_means(const T* margins, std::size_t n, T* out) {
  for (std::size_t i = first_index(); i < n; i += index_stride())
    out[i] = ops::mean_of<link>(margins[i]).mean;
}
template <class T>
void launch_means(Stream* stream, Glm glm, const T* margins, std::size_t n, T* out) {
  ops::with_link(glm.link, [&](auto link) {
    SAMOVAR_LAUNCH((link_means<decltype(link)::value, T>), blocks_for(n), kThreads, stream->queue, margins, n,
                   out);
  });
}
void means(Stream* stream, Glm glm, const float* margins, std::size_t n, float* out) {
  launch_means(stream, glm, margins, n, out);
}
void means_f64(Stream* stream, Glm glm, const double* margins, std::size_t n, double* out) {
  launch_means(stream, glm, margins, n, out);
}

template <Family family, Link link, class T>
__global__ void __launch_bounds__(kThreads)
    glm_residuals(T parameter, const T* margins, const float* target, const float* weight, std::size_t n,
                  T* out, double* loss) {
  double mine = 0;
  for (std::size_t i = first_index(); i < n; i += index_stride()) {
    const auto m = ops::inside<family>(ops::mean_of<link>(margins[i]));
    const auto y = static_cast<T>(target[i]);
    const T w = weight != nullptr ? static_cast<T>(weight[i]) : T(1);
    out[i] = w * ops::residual<family, link>(m, y, parameter);
    if (loss != nullptr) mine += static_cast<double>(w * ops::loss<family>(m, y, parameter));
  }
  if (loss == nullptr) return;  // so for the whole block
  const double total = block_sum(mine);
  if (threadIdx.x == 0) add(loss, total);
}
template <class T>
void launch_residuals(Stream* stream, Glm glm, const T* margins, const float* target, const float* weight,
                      std::size_t n, T* out, double* loss) {
  ops::with_family(glm.family, [&](auto family) {
    ops::with_link(glm.link, [&](auto link) {
      SAMOVAR_LAUNCH((glm_residuals<decltype(family)::value, decltype(link)::value, T>), blocks_for(n),
                     kThreads, stream->queue, static_cast<T>(glm.parameter), margins, target, weight, n, out,
                     loss);
    });
  });
}
void residuals(Stream* stream, Glm glm, const float* margins, const float* target, const float* weight,
               std::size_t n, float* out, double* loss) {
  launch_residuals(stream, glm, margins, target, weight, n, out, loss);
}
void residuals_f64(Stream* stream, Glm glm, const double* margins, const float* target, const float* weight,
                   std::size_t n, double* out, double* loss) {
  launch_residuals(stream, glm, margins, target, weight, n, out, loss);
}

template <Family family, Link link>
__global__ void __launch_bounds__(kThreads)
    glm_curvatures(double parameter, const double* margins, const float* weight, std::size_t n, double* out) {
  for (std::size_t i = first_index(); i < n; i += index_stride()) {
    const auto m = ops::inside<family>(ops::mean_of<link>(margins[i]));
    const double w = weight != nullptr ? static_cast<double>(weight[i]) : 1.0;
    out[i] = w * ops::curvature<family>(m, parameter);
  }
}
void curvatures_f64(Stream* stream, Glm glm, const double* margins, const float* weight, std::size_t n,
                    double* out) {
  ops::with_family(glm.family, [&](auto family) {
    ops::with_link(glm.link, [&](auto link) {
      SAMOVAR_LAUNCH((glm_curvatures<decltype(family)::value, decltype(link)::value>), blocks_for(n),
                     kThreads, stream->queue, glm.parameter, margins, weight, n, out);
    });
  });
}

template <Family family>
__global__ void __launch_bounds__(kThreads)
    glm_deviance(double parameter, const double* means, const float* target, const float* weight,
                 std::size_t n, double* deviance) {
  double mine = 0;
  for (std::size_t i = first_index(); i < n; i += index_stride()) {
    const double w = weight != nullptr ? static_cast<double>(weight[i]) : 1.0;
    mine += w * ops::unit_deviance<family>(means[i], static_cast<double>(target[i]), parameter);
  }
  const double total = block_sum(mine);
  if (threadIdx.x == 0) add(deviance, total);
}
void deviance_f64(Stream* stream, Glm glm, const double* means, const float* target, const float* weight,
                  std::size_t n, double* deviance) {
  ops::with_family(glm.family, [&](auto family) {
    SAMOVAR_LAUNCH((glm_deviance<decltype(family)::value>), blocks_for(n), kThreads, stream->queue,
                   glm.parameter, means, target, weight, n, deviance);
  });
}

// A thread takes a row: classes are few. Probabilities in place; gives the log of their scale.
template <class T>
SAMOVAR_DEVICE T softmax_row(T* scores, std::size_t classes) {
  T high = scores[0];
  for (std::size_t k = 1; k < classes; ++k) high = ops::max(high, scores[k]);
  T total = 0;
  for (std::size_t k = 0; k < classes; ++k) {
    scores[k] = ops::exp(scores[k] - high);
    total += scores[k];
  }
  for (std::size_t k = 0; k < classes; ++k) scores[k] *= T(1) / total;
  return high + ops::log(total);
}

__global__ void __launch_bounds__(kThreads)
    softmax_rows(float* scores, std::size_t rows, std::size_t classes) {
  for (std::size_t row = first_index(); row < rows; row += index_stride())
    softmax_row(scores + row * classes, classes);
}
void softmax(Stream* stream, float* scores, std::size_t rows, std::size_t classes) {
  SAMOVAR_LAUNCH(softmax_rows, blocks_for(rows), kThreads, stream->queue, scores, rows, classes);
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    softmax_slopes(T* scores, const float* target, const float* weight, std::size_t rows, std::size_t classes,
                   double* loss) {
  double mine = 0;
  for (std::size_t row = first_index(); row < rows; row += index_stride()) {
    T* const own_scores = scores + row * classes;
    const auto y = static_cast<std::size_t>(target[row]);
    const T own = own_scores[y];
    const T w = weight != nullptr ? static_cast<T>(weight[row]) : T(1);
    mine += static_cast<double>(w * (softmax_row(own_scores, classes) - own));
    own_scores[y] -= T(1);
    for (std::size_t k = 0; k < classes; ++k) own_scores[k] *= w;
  }
  if (loss == nullptr) return;
  const double total = block_sum(mine);
  if (threadIdx.x == 0) add(loss, total);
}
void softmax_residuals(Stream* stream, float* scores, const float* target, const float* weight,
                       std::size_t rows, std::size_t classes, double* loss) {
  SAMOVAR_LAUNCH((softmax_slopes<float>), blocks_for(rows), kThreads, stream->queue, scores, target, weight,
                 rows, classes, loss);
}
void softmax_residuals_f64(Stream* stream, double* scores, const float* target, const float* weight,
                           std::size_t rows, std::size_t classes, double* loss) {
  SAMOVAR_LAUNCH((softmax_slopes<double>), blocks_for(rows), kThreads, stream->queue, scores, target, weight,
                 rows, classes, loss);
}

}  // namespace

void fill_cuda_families(Table& table) {
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

}  // namespace samovar::kernels
