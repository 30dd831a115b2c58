// Optimisers: twins of kernels/cpu/updates.cpp.
//
// Cells are dealt out to blocks by their place. A block goes through the touches of a batch in the order of
// its rows, keeps those of its own cells, and one thread steps each cell by all of them in that order: no
// touch is lost, and the bits of the outcome do not depend on which thread came first.
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

// What a row of a batch does to one cell.
struct Touch {
  std::uint32_t place;  // kNoSlot: nothing
  float gradient;
};

// The touches of a batch, numbered in the order in which they count: a row after the other; of a row its
// numbers, its slots, its pairs.
class Touches {
 public:
  __device__ __forceinline__ Touches(const Rows& x, Batch batch, const float* coefficients,
                                     std::size_t stride)
      : x_(x),
        batch_(batch),
        coefficients_(coefficients),
        stride_(stride),
        fixed_(x.dense_width + x.slot_width),
        pairs_first_(x.ragged_ends == nullptr ? 0 : pairs_begin(batch.first)) {}

  // How many the rows before this one have.
  __device__ __forceinline__ std::uint32_t before(std::uint32_t row) const {
    const std::uint32_t fixed = (row - batch_.first) * fixed_;
    return x_.ragged_ends == nullptr ? fixed : fixed + pairs_begin(row) - pairs_first_;
  }
  __device__ __forceinline__ Touch at(std::uint32_t number) const {
    const std::uint32_t row = row_of(number);
    const std::uint32_t i = number - before(row);
    const float c = coefficients_[(row - batch_.first) * stride_];
    if (i < x_.dense_width) return {i, c * x_.dense[std::size_t{row} * x_.dense_width + i]};
    if (i < fixed_) return {x_.slots[std::size_t{row} * x_.slot_width + (i - x_.dense_width)], c};
    const std::uint32_t pair = pairs_begin(row) + (i - fixed_);
    return {x_.ragged_slots[pair], c * x_.ragged_values[pair]};
  }

 private:
  __device__ __forceinline__ std::uint32_t pairs_begin(std::uint32_t row) const {
    return row == 0 ? x_.ragged_begin : x_.ragged_ends[row - 1];
  }
  __device__ __forceinline__ std::uint32_t row_of(std::uint32_t number) const {
    if (x_.ragged_ends == nullptr) return batch_.first + number / fixed_;
    std::uint32_t low = batch_.first;  // the last row that begins at or before the number
    std::uint32_t high = batch_.end;
    while (high - low > 1) {
      const std::uint32_t middle = low + (high - low) / 2;
      if (before(middle) <= number)
        low = middle;
      else
        high = middle;
    }
    return low;
  }

  const Rows& x_;
  const Batch batch_;
  const float* const coefficients_;
  const std::size_t stride_;
  const std::uint32_t fixed_;
  const std::uint32_t pairs_first_;
};

constexpr unsigned kOwnersMost = 64;               // blocks that cells are dealt out to
constexpr std::uint32_t kHeldMost = 2 * kThreads;  // touches a block holds before it steps by them

// Each cell by its touches among the held ones: the thread of the first of them takes all.
template <Rule rule>
SAMOVAR_DEVICE void step_held(const Plan& plan, const Touch* held, std::uint32_t count, float* cells) {
  for (std::uint32_t i = threadIdx.x; i < count; i += kThreads) {
    const std::uint32_t place = held[i].place;
    std::uint32_t earlier = 0;
    while (earlier < i && held[earlier].place != place) ++earlier;
    if (earlier < i) continue;
    float cell[kCell<rule>];
    float* const home = cells + std::size_t{place} * kCell<rule>;
    for (std::size_t k = 0; k < kCell<rule>; ++k) cell[k] = home[k];
    for (std::uint32_t next = i; next < count; ++next) {
      if (held[next].place == place) ops::step_cell<rule>(cell, held[next].gradient, plan.o, plan.rates);
    }
    for (std::size_t k = 0; k < kCell<rule>; ++k) home[k] = cell[k];
  }
}

// The last block has the intercept, which every row touches; the others have the cells whose place leaves
// their number when it is divided by how many they are.
template <Rule rule>
__global__ void __launch_bounds__(kThreads)
    rows_in_order(Plan plan, Rows x, Batch batch, const float* coefficients, std::size_t stride, float* cells,
                  float* bias) {
  const unsigned owners = gridDim.x - 1;
  if (blockIdx.x == owners) {
    if (threadIdx.x != 0 || bias == nullptr) return;
    for (std::uint32_t row = batch.first; row < batch.end; ++row)
      ops::step_cell<rule>(bias, coefficients[(row - batch.first) * stride], plan.bias, plan.rates);
    return;
  }
  __shared__ Touch held[kHeldMost];
  __shared__ std::uint32_t warp_counts[kThreads / kWarp];
  const Touches touches(x, batch, coefficients, stride);
  const std::uint32_t total = touches.before(batch.end);
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned warp = threadIdx.x / kWarp;
  std::uint32_t count = 0;  // the same in all threads
  for (std::uint32_t first = 0; first < total; first += kThreads) {
    Touch touch{kNoSlot, 0};
    if (total - first > threadIdx.x) touch = touches.at(first + threadIdx.x);
    const bool own = touch.place != kNoSlot && touch.place % owners == blockIdx.x;
    const unsigned owned = __ballot_sync(kAllLanes, own);
    if (lane == 0) warp_counts[warp] = static_cast<std::uint32_t>(__popc(owned));
    __syncthreads();
    std::uint32_t to = count + static_cast<std::uint32_t>(__popc(owned & ((1u << lane) - 1)));
    for (unsigned w = 0; w < kThreads / kWarp; ++w) {
      if (w < warp) to += warp_counts[w];
      count += warp_counts[w];
    }
    if (own) held[to] = touch;
    __syncthreads();
    // The next ones may be all its own.
    if (count <= kHeldMost - kThreads && total - first > kThreads) continue;
    step_held<rule>(plan, held, count, cells);
    count = 0;
    __syncthreads();
  }
}

void batch_update(Stream* stream, const Optimizer& o, const Rows& x, Batch batch, const float* coefficients,
                  std::size_t stride, float* cells, float* bias) {
  constexpr std::uint32_t kTouchesMost = 1u << 31;  // of a launch, which numbers them in 32 bits
  const std::uint32_t fixed = x.dense_width + x.slot_width;
  const std::uint32_t rows_most = fixed < 2 ? kTouchesMost : kTouchesMost / fixed;
  const std::size_t touches = std::size_t{batch.end - batch.first} * fixed;
  const auto owners = static_cast<unsigned>(
      x.ragged_ends != nullptr || touches / kHeldMost >= kOwnersMost ? kOwnersMost : touches / kHeldMost + 1);
  while (batch.first < batch.end) {
    const Batch part{batch.first, batch.end - batch.first > rows_most ? batch.first + rows_most : batch.end};
    ops::with_rule(o.rule, [&](auto rule) {
      SAMOVAR_LAUNCH((rows_in_order<decltype(rule)::value>), owners + 1, kThreads, stream->queue, Plan(o), x,
                     part, coefficients, stride, cells, bias);
    });
    coefficients += std::size_t{part.end - part.first} * stride;
    batch.first = part.end;
  }
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
