// Predictions for whole data sets and uploads, in the worker: rows in, a sealed CSV out.
//
// Threading: the worker's first thread; readers and parsers start their own.
#pragma once
#include "base/result.hpp"
#include "daemon/ingest/worker_channel.hpp"
#include "daemon/jobs/train_protocol.hpp"

namespace samovar::worker {

// Answers over the channel. An error is for the user; Errc::conflict: samovard asked to stop.
Result<void> score_rows(ingest::WorkerChannel& channel, const jobs::ScoreJob& job);

}  // namespace samovar::worker
