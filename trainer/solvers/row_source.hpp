// The rows of a job as a solver sees them: read, split by their roles and encoded, over and over.
//
// What is small enough stays in memory after the first time; the rest is read again. Either way the rows come
// in the same order with the same bits.
//
// Threading: one thread; the reader has its own.
// Ownership: borrows everything it is made of.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.hpp"
#include "kernels/kernels.hpp"
#include "trainer/data/reader.hpp"
#include "trainer/features/encoded_batch.hpp"
#include "trainer/features/pipeline.hpp"

namespace samovar::trainer {

// A view of an encoded batch for the kernels.
kernels::Rows kernel_rows(const EncodedBatch& batch);
kernels::Labels kernel_labels(const EncodedBatch& batch);

// Leaves the rows of this role that count, in place, in their order. `roles` has one for each row.
void keep_rows(EncodedBatch& batch, const std::vector<RowRole>& roles, RowRole role);

struct RowSourceOptions {
  std::size_t cache_bytes = 16u << 20;
  std::uint32_t batch_rows = 4096;
  std::size_t blocks_ahead = 2;
  std::vector<double> class_weights;  // by class; empty: none
  // Of several workers this one reads its own rows; sums are those of all.
  class Council* council = nullptr;
  std::function<bool()> refresh;  // takes over the worker's blocks; true when they are others
  BlockSource* whole = nullptr;   // with the rows of all workers, of which it reads others' in other passes
};

class RowSource {
 public:
  using Take = std::function<Result<bool>(const EncodedBatch&)>;  // false: no more
  using TakeAll = std::function<Result<bool>(const Batch&, const std::vector<RowRole>&, EncodedBatch&)>;

  RowSource(BlockSource& source, const Schema& schema, const FeaturePipeline& pipeline,
            const Splitter& splitter, RowSourceOptions options);

  std::uint64_t rows() const noexcept { return rows_; }  // of the source, all roles
  const FeaturePipeline& pipeline() const noexcept { return pipeline_; }
  const Schema& schema() const noexcept { return schema_; }
  BlockSource& source() const noexcept { return source_; }
  BlockSource& whole() const noexcept { return options_.whole != nullptr ? *options_.whole : source_; }
  const Splitter& splitter() const noexcept { return splitter_; }

  // Null when this worker is alone.
  Council* council() const noexcept { return options_.council; }
  // Of all workers together; nothing to do for one alone.
  Result<void> sum(std::vector<double>& values);
  // Before a read: the rows may be others than before. True when they are.
  bool refresh();

  // What each batch is read with: the pipeline's plan and the splitter's columns.
  ReadPlan plan() const;
  void set_class_weights(std::vector<double> weights);
  void weigh_classes(EncodedBatch& batch) const;
  bool weighs_classes() const noexcept { return !options_.class_weights.empty(); }

  // The rows of a role that count, of a batch that was read; no class weights.
  void encode(const Batch& batch, const std::vector<RowRole>& roles, RowRole role, EncodedBatch& out) const;
  // The rows of a role, in the order of the source, with class weights.
  Result<void> each(RowRole role, const Take& take);
  // All rows, with their roles; no class weights. Where `wants_training` says no, asked before each batch,
  // the rows to train on have labels alone: their inputs are anything.
  Result<void> all(const TakeAll& take, const std::function<bool()>& wants_training = {});

 private:
  void encode_held_out(const Batch& batch, const std::vector<RowRole>& roles, EncodedBatch& held,
                       EncodedBatch& out) const;

  // Constant after construction.
  BlockSource& source_;
  const Schema& schema_;
  const FeaturePipeline& pipeline_;
  const Splitter& splitter_;
  RowSourceOptions options_;
  std::uint64_t rows_ = 0;
  // The caller's thread.
  struct Cache {
    std::vector<EncodedBatch> batches;
    bool full = false;  // all rows of the role are here
    bool fits = true;   // as far as is known
  };
  std::array<Cache, 3> caches_;  // by role
  std::size_t cache_bytes_ = 0;  // taken by those that are full
};

}  // namespace samovar::trainer
