// What the worker does with a file: look at it, or make a data set's version of it.
//
// Threading: runs on the worker's first thread; run_ingest starts more.
#pragma once
#include "base/result.hpp"
#include "daemon/ingest/worker_channel.hpp"

namespace samovar::worker {

// Answers over the channel. An error is for the user, or says that samovard is gone.
Result<void> inspect(ingest::WorkerChannel& channel, const ingest::WorkerJob& job,
                     const ingest::Descriptor& upload);
Result<void> ingest_upload(ingest::WorkerChannel& channel, const ingest::WorkerJob& job,
                           const ingest::Descriptor& upload);

}  // namespace samovar::worker
