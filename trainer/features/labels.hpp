// Of a batch, what is to be told, without what it is told from: much less work than encoding it.
//
// Threading: any thread; pure.
#pragma once
#include "trainer/data/reader.hpp"
#include "trainer/features/encoded_batch.hpp"
#include "trainer/features/pipeline.hpp"

namespace samovar::trainer {

// Target, weight and offset of the batch's rows; the inputs in `out` stay as they are. The batch was read by
// a plan of this pipeline.
void encode_labels(const FeaturePipeline& pipeline, const Batch& batch, EncodedBatch& out);

}  // namespace samovar::trainer
