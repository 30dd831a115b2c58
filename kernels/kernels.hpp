// The arithmetic under the models: one table of operations, filled by the CPU and, where there is one, a GPU.
//
// A model takes a table once and calls through it. Pointers are memory of that table (`allocate`); the CPU's
// is plain memory, so what the caller has already will do there. No operation allocates or waits: results
// that are single numbers go to memory too, and are there after `wait`. On the CPU everything is done when
// the call returns, and `stream` is null.
//
// C++17 and plain structs only: the CUDA plug-in is compiled with these headers by older compilers.
//
// Threading: any thread; operations are pure but for what their pointers name. A stream is one thread's.
#pragma once
#include <cstddef>
#include <cstdint>

namespace samovar::kernels {

struct Stream;  // a queue of work on a device; null on the CPU

inline constexpr std::uint32_t kNoSlot = 0xffffffff;

// Rows as a linear model sees them. The weights are one vector: the first `dense_width` belong to the numbers
// of `dense`, slots are places anywhere in the vector. Any part may be absent (width 0, null).
struct Rows {
  std::uint32_t rows = 0;
  std::uint32_t dense_width = 0;
  std::uint32_t slot_width = 0;
  const float* dense = nullptr;                // rows × dense_width
  const std::uint32_t* slots = nullptr;        // rows × slot_width: a weight that counts once; kNoSlot: none
  const std::uint32_t* ragged_ends = nullptr;  // per row, where its pairs end; row 0 begins at ragged_begin
  const std::uint32_t* ragged_slots = nullptr;
  const float* ragged_values = nullptr;
  std::uint32_t ragged_begin = 0;
};

enum class Family : std::uint8_t { gaussian, binomial, poisson, gamma, negative_binomial, tweedie };
enum class Link : std::uint8_t { identity, logit, log, inverse, probit, cloglog };

struct Glm {
  Family family = Family::gaussian;
  Link link = Link::identity;
  double parameter = 1;  // negative binomial: theta; tweedie: the power, in (1, 2)
};

// What is known of rows besides their inputs.
struct Labels {
  const float* target = nullptr;
  const float* weight = nullptr;  // null: all 1
  const float* offset = nullptr;  // added to the linear predictor; null: all 0
};

enum class Rule : std::uint8_t { adagrad, ftrl, sgd, adam };

// A rule and its settings. The state of a coordinate is a cell of `cell_floats` floats side by side, so that
// one cache line serves weight and memory. A cell of zeros is a fresh coordinate.
//   adagrad {weight, Σg²}   sgd {weight, velocity}   adam {weight, mean, variance, unused}
//   ftrl    {z, Σg²}: the weight follows from them (McMahan et al. 2013)
struct Optimizer {
  Rule rule = Rule::adagrad;
  float rate = 0.1f;       // ftrl: alpha
  float l1 = 0;            // per touch of a coordinate
  float l2 = 0;            // per touch of a coordinate
  float momentum = 0.9f;   // sgd; adam: decay of the mean
  float decay = 0.999f;    // adam: decay of the variance
  float epsilon = 1e-8f;   // adagrad: added to Σg²; adam: to the root; ftrl: beta
  std::uint32_t step = 1;  // adam: how many steps were made, this one counted
  bool ahead = false;      // sgd: the weight kept is the one that the velocity leads to (Nesterov)
};

constexpr std::size_t cell_floats(Rule rule) { return rule == Rule::adam ? 4 : 2; }

// One pass of a streaming solver over some rows, in batches: margins with the cells as they are at the
// beginning of a batch, then each row's step in turn.
struct Step {
  Glm glm;
  Optimizer optimizer;
  std::uint32_t batch_rows = 32;  // 1…kStepRowsMax
  bool bias = true;               // whether there is an intercept, with a cell of its own
};
inline constexpr std::uint32_t kStepRowsMax = 256;

struct Table {
  std::uint32_t bytes = sizeof(Table);  // tells a plug-in of another version apart
  const char* name = "";                // "cpu avx2", "cuda Orin"
  std::uint32_t generation = 0;         // of a GPU: 53, 62, 72, 87 (its compute capability); 0: the CPU

  // Memory and order. Memory of a device can be read and written by the CPU too, after `wait`.
  void* (*allocate)(std::size_t bytes);  // null: there is none left
  void (*release)(void* memory);
  Stream* (*open_stream)();
  void (*close_stream)(Stream*);
  // 0, or the device's error since the last call; the text is static.
  int (*wait)(Stream*, const char** text);

  // Linear predictors. out[i · out_stride] = bias + offset[i] + x_i · w
  void (*margins)(Stream*, const Rows&, const float* weights, float bias, const float* offset, float* out,
                  std::size_t out_stride);
  void (*margins_f64)(Stream*, const Rows&, const double* weights, double bias, const float* offset,
                      double* out, std::size_t out_stride);
  // The same from cells; `bias` is a cell, or null.
  void (*margins_cells)(Stream*, const Optimizer&, const Rows&, const float* cells, const float* bias,
                        const float* offset, float* out, std::size_t out_stride);
  // gradient += Σ coefficient[i · stride] · x_i; `bias` += Σ coefficient, unless null.
  void (*gradient)(Stream*, const Rows&, const float* coefficients, std::size_t stride, float* gradient,
                   float* bias);
  void (*gradient_f64)(Stream*, const Rows&, const double* coefficients, std::size_t stride, double* gradient,
                       double* bias);
  // gram += X'WX, the lower triangle of (width + 1)², a row after the other; the last row is the intercept's.
  // `scratch` is gram_scratch doubles.
  void (*gram_f64)(Stream*, const Rows&, const double* weights, std::size_t width, double* gram,
                   double* scratch);

  // Families and links. Losses are the negative log likelihood without what does not depend on the mean:
  // log loss for binomial, half the squared error for gaussian.
  void (*means)(Stream*, Glm, const float* margins, std::size_t n, float* means);
  void (*means_f64)(Stream*, Glm, const double* margins, std::size_t n, double* means);
  // residual[i] = weight · dloss/dmargin; loss += Σ weight · loss, unless null.
  void (*residuals)(Stream*, Glm, const float* margins, const float* target, const float* weight,
                    std::size_t n, float* residuals, double* loss);
  void (*residuals_f64)(Stream*, Glm, const double* margins, const float* target, const float* weight,
                        std::size_t n, double* residuals, double* loss);
  // The expected curvature: weight · (dmean/dmargin)² / variance(mean). IRLS weights.
  void (*curvatures_f64)(Stream*, Glm, const double* margins, const float* weight, std::size_t n,
                         double* curvatures);
  // deviance += Σ weight · unit deviance
  void (*deviance_f64)(Stream*, Glm, const double* means, const float* target, const float* weight,
                       std::size_t n, double* deviance);
  // In place, rows × classes.
  void (*softmax)(Stream*, float* scores, std::size_t rows, std::size_t classes);
  // Scores become residuals (probability - 1 at the target's class), weighted; loss += Σ weight · -log p.
  void (*softmax_residuals)(Stream*, float* scores, const float* target, const float* weight,
                            std::size_t rows, std::size_t classes, double* loss);
  void (*softmax_residuals_f64)(Stream*, double* scores, const float* target, const float* weight,
                                std::size_t rows, std::size_t classes, double* loss);

  // Optimisers. Each row's coefficient steps its cells in turn: the gradient of a place is coefficient ·
  // value.
  void (*update_rows)(Stream*, const Optimizer&, const Rows&, const float* coefficients, std::size_t stride,
                      float* cells, float* bias);
  // The whole of a streaming solver's inner loop. loss += the loss of each batch before its step.
  void (*step_rows)(Stream*, const Step&, const Rows&, const Labels&, float* cells, float* bias,
                    double* loss);
  // One step of every coordinate.
  void (*update_dense)(Stream*, const Optimizer&, const float* gradient, std::size_t n, float* cells);
  // One step of the named coordinates, which are distinct; gradient[i] belongs to places[i].
  void (*update_places)(Stream*, const Optimizer&, const std::uint32_t* places, const float* gradient,
                        std::size_t n, float* cells);
  void (*weights_of_cells)(Stream*, const Optimizer&, const float* cells, std::size_t n, float* weights);
  // x moves towards the centre (EASGD, Algorithm 1).
  void (*elastic_pull)(Stream*, float* x, const float* center, std::size_t n, float alpha);

  // Reductions: *out = …; max of nothing is -infinity.
  void (*sum)(Stream*, const float* x, std::size_t n, double* out);
  void (*sum_squares)(Stream*, const float* x, std::size_t n, double* out);
  void (*dot)(Stream*, const float* x, const float* y, std::size_t n, double* out);
  void (*max)(Stream*, const float* x, std::size_t n, float* out);
  void (*dot_f64)(Stream*, const double* x, const double* y, std::size_t n, double* out);
  // y += a · x
  void (*axpy)(Stream*, float a, const float* x, std::size_t n, float* y);
  void (*axpy_f64)(Stream*, double a, const double* x, std::size_t n, double* y);

  // Dense products, matrices a row after the other: C = alpha · op(A) · op(B) + beta · C, C is m × n.
  void (*gemm)(Stream*, bool transpose_a, bool transpose_b, std::size_t m, std::size_t n, std::size_t k,
               float alpha, const float* a, std::size_t lda, const float* b, std::size_t ldb, float beta,
               float* c, std::size_t ldc);
  void (*gemm_f64)(Stream*, bool transpose_a, bool transpose_b, std::size_t m, std::size_t n, std::size_t k,
                   double alpha, const double* a, std::size_t lda, const double* b, std::size_t ldb,
                   double beta, double* c, std::size_t ldc);
  // y = alpha · op(A) · x + beta · y, A is m × n.
  void (*gemv)(Stream*, bool transpose, std::size_t m, std::size_t n, float alpha, const float* a,
               std::size_t lda, const float* x, float beta, float* y);

  // Symmetric positive systems of n unknowns, lower triangle, a row after the other. *info is 0, or the
  // number (from 1) of the first unknown that follows from those before it: the matrix is not positive there.
  void (*cholesky_f64)(Stream*, double* a, std::size_t n, int* info);
  // With the factor of cholesky_f64: x in place of b, `count` right sides of n values each.
  void (*cholesky_solve_f64)(Stream*, const double* factor, std::size_t n, std::size_t count, double* b);
  // The factor becomes the inverse of what was factored, both triangles.
  void (*cholesky_inverse_f64)(Stream*, double* factor, std::size_t n, int* info);
};

inline constexpr std::size_t kGramRows = 256;  // rows a block of gram_f64 takes at once
constexpr std::size_t gram_scratch(std::size_t dense_width) { return kGramRows * (dense_width + 1); }

// The CPU's table, for the best instruction set this processor has. Never fails.
const Table& cpu() noexcept;

}  // namespace samovar::kernels
