#include "trainer/solvers/row_source.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "base/assert.hpp"
#include "trainer/features/labels.hpp"
#include "trainer/sync/council.hpp"

namespace samovar::trainer {

namespace {

bool counts(const EncodedBatch& batch, std::uint32_t row) {
  return batch.weight.empty() || batch.weight[row] > 0;
}

template <class T>
void move_row(std::vector<T>& values, std::size_t width, std::uint32_t from, std::uint32_t to) {
  if (values.empty() || width == 0) return;
  std::memmove(values.data() + to * width, values.data() + from * width, width * sizeof(T));
}

void shrink_to(EncodedBatch& batch, std::uint32_t rows, std::size_t pairs) {
  batch.rows = rows;
  batch.dense.resize(rows * batch.dense_width);
  batch.slots.resize(rows * batch.slot_width);
  const auto shrink = [rows](auto& values) {
    if (!values.empty()) values.resize(rows);
  };
  shrink(batch.ragged_ends);
  shrink(batch.target);
  shrink(batch.weight);
  shrink(batch.offset);
  if (!batch.ragged_slots.empty()) {
    batch.ragged_slots.resize(pairs);
    batch.ragged_values.resize(pairs);
    if (!batch.ragged_inputs.empty()) batch.ragged_inputs.resize(pairs);
  }
}

std::size_t bytes_of(const EncodedBatch& batch) {
  return (batch.dense.size() + batch.slots.size() + batch.ragged_ends.size() + 2 * batch.ragged_slots.size() +
          batch.target.size() + batch.weight.size() + batch.offset.size()) *
             sizeof(float) +
         batch.ragged_inputs.size() * sizeof(std::uint16_t) + sizeof batch;
}

}  // namespace

kernels::Rows kernel_rows(const EncodedBatch& batch) {
  kernels::Rows rows;
  rows.rows = batch.rows;
  rows.dense_width = static_cast<std::uint32_t>(batch.dense_width);
  rows.slot_width = static_cast<std::uint32_t>(batch.slot_width);
  rows.dense = batch.dense.data();
  rows.slots = batch.slots.data();
  if (!batch.ragged_ends.empty()) {
    rows.ragged_ends = batch.ragged_ends.data();
    rows.ragged_slots = batch.ragged_slots.data();
    rows.ragged_values = batch.ragged_values.data();
  }
  return rows;
}

kernels::Labels kernel_labels(const EncodedBatch& batch) {
  kernels::Labels labels;
  labels.target = batch.target.data();
  labels.weight = batch.weight.empty() ? nullptr : batch.weight.data();
  labels.offset = batch.offset.empty() ? nullptr : batch.offset.data();
  return labels;
}

void keep_rows(EncodedBatch& batch, const std::vector<RowRole>& roles, RowRole role) {
  SAMOVAR_ASSERT(roles.size() == batch.rows);
  std::uint32_t kept = 0;
  std::uint32_t pairs = 0;
  std::uint32_t begin = 0;
  for (std::uint32_t row = 0; row < batch.rows; ++row) {
    const std::uint32_t end = batch.ragged_ends.empty() ? 0 : batch.ragged_ends[row];
    if (roles[row] == role && counts(batch, row)) {
      if (kept != row) {
        move_row(batch.dense, batch.dense_width, row, kept);
        move_row(batch.slots, batch.slot_width, row, kept);
        move_row(batch.target, 1, row, kept);
        move_row(batch.weight, 1, row, kept);
        move_row(batch.offset, 1, row, kept);
      }
      if (!batch.ragged_ends.empty()) {
        for (std::uint32_t i = begin; i < end; ++i, ++pairs) {
          batch.ragged_slots[pairs] = batch.ragged_slots[i];
          batch.ragged_values[pairs] = batch.ragged_values[i];
          if (!batch.ragged_inputs.empty()) batch.ragged_inputs[pairs] = batch.ragged_inputs[i];
        }
        batch.ragged_ends[kept] = pairs;
      }
      ++kept;
    }
    begin = end;
  }
  shrink_to(batch, kept, pairs);
}

RowSource::RowSource(BlockSource& source, const Schema& schema, const FeaturePipeline& pipeline,
                     const Splitter& splitter, RowSourceOptions options)
    : source_(source),
      schema_(schema),
      pipeline_(pipeline),
      splitter_(splitter),
      options_(std::move(options)) {
  for (std::size_t block = 0; block < source.blocks(); ++block) rows_ += source.rows(block);
}

bool RowSource::refresh() {
  if (!options_.refresh || !options_.refresh()) return false;
  for (Cache& cache : caches_) cache = Cache{};
  cache_bytes_ = 0;
  rows_ = 0;
  for (std::size_t block = 0; block < source_.blocks(); ++block) rows_ += source_.rows(block);
  return true;
}

Result<void> RowSource::sum(std::vector<double>& values) {
  return options_.council == nullptr ? Result<void>{} : options_.council->sum(values);
}

ReadPlan RowSource::plan() const {
  ReadPlan plan = pipeline_.read_plan(schema_);
  splitter_.add_columns(schema_, plan);
  plan.batch_rows = options_.batch_rows;
  plan.blocks_ahead = options_.blocks_ahead;
  plan.shuffle_blocks = false;
  plan.shuffle_rows = false;
  plan.passes = 1;
  return plan;
}

void RowSource::set_class_weights(std::vector<double> weights) {
  options_.class_weights = std::move(weights);
  for (Cache& cache : caches_) cache = Cache{};
  cache_bytes_ = 0;
}

void RowSource::weigh_classes(EncodedBatch& batch) const {
  if (options_.class_weights.empty()) return;
  if (batch.weight.empty()) batch.weight.assign(batch.rows, 1.0f);
  for (std::uint32_t row = 0; row < batch.rows; ++row) {
    const auto label = static_cast<std::size_t>(batch.target[row]);
    SAMOVAR_ASSERT(label < options_.class_weights.size());
    batch.weight[row] *= static_cast<float>(options_.class_weights[label]);
  }
}

void RowSource::encode(const Batch& batch, const std::vector<RowRole>& roles, RowRole role,
                       EncodedBatch& out) const {
  SAMOVAR_ASSERT(roles.size() == batch.rows());
  std::vector<std::uint32_t> chosen(roles.size());
  std::size_t count = 0;
  for (std::uint32_t row = 0; row < roles.size(); ++row) {
    chosen[count] = row;
    count += roles[row] == role ? 1 : 0;
  }
  pipeline_.encode(batch, std::span(chosen).first(count), true, out);
  if (!out.weight.empty()) keep_rows(out, std::vector<RowRole>(out.rows, role), role);
}

// The rows that are not for training in their places, the labels of all.
void RowSource::encode_held_out(const Batch& batch, const std::vector<RowRole>& roles, EncodedBatch& held,
                                EncodedBatch& out) const {
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t row = 0; row < roles.size(); ++row) {
    if (roles[row] != RowRole::train) chosen.push_back(row);
  }
  pipeline_.encode(batch, chosen, false, held);
  out.rows = batch.rows();
  out.dense_width = held.dense_width;
  out.slot_width = held.slot_width;
  out.dense.resize(out.rows * out.dense_width);
  out.slots.resize(out.rows * out.slot_width);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    std::copy_n(held.dense.data() + i * held.dense_width, held.dense_width,
                out.dense.data() + chosen[i] * out.dense_width);
    std::copy_n(held.slots.data() + i * held.slot_width, held.slot_width,
                out.slots.data() + chosen[i] * out.slot_width);
  }
  encode_labels(pipeline_, batch, out);
}

Result<void> RowSource::all(const TakeAll& take, const std::function<bool()>& wants_training) {
  refresh();
  SAMOVAR_TRY(const auto reader, BatchReader::open(source_, schema_, plan()));
  EncodedBatch encoded;
  EncodedBatch held;
  std::vector<RowRole> roles;
  for (;;) {
    SAMOVAR_TRY(const Batch* batch, reader->next());
    if (batch == nullptr) return {};
    splitter_.roles(*batch, roles);
    const bool whole = !wants_training || wants_training();
    if (whole || pipeline_.ragged()) {
      pipeline_.encode(*batch, true, encoded);
    } else {
      encode_held_out(*batch, roles, held, encoded);
    }
    SAMOVAR_TRY(const bool more, take(*batch, roles, encoded));
    if (!more) return {};
  }
}

Result<void> RowSource::each(RowRole role, const Take& take) {
  refresh();
  Cache& cache = caches_[static_cast<std::size_t>(role)];
  if (cache.full) {
    for (const EncodedBatch& batch : cache.batches) {
      SAMOVAR_TRY(const bool more, take(batch));
      if (!more) return {};
    }
    return {};
  }
  std::vector<EncodedBatch> kept;
  std::size_t bytes = cache_bytes_;
  bool whole = true;
  SAMOVAR_TRY(const auto reader, BatchReader::open(source_, schema_, plan()));
  EncodedBatch batch;
  std::vector<RowRole> roles;
  while (whole) {
    SAMOVAR_TRY(const Batch* read, reader->next());
    if (read == nullptr) break;
    splitter_.roles(*read, roles);
    encode(*read, roles, role, batch);
    if (batch.rows == 0) continue;
    weigh_classes(batch);
    if (cache.fits) {
      bytes += bytes_of(batch);
      cache.fits = bytes <= options_.cache_bytes;
      if (cache.fits) {
        kept.push_back(batch);
      } else {
        kept = {};
      }
    }
    SAMOVAR_TRY(whole, take(batch));
  }
  if (cache.fits && whole) {
    cache.batches = std::move(kept);
    cache.full = true;
    cache_bytes_ = bytes;
  }
  return {};
}

}  // namespace samovar::trainer
