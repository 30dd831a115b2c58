#include "tests/kernels/naive.hpp"

namespace samovar::kernels {
namespace {

SAMOVAR_KERNEL_SUITE(Updates);

using Cell = std::vector<double>;

double shrink(double x, double by) { return x > by ? x - by : x < -by ? x + by : 0; }

double naive_weight(const Optimizer& o, const Cell& cell) {
  if (o.rule != Rule::ftrl) return cell[0];
  const auto scale = (static_cast<double>(o.epsilon) + std::sqrt(cell[1])) / static_cast<double>(o.rate);
  return -shrink(cell[0], static_cast<double>(o.l1)) / (scale + static_cast<double>(o.l2));
}

void naive_step(const Optimizer& o, Cell& cell, double g) {
  const auto rate = static_cast<double>(o.rate);
  const auto l1 = static_cast<double>(o.l1);
  const auto l2 = static_cast<double>(o.l2);
  const auto epsilon = static_cast<double>(o.epsilon);
  const auto momentum = static_cast<double>(o.momentum);
  const auto decay = static_cast<double>(o.decay);
  if (o.rule == Rule::ftrl) {
    const double w = naive_weight(o, cell);
    const double sigma = (std::sqrt(cell[1] + g * g) - std::sqrt(cell[1])) / rate;
    cell[0] += g - sigma * w;
    cell[1] += g * g;
    return;
  }
  g += l2 * cell[0];
  if (o.rule == Rule::adagrad) {
    cell[1] += g * g;
    const double step = rate / std::sqrt(cell[1] + epsilon);
    cell[0] = shrink(cell[0] - step * g, step * l1);
  } else if (o.rule == Rule::sgd) {
    cell[1] = momentum * cell[1] + g;
    const double by = o.ahead ? g + momentum * cell[1] : cell[1];
    cell[0] = shrink(cell[0] - rate * by, rate * l1);
  } else {
    cell[1] = momentum * cell[1] + (1 - momentum) * g;
    cell[2] = decay * cell[2] + (1 - decay) * g * g;
    const double mean = cell[1] / (1 - std::pow(momentum, o.step));
    const double root = std::sqrt(cell[2] / (1 - std::pow(decay, o.step))) + epsilon;
    cell[0] = shrink(cell[0] - rate * mean / root, rate * l1 / root);
  }
}

std::vector<Optimizer> optimizers() {
  std::vector<Optimizer> out;
  for (const Rule rule : {Rule::adagrad, Rule::ftrl, Rule::sgd, Rule::adam}) {
    for (const float l : {0.0f, 0.01f}) {
      Optimizer o;
      o.rule = rule;
      o.rate = 0.1f;
      o.l1 = l;
      o.l2 = l;
      o.step = 3;
      o.epsilon = rule == Rule::ftrl ? 1.0f : 1e-6f;
      out.push_back(o);
      o.ahead = true;
      if (rule == Rule::sgd) out.push_back(o);
    }
  }
  return out;
}

// Cells with a history: some fresh, none impossible.
std::vector<float> cells_for(const Optimizer& o, std::size_t n) {
  const std::size_t floats = cell_floats(o.rule);
  std::vector<float> cells = normals(n * floats, 11, 0.3f);
  for (std::size_t i = 0; i < n; ++i) {
    float* cell = cells.data() + i * floats;
    if (i % 5 == 0) {
      for (std::size_t k = 0; k < floats; ++k) cell[k] = 0;
    }
    if (o.rule == Rule::adagrad || o.rule == Rule::ftrl) cell[1] = std::abs(cell[1]);
    if (o.rule == Rule::adam) cell[2] = std::abs(cell[2]);
  }
  return cells;
}
std::vector<Cell> naive_cells(const Optimizer& o, const std::vector<float>& cells) {
  const std::size_t floats = cell_floats(o.rule);
  std::vector<Cell> out;
  for (std::size_t i = 0; i < cells.size(); i += floats) {
    out.emplace_back();
    for (std::size_t k = 0; k < floats; ++k) out.back().push_back(static_cast<double>(cells[i + k]));
  }
  return out;
}

void expect_cells(const Optimizer& o, const Buffer<float>& cells, const std::vector<Cell>& want,
                  double tolerance) {
  const std::size_t floats = cell_floats(o.rule);
  const std::vector<float> got = cells.values();
  for (std::size_t i = 0; i < want.size(); ++i) {
    for (std::size_t k = 0; k < floats; ++k)
      expect_close(static_cast<double>(got[i * floats + k]), want[i][k], tolerance,
                   "rule " + std::to_string(static_cast<int>(o.rule)) + " cell " + std::to_string(i) + "." +
                       std::to_string(k));
  }
}

TEST_P(Updates, EveryCoordinateOnce) {
  for (const Optimizer& o : optimizers()) {
    for (const std::size_t n : {1u, 7u, 64u, 301u}) {
      const std::vector<float> start = cells_for(o, n);
      const std::vector<float> g = normals(n, 12);
      auto cells = buffer(start);
      auto gradient = buffer(g);
      table().update_dense(stream_, o, gradient.data(), n, cells.data());
      wait();
      std::vector<Cell> want = naive_cells(o, start);
      for (std::size_t i = 0; i < n; ++i) naive_step(o, want[i], static_cast<double>(g[i]));
      expect_cells(o, cells, want, 3e-6);
    }
  }
}

TEST_P(Updates, NamedPlacesOnly) {
  for (const Optimizer& o : optimizers()) {
    const std::size_t n = 100;
    const std::vector<float> start = cells_for(o, n);
    std::vector<std::uint32_t> p;
    for (std::uint32_t i = 3; i < n; i += 7) p.push_back(static_cast<std::uint32_t>(n) - i);
    const std::vector<float> g = normals(p.size(), 13);
    auto cells = buffer(start);
    auto places = buffer(p);
    auto gradient = buffer(g);
    table().update_places(stream_, o, places.data(), gradient.data(), p.size(), cells.data());
    wait();
    std::vector<Cell> want = naive_cells(o, start);
    for (std::size_t i = 0; i < p.size(); ++i) naive_step(o, want[p[i]], static_cast<double>(g[i]));
    expect_cells(o, cells, want, 3e-6);
  }
}

TEST_P(Updates, WeightsAndMarginsOfCells) {
  for (const Optimizer& o : optimizers()) {
    for (const SampleShape& shape : kShapes) {
      const Sample sample = make_sample(shape);
      const Matrix x = sample.matrix();
      const DeviceRows rows(table(), sample);
      const std::vector<float> start = cells_for(o, sample.width + 1);
      auto cells = buffer(start);
      Buffer<float> weights(table(), sample.width);
      Buffer<float> out(table(), sample.rows);
      auto offset = buffer(normals(sample.rows, 4));
      float* const bias = cells.data() + sample.width * cell_floats(o.rule);
      table().weights_of_cells(stream_, o, cells.data(), sample.width, weights.data());
      table().margins_cells(stream_, o, *rows, cells.data(), bias, offset.data(), out.data(), 1);
      wait();
      const std::vector<Cell> want = naive_cells(o, start);
      Optimizer plain = o;
      plain.l1 = 0;
      plain.l2 = 0;
      for (std::uint32_t i = 0; i < sample.width; ++i)
        expect_close(static_cast<double>(weights[i]), naive_weight(o, want[i]), 3e-6, "weight");
      for (std::uint32_t row = 0; row < sample.rows; ++row) {
        double margin = naive_weight(plain, want[sample.width]) + static_cast<double>(offset[row]);
        for (std::uint32_t i = 0; i < sample.width; ++i) margin += x[row][i] * naive_weight(o, want[i]);
        expect_close(static_cast<double>(out[row]), margin, 2e-5, "margin");
      }
    }
  }
}

// Each touch of a cell in turn: slots first of the dense part, then as they stand in the row.
void naive_rows(const Optimizer& o, const Sample& s, std::uint32_t first, std::uint32_t end,
                const std::vector<double>& c, std::vector<Cell>& cells) {
  Optimizer plain = o;
  plain.l1 = 0;
  plain.l2 = 0;
  for (std::uint32_t row = first; row < end; ++row) {
    for (std::uint32_t i = 0; i < s.dense_width; ++i)
      naive_step(o, cells[i], c[row] * static_cast<double>(s.dense[std::size_t{row} * s.dense_width + i]));
    for (std::uint32_t i = 0; i < s.slot_width; ++i) {
      const std::uint32_t slot = s.slots[std::size_t{row} * s.slot_width + i];
      if (slot != kNoSlot) naive_step(o, cells[slot], c[row]);
    }
    for (std::uint32_t i = s.ragged ? (row == 0 ? 0 : s.ends[row - 1]) : 0; s.ragged && i < s.ends[row]; ++i)
      naive_step(o, cells[s.ragged_slots[i]], c[row] * static_cast<double>(s.ragged_values[i]));
    naive_step(plain, cells[s.width], c[row]);
  }
}

TEST_P(Updates, RowsStepTheirCellsInTurn) {
  for (const Optimizer& o : optimizers()) {
    for (const SampleShape& shape : kShapes) {
      const Sample sample = make_sample(shape);
      const DeviceRows rows(table(), sample);
      const std::vector<float> start = cells_for(o, sample.width + 1);
      const std::vector<float> c = normals(sample.rows, 14, 0.2f);
      auto cells = buffer(start);
      auto coefficients = buffer(c);
      float* const bias = cells.data() + sample.width * cell_floats(o.rule);
      table().update_rows(stream_, o, *rows, coefficients.data(), 1, cells.data(), bias);
      wait();
      std::vector<Cell> want = naive_cells(o, start);
      naive_rows(o, sample, 0, sample.rows, doubles(c), want);
      expect_cells(o, cells, want, 2e-4);
    }
  }
}

// More touches than a block of a device holds at once, all of few cells, some of which are in every row.
TEST_P(Updates, CrowdedCellsAreSteppedInTheOrderOfRows) {
  for (const Optimizer& o : optimizers()) {
    Sample sample = make_sample({300, 2, 9, true});
    for (std::uint32_t row = 0; row < sample.rows; ++row) {
      std::uint32_t* const slots = sample.slots.data() + std::size_t{row} * sample.slot_width;
      for (std::uint32_t i = 0; i < sample.slot_width; ++i) slots[i] = i == 0 ? 2 : 2 + (row + i) % 5;
      slots[row % sample.slot_width] = kNoSlot;
    }
    const DeviceRows rows(table(), sample);
    const std::vector<float> start = cells_for(o, sample.width + 1);
    const std::vector<float> c = normals(sample.rows, 18, 0.02f);
    auto cells = buffer(start);
    auto coefficients = buffer(c);
    float* const bias = cells.data() + sample.width * cell_floats(o.rule);
    table().update_rows(stream_, o, *rows, coefficients.data(), 1, cells.data(), bias);
    wait();
    std::vector<Cell> want = naive_cells(o, start);
    naive_rows(o, sample, 0, sample.rows, doubles(c), want);
    expect_cells(o, cells, want, 1e-3);
  }
}

TEST_P(Updates, OneRowIsTheSameOnEveryDevice) {
  for (const Optimizer& o : optimizers()) {
    Sample sample = make_sample({1, 5, 19, false});
    for (std::uint32_t i = 0; i < sample.slot_width; ++i) sample.slots[i] = 5 + 2 * i;  // no place twice
    const DeviceRows rows(table(), sample);
    const std::vector<float> start = cells_for(o, sample.width + 1);
    auto cells = buffer(start);
    Buffer<float> coefficient(table(), std::vector<float>{0.3f});
    float* const bias = cells.data() + sample.width * cell_floats(o.rule);
    table().update_rows(stream_, o, *rows, coefficient.data(), 1, cells.data(), bias);
    wait();
    std::vector<Cell> want = naive_cells(o, start);
    naive_rows(o, sample, 0, 1, {static_cast<double>(0.3f)}, want);
    expect_cells(o, cells, want, 3e-6);
  }
}

TEST_P(Updates, FusedStepIsItsParts) {
  for (const Optimizer& o : optimizers()) {
    for (const std::uint32_t batch : {1u, 8u, 64u}) {
      const Sample sample = make_sample({50, 3, 12, true});
      const Matrix x = sample.matrix();
      const DeviceRows rows(table(), sample);
      const std::vector<float> start = cells_for(o, sample.width + 1);
      auto cells = buffer(start);
      std::vector<float> y(sample.rows);
      for (std::uint32_t i = 0; i < sample.rows; ++i) y[i] = static_cast<float>(i % 2);
      auto target = buffer(y);
      auto weight = buffer(std::vector<float>(sample.rows, 0.5f));
      auto offset = buffer(normals(sample.rows, 15, 0.1f));
      Buffer<double> loss(table(), 1);
      Step step;
      step.glm = {Family::binomial, Link::logit, 1};
      step.optimizer = o;
      step.batch_rows = batch;
      const Labels labels{target.data(), weight.data(), offset.data()};
      float* const bias = cells.data() + sample.width * cell_floats(o.rule);
      table().step_rows(stream_, step, *rows, labels, cells.data(), bias, loss.data());
      wait();
      std::vector<Cell> want = naive_cells(o, start);
      Optimizer plain = o;
      plain.l1 = 0;
      plain.l2 = 0;
      double total = 0;
      std::vector<double> c(sample.rows);
      for (std::uint32_t first = 0; first < sample.rows; first += batch) {
        const std::uint32_t end = std::min(first + batch, sample.rows);
        for (std::uint32_t row = first; row < end; ++row) {
          double margin = naive_weight(plain, want[sample.width]) + static_cast<double>(offset[row]);
          for (std::uint32_t i = 0; i < sample.width; ++i) margin += x[row][i] * naive_weight(o, want[i]);
          const double mean = 1 / (1 + std::exp(-margin));
          total -= 0.5 * std::log(y[row] > 0 ? mean : 1 - mean);
          c[row] = 0.5 * (mean - static_cast<double>(y[row]));
        }
        naive_rows(o, sample, first, end, c, want);
      }
      expect_cells(o, cells, want, 2e-4);
      expect_close(loss[0], total, 1e-4, "loss");
    }
  }
}

TEST_P(Updates, ElasticPullMovesTowardsTheCentre) {
  const std::vector<float> start = normals(101, 16);
  const std::vector<float> c = normals(101, 17);
  auto x = buffer(start);
  auto center = buffer(c);
  table().elastic_pull(stream_, x.data(), center.data(), start.size(), 0.25f);
  wait();
  for (std::size_t i = 0; i < start.size(); ++i)
    expect_close(static_cast<double>(x[i]),
                 0.75 * static_cast<double>(start[i]) + 0.25 * static_cast<double>(c[i]), 1e-6, "x");
}

}  // namespace
}  // namespace samovar::kernels
