// Optimisers: twins of kernels/cpu/updates.cpp.
//
// Rows of a batch are stepped side by side. A cell of two floats is one word of 64 bits, which a
// compare-and-swap changes as a whole: every touch counts, only their order is open. Adam's cells are too
// wide for that: their rows are stepped in turn, by one block.
#include "kernels/cuda/row_view.hpp"
#include "kernels/ops/choose.hpp"
#include "kernels/ops/optimizer.hpp"

namespace samovar::kernels {
namespace {

using namespace gpu;

// As the compiler's own number: a function of the host is not called on the device.
template <Rule rule>
constexpr std::size_t kCell = cell_floats(rule);

struct Plan {
  explicit Plan(const Optimizer& optimizer) : o(optimizer), rates(ops::rates_of(optimizer)), bias(optimizer) {
    bias.l1 = 0;  // an intercept is not shrunk
    bias.l2 = 0;
  }
  Optimizer o;
  ops::Rates rates;
  Optimizer bias;
};

// Rows of a batch: from `first` up to `end`; their margins and coefficients are counted from `first`.
struct Batch {
  std::uint32_t first;
  std::uint32_t end;
};

union PairWord {
  unsigned long long word;
  float cell[2];
};

template <Rule rule>
SAMOVAR_DEVICE void step_shared(float* cell, float g, const Optimizer& o, const ops::Rates& rates) {
  auto* const place = reinterpret_cast<unsigned long long*>(cell);
  PairWord before;
  before.word = atomicAdd(place, 0ull);
  for (;;) {
    PairWord after = before;
    ops::step_cell<rule>(after.cell, g, o, rates);
    const unsigned long long seen = atomicCAS(place, before.word, after.word);
    if (seen == before.word) return;
    before.word = seen;
  }
}

template <Rule rule>
__global__ void __launch_bounds__(kThreads)
    cell_margins(Plan plan, Rows x, Batch batch, const float* cells, const float* bias, const float* offset,
                 float* out, std::size_t out_stride) {
  const unsigned lane = threadIdx.x % kWarp;
  const float start = bias != nullptr ? ops::cell_weight<rule>(bias, plan.bias, plan.rates) : 0.0f;
  for (std::uint32_t row = batch.first + first_warp(); row < batch.end; row += warp_stride()) {
    float sum = 0;
    each_of_row(x, row, lane, kWarp, [&](std::uint32_t place, float value) {
      sum += value * ops::cell_weight<rule>(cells + std::size_t{place} * kCell<rule>, plan.o, plan.rates);
    });
    sum = warp_sum(sum);
    if (lane == 0)
      out[(row - batch.first) * out_stride] = sum + start + (offset != nullptr ? offset[row] : 0.0f);
  }
}
void batch_margins(Stream* stream, const Optimizer& o, const Rows& x, Batch batch, const float* cells,
                   const float* bias, const float* offset, float* out, std::size_t out_stride) {
  const std::size_t rows = batch.end - batch.first;
  ops::with_rule(o.rule, [&](auto rule) {
    SAMOVAR_LAUNCH((cell_margins<decltype(rule)::value>), blocks_for(rows * kWarp), kThreads, stream->queue,
                   Plan(o), x, batch, cells, bias, offset, out, out_stride);
  });
}
void margins_cells(Stream* stream, const Optimizer& o, const Rows& x, const float* cells, const float* bias,
                   const float* offset, float* out, std::size_t out_stride) {
  batch_margins(stream, o, x, Batch{0, x.rows}, cells, bias, offset, out, out_stride);
}

template <Rule rule>
__global__ void __launch_bounds__(kThreads)
    row_steps(Plan plan, Rows x, Batch batch, const float* coefficients, std::size_t stride, float* cells,
              float* bias) {
  const unsigned lane = threadIdx.x % kWarp;
  for (std::uint32_t row = batch.first + first_warp(); row < batch.end; row += warp_stride()) {
    const float c = coefficients[(row - batch.first) * stride];
    each_of_row(x, row, lane, kWarp, [&](std::uint32_t place, float value) {
      step_shared<rule>(cells + std::size_t{place} * 2, c * value, plan.o, plan.rates);
    });
    if (lane == 0 && bias != nullptr) step_shared<rule>(bias, c, plan.bias, plan.rates);
  }
}

// One block, one row after the other. Numbers and slots of a row may meet in a cell only if it stands twice
// in the row: those are stepped by one thread.
__global__ void __launch_bounds__(kThreads)
    rows_in_turn(Plan plan, Rows x, Batch batch, const float* coefficients, std::size_t stride, float* cells,
                 float* bias) {
  for (std::uint32_t row = batch.first; row < batch.end; ++row) {
    const float c = coefficients[(row - batch.first) * stride];
    Rows numbers = x;
    numbers.slot_width = 0;
    numbers.ragged_ends = nullptr;
    each_of_row(numbers, row, threadIdx.x, blockDim.x, [&](std::uint32_t place, float value) {
      ops::step_cell<Rule::adam>(cells + std::size_t{place} * 4, c * value, plan.o, plan.rates);
    });
    __syncthreads();
    if (threadIdx.x == 0) {
      Rows places = x;
      places.dense_width = 0;
      each_of_row(places, row, 0, 1, [&](std::uint32_t place, float value) {
        ops::step_cell<Rule::adam>(cells + std::size_t{place} * 4, c * value, plan.o, plan.rates);
      });
      if (bias != nullptr) ops::step_cell<Rule::adam>(bias, c, plan.bias, plan.rates);
    }
    __syncthreads();
  }
}

void batch_update(Stream* stream, const Optimizer& o, const Rows& x, Batch batch, const float* coefficients,
                  std::size_t stride, float* cells, float* bias) {
  const std::size_t rows = batch.end - batch.first;
  ops::with_rule(o.rule, [&](auto rule) {
    constexpr Rule kRule = decltype(rule)::value;
    if constexpr (kRule == Rule::adam) {
      SAMOVAR_LAUNCH(rows_in_turn, 1, kThreads, stream->queue, Plan(o), x, batch, coefficients, stride, cells,
                     bias);
    } else {
      SAMOVAR_LAUNCH((row_steps<kRule>), blocks_for(rows * kWarp), kThreads, stream->queue, Plan(o), x, batch,
                     coefficients, stride, cells, bias);
    }
  });
}
void update_rows(Stream* stream, const Optimizer& o, const Rows& x, const float* coefficients,
                 std::size_t stride, float* cells, float* bias) {
  batch_update(stream, o, x, Batch{0, x.rows}, coefficients, stride, cells, bias);
}

void step_rows(Stream* stream, const Step& step, const Rows& x, const Labels& labels, float* cells,
               float* bias, double* loss) {
  Table table{};
  fill_cuda_families(table);
  const std::uint32_t size = step.batch_rows < kStepRowsMax ? step.batch_rows : kStepRowsMax;
  float* const bias_cell = step.bias ? bias : nullptr;
  for (std::uint32_t first = 0; first < x.rows; first += size) {
    const Batch batch{first, x.rows - first < size ? x.rows : first + size};
    const float* weight = labels.weight != nullptr ? labels.weight + first : nullptr;
    batch_margins(stream, step.optimizer, x, batch, cells, bias_cell, labels.offset, stream->scratch, 1);
    table.residuals(stream, step.glm, stream->scratch, labels.target + first, weight, batch.end - first,
                    stream->scratch, loss);
    batch_update(stream, step.optimizer, x, batch, stream->scratch, 1, cells, bias_cell);
  }
}

template <Rule rule>
__global__ void __launch_bounds__(kThreads)
    dense_steps(Plan plan, const std::uint32_t* places, const float* gradient, std::size_t n, float* cells) {
  for (std::size_t i = first_index(); i < n; i += index_stride()) {
    const std::size_t place = places != nullptr ? places[i] : i;
    ops::step_cell<rule>(cells + place * kCell<rule>, gradient[i], plan.o, plan.rates);
  }
}
void update_places(Stream* stream, const Optimizer& o, const std::uint32_t* places, const float* gradient,
                   std::size_t n, float* cells) {
  ops::with_rule(o.rule, [&](auto rule) {
    SAMOVAR_LAUNCH((dense_steps<decltype(rule)::value>), blocks_for(n), kThreads, stream->queue, Plan(o),
                   places, gradient, n, cells);
  });
}
void update_dense(Stream* stream, const Optimizer& o, const float* gradient, std::size_t n, float* cells) {
  update_places(stream, o, nullptr, gradient, n, cells);
}

template <Rule rule>
__global__ void __launch_bounds__(kThreads)
    cell_weights(Plan plan, const float* cells, std::size_t n, float* weights) {
  for (std::size_t i = first_index(); i < n; i += index_stride())
    weights[i] = ops::cell_weight<rule>(cells + i * kCell<rule>, plan.o, plan.rates);
}
void weights_of_cells(Stream* stream, const Optimizer& o, const float* cells, std::size_t n, float* weights) {
  ops::with_rule(o.rule, [&](auto rule) {
    SAMOVAR_LAUNCH((cell_weights<decltype(rule)::value>), blocks_for(n), kThreads, stream->queue, Plan(o),
                   cells, n, weights);
  });
}

}  // namespace

void fill_cuda_updates(Table& table) {
  table.margins_cells = margins_cells;
  table.update_rows = update_rows;
  table.step_rows = step_rows;
  table.update_dense = update_dense;
  table.update_places = update_places;
  table.weights_of_cells = weights_of_cells;
}

}  // namespace samovar::kernels
