// Training in the worker: blocks from sealed shards in, checkpoints and a model out, all sealed here.
//
// Threading: the worker's first thread; trainer::train starts its own for reading ahead.
#pragma once
#include "base/result.hpp"
#include "daemon/ingest/worker_channel.hpp"
#include "daemon/jobs/train_protocol.hpp"
#include "kernels/kernels.hpp"

namespace samovar::worker {

// Answers over the channel. An error is for the user; Errc::conflict: samovard asked to stop.
// `table`: of a device to compute on; null: the CPU.
Result<void> train_model(ingest::WorkerChannel& channel, const jobs::TrainJob& job,
                         const kernels::Table* table = nullptr);

}  // namespace samovar::worker
