// Trains one model from a source of blocks: fit the pipeline, train, evaluate, explain. No files, no sockets:
// the worker gives blocks and takes what comes of them.
//
// Over a group every worker calls it with its own blocks; together they fit one pipeline, train one model and
// evaluate it on all rows, and the lead returns it.
//
// Exact resume: a run that begins from a checkpoint of the same spec and source ends with the same bits. That
// holds for one worker, and for several that go in step (StrategySpec) when each has the blocks it had.
//
// Threading: one thread calls train(); it starts its own for reading ahead.
#pragma once
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "trainer/data/reader.hpp"
#include "trainer/data/schema.hpp"
#include "trainer/spec.hpp"
#include "trainer/sync/peer_group.hpp"

namespace samovar::kernels {
struct Table;
}

namespace samovar::trainer {

struct TrainProgress {
  std::string_view step;   // "preparing", "training", "evaluating", "explaining"
  double share = 0;        // of the whole, 0 to 1
  std::uint64_t rows = 0;  // trained on so far, each pass counted
  std::uint32_t pass = 0;
};

struct TrainMetric {
  std::uint64_t step = 0;  // updates so far
  std::uint64_t rows = 0;
  double seconds = 0;                                  // of training
  std::vector<std::pair<std::string, double>> values;  // "train_loss", "valid_loss", "valid_auc", "rate", …
};

// Hands its bytes over, piece after piece, until one is refused. A checkpoint may be most of what a worker
// holds: nobody has to have it in memory a second time.
using CheckpointPieces = std::function<Result<void>(const std::function<Result<void>(ByteView)>& take)>;

class TrainObserver {
 public:
  virtual ~TrainObserver() = default;
  // All of them: false asks to stop soon; train() then returns Errc::conflict after a last checkpoint.
  virtual bool progress(const TrainProgress& progress) = 0;
  virtual bool metric(const TrainMetric& metric) = 0;
  virtual void log(std::string_view level, std::string_view text) = 0;
  // Where it computes, as often as that changes: a table's name. `trouble`: why not, or no longer, on the
  // device that was given (TrainOptions::table); a part of a sentence. After trouble of a device that had
  // begun train() returns an error: what it left is not to be trusted, the last checkpoint is.
  virtual void computes_on(std::string_view, std::string_view) {}
  // To be kept before it returns.
  virtual Result<void> checkpoint(std::uint64_t step, const CheckpointPieces& pieces) = 0;
};

struct TrainOptions {
  unsigned threads = 1;
  double checkpoint_seconds = 30;          // at most so much work is lost
  std::uint64_t checkpoint_steps = 0;      // tests: after every so many updates instead
  std::uint64_t memory_bytes = 64u << 20;  // beside the weights
  // The other workers of the job; null: there are none. The source lists all blocks of the data set; those of
  // the group's membership are this worker's and are read.
  PeerGroup* group = nullptr;
  bool joining = false;  // the others have begun without this worker
  // Of a device that the streaming solvers step their weights on; null: the CPU.
  const kernels::Table* table = nullptr;
};

struct Trained {
  Bytes model;                  // empty when another worker leads the group; docs/formats/model.md,
                                // trainer/models/model_file.hpp
  std::string evaluation_json;  // docs/formats/model.md "Evaluation"
  std::string headline_json;    // a few numbers of it
  std::string signature_json;
  std::string summary_json;  // {"seconds","rows","passes","steps","rows_per_second","notes":[…]}
};

Result<Trained> train(BlockSource& source, const Schema& schema, const JobSpec& spec,
                      std::optional<ByteView> checkpoint, const TrainOptions& options,
                      TrainObserver& observer);

}  // namespace samovar::trainer
