// Optimisers: cells to weights, rows to steps, and the fused loop of the streaming solvers.
#include "kernels/ops/optimizer.hpp"

#include "kernels/cpu/variant.hpp"

namespace samovar::kernels::SAMOVAR_KERNELS_VARIANT {
namespace {

template <Rule rule>
struct RuleIs {
  static constexpr Rule value = rule;
};
template <class F>
inline void with_rule(Rule rule, F f) {
  switch (rule) {
    case Rule::adagrad:
      return f(RuleIs<Rule::adagrad>{});
    case Rule::ftrl:
      return f(RuleIs<Rule::ftrl>{});
    case Rule::sgd:
      return f(RuleIs<Rule::sgd>{});
    case Rule::adam:
      return f(RuleIs<Rule::adam>{});
  }
}

// An intercept is not shrunk.
inline Optimizer unregularised(Optimizer o) {
  o.l1 = 0;
  o.l2 = 0;
  return o;
}

inline std::uint32_t ragged_begin(const Rows& x, std::uint32_t row) {
  return row == 0 ? x.ragged_begin : x.ragged_ends[row - 1];
}

template <Rule rule>
float margin_of_cells(const Optimizer& o, const Rows& x, std::uint32_t row, const float* cells) {
  constexpr std::size_t kCell = cell_floats(rule);
  float sum = 0;
  const float* dense = x.dense + std::size_t{row} * x.dense_width;
  for (std::size_t i = 0; i < x.dense_width; ++i)
    sum += dense[i] * ops::weight_of<rule>(cells + i * kCell, o);
  const std::uint32_t* slots = x.slots + std::size_t{row} * x.slot_width;
  for (std::size_t i = 0; i < x.slot_width; ++i) {
    if (slots[i] != kNoSlot) sum += ops::weight_of<rule>(cells + slots[i] * kCell, o);
  }
  if (x.ragged_ends != nullptr) {
    for (std::uint32_t i = ragged_begin(x, row); i < x.ragged_ends[row]; ++i)
      sum += x.ragged_values[i] * ops::weight_of<rule>(cells + x.ragged_slots[i] * kCell, o);
  }
  return sum;
}

template <Rule rule>
void step_row(const Optimizer& o, const ops::Rates& r, const Rows& x, std::uint32_t row, float c,
              float* cells) {
  constexpr std::size_t kCell = cell_floats(rule);
  const float* dense = x.dense + std::size_t{row} * x.dense_width;
  for (std::size_t i = 0; i < x.dense_width; ++i) ops::step_cell<rule>(cells + i * kCell, c * dense[i], o, r);
  const std::uint32_t* slots = x.slots + std::size_t{row} * x.slot_width;
  for (std::size_t i = 0; i < x.slot_width; ++i) {
    if (slots[i] != kNoSlot) ops::step_cell<rule>(cells + slots[i] * kCell, c, o, r);
  }
  if (x.ragged_ends != nullptr) {
    for (std::uint32_t i = ragged_begin(x, row); i < x.ragged_ends[row]; ++i)
      ops::step_cell<rule>(cells + x.ragged_slots[i] * kCell, c * x.ragged_values[i], o, r);
  }
}

// Rows from `first` on, `count` of them.
inline Rows part(const Rows& x, std::uint32_t first, std::uint32_t count) {
  Rows out = x;
  out.rows = count;
  if (x.dense != nullptr) out.dense = x.dense + std::size_t{first} * x.dense_width;
  if (x.slots != nullptr) out.slots = x.slots + std::size_t{first} * x.slot_width;
  if (x.ragged_ends != nullptr) {
    out.ragged_ends = x.ragged_ends + first;
    out.ragged_begin = ragged_begin(x, first);
  }
  return out;
}

void margins_cells(Stream*, const Optimizer& o, const Rows& x, const float* cells, const float* bias,
                   const float* offset, float* out, std::size_t out_stride) {
  with_rule(o.rule, [&](auto rule) {
    constexpr Rule kRule = decltype(rule)::value;
    const float start = bias != nullptr ? ops::weight_of<kRule>(bias, unregularised(o)) : 0.0f;
    for (std::uint32_t row = 0; row < x.rows; ++row)
      out[row * out_stride] =
          start + (offset != nullptr ? offset[row] : 0.0f) + margin_of_cells<kRule>(o, x, row, cells);
  });
}

void update_rows(Stream*, const Optimizer& o, const Rows& x, const float* coefficients, std::size_t stride,
                 float* cells, float* bias) {
  const ops::Rates rates = ops::rates_of(o);
  const Optimizer plain = unregularised(o);
  with_rule(o.rule, [&](auto rule) {
    constexpr Rule kRule = decltype(rule)::value;
    for (std::uint32_t row = 0; row < x.rows; ++row) {
      const float c = coefficients[row * stride];
      step_row<kRule>(o, rates, x, row, c, cells);
      if (bias != nullptr) ops::step_cell<kRule>(bias, c, plain, rates);
    }
  });
}

void step_rows(Stream* stream, const Step& step, const Rows& x, const Labels& labels, float* cells,
               float* bias, double* loss) {
  Table families{};
  fill_families(families);
  float margins[kStepRowsMax];
  const std::uint32_t batch = step.batch_rows < kStepRowsMax ? step.batch_rows : kStepRowsMax;
  float* const bias_cell = step.bias ? bias : nullptr;
  for (std::uint32_t first = 0; first < x.rows; first += batch) {
    const std::uint32_t count = x.rows - first < batch ? x.rows - first : batch;
    const Rows rows = part(x, first, count);
    const float* offset = labels.offset != nullptr ? labels.offset + first : nullptr;
    const float* weight = labels.weight != nullptr ? labels.weight + first : nullptr;
    margins_cells(stream, step.optimizer, rows, cells, bias_cell, offset, margins, 1);
    families.residuals(stream, step.glm, margins, labels.target + first, weight, count, margins, loss);
    update_rows(stream, step.optimizer, rows, margins, 1, cells, bias_cell);
  }
}

void update_dense(Stream*, const Optimizer& o, const float* gradient, std::size_t n, float* cells) {
  const ops::Rates rates = ops::rates_of(o);
  with_rule(o.rule, [&](auto rule) {
    constexpr Rule kRule = decltype(rule)::value;
    for (std::size_t i = 0; i < n; ++i)
      ops::step_cell<kRule>(cells + i * cell_floats(kRule), gradient[i], o, rates);
  });
}

void update_places(Stream*, const Optimizer& o, const std::uint32_t* places, const float* gradient,
                   std::size_t n, float* cells) {
  const ops::Rates rates = ops::rates_of(o);
  with_rule(o.rule, [&](auto rule) {
    constexpr Rule kRule = decltype(rule)::value;
    for (std::size_t i = 0; i < n; ++i)
      ops::step_cell<kRule>(cells + places[i] * cell_floats(kRule), gradient[i], o, rates);
  });
}

void weights_of_cells(Stream*, const Optimizer& o, const float* cells, std::size_t n, float* weights) {
  with_rule(o.rule, [&](auto rule) {
    constexpr Rule kRule = decltype(rule)::value;
    for (std::size_t i = 0; i < n; ++i) weights[i] = ops::weight_of<kRule>(cells + i * cell_floats(kRule), o);
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
