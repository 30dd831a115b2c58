// Optimisers: cells to weights, rows to steps, and the fused loop of the streaming solvers.
#include "kernels/cpu/lanes.hpp"
#include "kernels/cpu/row_parts.hpp"
#include "kernels/cpu/variant.hpp"
#include "kernels/ops/choose.hpp"
#include "kernels/ops/optimizer.hpp"

namespace samovar::kernels::SAMOVAR_KERNELS_VARIANT {
namespace {

using lanes::Floats;
using lanes::Ints;
using lanes::kLanes;

using ops::with_rule;

// An optimiser and what follows from it.
struct Plan {
  explicit Plan(const Optimizer& optimizer) : o(optimizer), rates(ops::rates_of(optimizer)), bias(optimizer) {
    bias.l1 = 0;  // an intercept is not shrunk
    bias.l2 = 0;
  }
  Optimizer o;
  ops::Rates rates;
  Optimizer bias;
};

// The weights at a row's slots, added up.
template <Rule rule>
float slot_sum(const Plan& plan, const std::uint32_t* slots, std::size_t n, const float* cells) {
  constexpr std::size_t kCell = cell_floats(rule);
  std::size_t i = 0;
  float sum = 0;
  if constexpr (rule == Rule::ftrl) {
    Floats sums = lanes::spread(0);
    while (i < n && n >= kLanes) {
      // The last group reaches back over slots that were added already, and leaves those out.
      const std::size_t left = n - i < kLanes ? n - i : kLanes;
      const std::uint32_t* const group = slots + i + left - kLanes;
      if (__builtin_expect(lanes::any_none(lanes::load(group)), 0)) break;
      i += left;
      const lanes::Pairs p = lanes::gather(cells, group);
      const Floats weights = ops::weight_of<rule, Ints, Floats>(p.first, p.second, plan.o, plan.rates);
      sums += left < kLanes ? (lanes::newest(left) ? weights : lanes::spread(0)) : weights;
    }
    sum = lanes::sum(sums);
  } else {
    // Loads alone: four sums keep them from waiting for each other.
    float a = 0, b = 0, c = 0, d = 0;
    for (; i + kLanes <= n && !lanes::any_none(lanes::load(slots + i)); i += kLanes) {
      for (std::size_t j = i; j < i + kLanes; j += 4) {
        a += cells[slots[j] * kCell];
        b += cells[slots[j + 1] * kCell];
        c += cells[slots[j + 2] * kCell];
        d += cells[slots[j + 3] * kCell];
      }
    }
    sum = (a + c) + (b + d);
  }
  for (; i < n; ++i) {
    if (slots[i] != kNoSlot) sum += ops::cell_weight<rule>(cells + slots[i] * kCell, plan.o, plan.rates);
  }
  return sum;
}

template <Rule rule>
float margin_of_cells(const Plan& plan, const Rows& x, std::uint32_t row, const float* cells) {
  constexpr std::size_t kCell = cell_floats(rule);
  float sum = slot_sum<rule>(plan, x.slots + std::size_t{row} * x.slot_width, x.slot_width, cells);
  const float* dense = x.dense + std::size_t{row} * x.dense_width;
  for (std::size_t i = 0; i < x.dense_width; ++i)
    sum += dense[i] * ops::cell_weight<rule>(cells + i * kCell, plan.o, plan.rates);
  if (x.ragged_ends != nullptr) {
    for (std::uint32_t i = ragged_begin(x, row); i < x.ragged_ends[row]; ++i)
      sum +=
          x.ragged_values[i] * ops::cell_weight<rule>(cells + x.ragged_slots[i] * kCell, plan.o, plan.rates);
  }
  return sum;
}

// Brings cells of a row to come into the cache while others are worked on.
inline void prefetch_cells(const std::uint32_t* slots, std::size_t n, const float* cells, std::size_t cell) {
  for (std::size_t i = 0; i < n; ++i) {
    // A place that is none is fetched as well: an address is only asked for, never read.
    __builtin_prefetch(cells + slots[i] * cell, 1, 3);
  }
}

// `ahead`, unless null, are the slots of a row to come: their cells are asked for a few at a time between the
// steps of this one. All at once would be more than a processor keeps in flight.
template <Rule rule, bool kShrinks>
inline void step_slots(const Plan& plan, const std::uint32_t* slots, std::size_t n, float c, float* cells,
                       const std::uint32_t* ahead) {
  constexpr std::size_t kCell = cell_floats(rule);
  if constexpr (kCell == 2) {
    const Floats gradient = lanes::spread(c);
    std::size_t i = 0;
    while (i < n && n >= kLanes) {
      // The last group reaches back over slots that were stepped already, and leaves those as they are.
      const std::size_t left = n - i < kLanes ? n - i : kLanes;
      const std::uint32_t* const group = slots + i + left - kLanes;
      if (ahead != nullptr) prefetch_cells(ahead + (group - slots), kLanes, cells, kCell);
      i += left;
      if (__builtin_expect(lanes::must_take_turns(lanes::load(group)), 0)) {
        for (std::size_t j = kLanes - left; j < kLanes; ++j) {
          if (group[j] != kNoSlot) ops::step_cell<rule>(cells + group[j] * kCell, c, plan.o, plan.rates);
        }
        continue;
      }
      lanes::Pairs p = lanes::gather(cells, group);
      const lanes::Pairs before = p;
      ops::step_pair<rule, kShrinks, Ints, Floats>(p.first, p.second, gradient, plan.o, plan.rates);
      if (left < kLanes) {
        const Ints fresh = lanes::newest(left);
        p.first = fresh ? p.first : before.first;
        p.second = fresh ? p.second : before.second;
      }
      lanes::scatter(cells, group, p);
    }
    if (n >= kLanes) return;
  }
  if (ahead != nullptr) prefetch_cells(ahead, n, cells, kCell);
  for (std::size_t i = 0; i < n; ++i) {
    if (slots[i] != kNoSlot) ops::step_cell<rule>(cells + slots[i] * kCell, c, plan.o, plan.rates);
  }
}

template <Rule rule>
void step_dense(const Plan& plan, const float* gradient, std::size_t n, float scale, float* cells) {
  constexpr std::size_t kCell = cell_floats(rule);
  std::size_t i = 0;
  if constexpr (kCell == 2) {
    for (; i + kLanes <= n; i += kLanes) {
      lanes::Pairs p = lanes::gather(cells + i * kCell, lanes::kInOrder);
      ops::step_pair<rule, true, Ints, Floats>(p.first, p.second, scale * lanes::load(gradient + i), plan.o,
                                               plan.rates);
      lanes::scatter(cells + i * kCell, lanes::kInOrder, p);
    }
  }
  for (; i < n; ++i) ops::step_cell<rule>(cells + i * kCell, scale * gradient[i], plan.o, plan.rates);
}

template <Rule rule, bool kShrinks>
inline void step_row(const Plan& plan, const Rows& x, std::uint32_t row, float c, float* cells,
                     const std::uint32_t* ahead) {
  constexpr std::size_t kCell = cell_floats(rule);
  if (x.dense_width != 0)
    step_dense<rule>(plan, x.dense + std::size_t{row} * x.dense_width, x.dense_width, c, cells);
  step_slots<rule, kShrinks>(plan, x.slots + std::size_t{row} * x.slot_width, x.slot_width, c, cells, ahead);
  if (x.ragged_ends != nullptr) {
    for (std::uint32_t i = ragged_begin(x, row); i < x.ragged_ends[row]; ++i)
      ops::step_cell<rule>(cells + x.ragged_slots[i] * kCell, c * x.ragged_values[i], plan.o, plan.rates);
  }
}

// How many rows ahead: their cells come from memory while those before them are worked on, and are still in
// the first cache then.
constexpr std::uint32_t kRowsAhead = 6;

// `fetches`: nobody has asked for the cells of these rows yet.
template <Rule rule>
void margins_of_rows(const Plan& shared, const Rows& x, const float* cells, const float* bias,
                     const float* offset, float* out, std::size_t out_stride, bool fetches = true) {
  const Plan plan = shared;  // nobody else's: it stays in registers
  const float start = bias != nullptr ? ops::cell_weight<rule>(bias, plan.bias, plan.rates) : 0.0f;
  for (std::uint32_t row = 0; row < x.rows; ++row) {
    if (fetches && row + kRowsAhead < x.rows)
      prefetch_cells(x.slots + std::size_t{row + kRowsAhead} * x.slot_width, x.slot_width, cells,
                     cell_floats(rule));
    const float known = offset != nullptr ? start + offset[row] : start;
    out[row * out_stride] = known + margin_of_cells<rule>(plan, x, row, cells);
  }
}

void margins_cells(Stream*, const Optimizer& o, const Rows& x, const float* cells, const float* bias,
                   const float* offset, float* out, std::size_t out_stride) {
  const Plan plan(o);
  with_rule(o.rule, [&](auto rule) {
    margins_of_rows<decltype(rule)::value>(plan, x, cells, bias, offset, out, out_stride);
  });
}

// `following` rows come after these, and are asked for meanwhile: each as one of these is stepped.
template <Rule rule, bool kShrinks>
void update_in_turn(const Plan& shared, const Rows& x, const float* coefficients, std::size_t stride,
                    float* cells, float* bias, std::uint32_t following) {
  const Plan plan = shared;  // nobody else's: a write to a cell cannot change it, and it stays in registers
  for (std::uint32_t row = 0; row < x.rows; ++row) {
    const float c = coefficients[row * stride];
    const std::uint32_t* const ahead =
        row < following ? x.slots + (std::size_t{row} + x.rows) * x.slot_width : nullptr;
    step_row<rule, kShrinks>(plan, x, row, c, cells, ahead);
    if (bias != nullptr) ops::step_cell<rule>(bias, c, plan.bias, plan.rates);
  }
}
template <Rule rule>
void update_of_rows(const Plan& plan, const Rows& x, const float* coefficients, std::size_t stride,
                    float* cells, float* bias, std::uint32_t following = 0) {
  if (plan.o.l1 == 0 && plan.o.l2 == 0)
    update_in_turn<rule, false>(plan, x, coefficients, stride, cells, bias, following);
  else
    update_in_turn<rule, true>(plan, x, coefficients, stride, cells, bias, following);
}

void update_rows(Stream*, const Optimizer& o, const Rows& x, const float* coefficients, std::size_t stride,
                 float* cells, float* bias) {
  const Plan plan(o);
  with_rule(o.rule, [&](auto rule) {
    update_of_rows<decltype(rule)::value>(plan, x, coefficients, stride, cells, bias);
  });
}

void step_rows(Stream* stream, const Step& step, const Rows& x, const Labels& labels, float* cells,
               float* bias, double* loss) {
  Table families{};
  fill_families(families);
  const Plan plan(step.optimizer);
  float margins[kStepRowsMax];
  const std::uint32_t batch = step.batch_rows < kStepRowsMax ? step.batch_rows : kStepRowsMax;
  float* const bias_cell = step.bias ? bias : nullptr;
  with_rule(step.optimizer.rule, [&](auto rule) {
    constexpr Rule kRule = decltype(rule)::value;
    for (std::uint32_t first = 0; first < x.rows; first += batch) {
      const std::uint32_t count = x.rows - first < batch ? x.rows - first : batch;
      const Rows rows = part(x, first, count);
      const float* offset = labels.offset != nullptr ? labels.offset + first : nullptr;
      const float* weight = labels.weight != nullptr ? labels.weight + first : nullptr;
      margins_of_rows<kRule>(plan, rows, cells, bias_cell, offset, margins, 1, first == 0);
      families.residuals(stream, step.glm, margins, labels.target + first, weight, count, margins, loss);
      update_of_rows<kRule>(plan, rows, margins, 1, cells, bias_cell, x.rows - first - count);
    }
  });
}

void update_dense(Stream*, const Optimizer& o, const float* gradient, std::size_t n, float* cells) {
  const Plan plan(o);
  with_rule(o.rule, [&](auto rule) { step_dense<decltype(rule)::value>(plan, gradient, n, 1, cells); });
}

void update_places(Stream*, const Optimizer& o, const std::uint32_t* places, const float* gradient,
                   std::size_t n, float* cells) {
  const Plan plan(o);
  with_rule(o.rule, [&](auto rule) {
    constexpr Rule kRule = decltype(rule)::value;
    for (std::size_t i = 0; i < n; ++i)
      ops::step_cell<kRule>(cells + places[i] * cell_floats(kRule), gradient[i], plan.o, plan.rates);
  });
}

void weights_of_cells(Stream*, const Optimizer& o, const float* cells, std::size_t n, float* weights) {
  const Plan plan(o);
  with_rule(o.rule, [&](auto rule) {
    constexpr Rule kRule = decltype(rule)::value;
    for (std::size_t i = 0; i < n; ++i)
      weights[i] = ops::cell_weight<kRule>(cells + i * cell_floats(kRule), plan.o, plan.rates);
  });
}

}  // namespace

void fill_updates(Table& table) noexcept {
  table.margins_cells = margins_cells;
  table.update_rows = update_rows;
  table.step_rows = step_rows;
  table.update_dense = update_dense;
  table.update_places = update_places;
  table.weights_of_cells = weights_of_cells;
}

}  // namespace samovar::kernels::SAMOVAR_KERNELS_VARIANT
