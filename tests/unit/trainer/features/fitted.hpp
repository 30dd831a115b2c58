// A pipeline fitted to a table of a test, with its split and its notes.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/memory_table.hpp"

namespace samovar::trainer {

struct Fitted {
  std::unique_ptr<Splitter> splitter;
  std::unique_ptr<FeaturePipeline> pipeline;
  std::vector<std::string> notes;
};

inline JobSpec spec_for(std::string target) {
  JobSpec spec;
  spec.name = "test";
  spec.dataset_id = "dst_test";
  spec.target = std::move(target);
  return spec;
}

inline Result<Fitted> try_fit(tests::MemoryTable& table, const JobSpec& spec) {
  Fitted out;
  SAMOVAR_TRY(out.splitter, Splitter::make(table, table.schema(), spec));
  SAMOVAR_TRY(out.pipeline, FeaturePipeline::fit(table, table.schema(), spec, *out.splitter, out.notes));
  return out;
}

inline Fitted fit(tests::MemoryTable& table, const JobSpec& spec) {
  auto fitted = try_fit(table, spec);
  if (!fitted) {
    ADD_FAILURE() << fitted.error().message();
    std::abort();
  }
  return *std::move(fitted);
}

// All batches in the order of the table, with their targets.
template <class Do>
void for_each_batch(tests::MemoryTable& table, const FeaturePipeline& pipeline, Do work) {
  ReadPlan plan = pipeline.read_plan(table.schema());
  plan.shuffle_blocks = false;
  plan.batch_rows = 300;
  const auto reader = BatchReader::open(table, table.schema(), plan);
  ASSERT_TRUE(reader) << reader.error().message();
  EncodedBatch out;
  for (;;) {
    const auto batch = (*reader)->next();
    ASSERT_TRUE(batch) << batch.error().message();
    if (*batch == nullptr) return;
    pipeline.encode(**batch, true, out);
    work(out);
  }
}

}  // namespace samovar::trainer
