// One job trained by several workers: as threads on cores of their own, or on nodes in virtual time.
//
// How seconds are counted. On threads: the processor seconds of the process between the first worker's first
// step and the last one's last, divided by the workers, and the wait of the worker that waited most for
// others beside it; a busy machine does not change the former. In virtual time: from the first worker's first
// step to the last one's last, see virtual_group.hpp.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "bench/training_data.hpp"
#include "bench/virtual_group.hpp"

namespace samovar::bench {

// A moment of the training.
struct CurvePoint {
  double rows = 0;     // of all workers
  double seconds = 0;  // as above
  double bytes = 0;    // sent by all
  double loss = 0;     // on the validation rows of the pass so far, the workers' mean
};

struct Outcome {
  double auc = 0;
  double log_loss = 0;
  double rows = 0;      // trained on, each pass counted
  double steps = 0;     // of the worker that made most
  double seconds = 0;   // see above
  double wall = 0;      // the same by the clock; in virtual time, by that
  double finish = 0;    // from then on until there is one model, by that clock
  double cpu = 0;       // of all workers
  double step_cpu = 0;  // virtual time: what a step took here, on average
  double waited = 0;    // of the worker that waited most
  double bytes = 0;     // sent by all, of the training
  double rounds = 0;    // of a worker: exchanges of the whole vector
  double exchange = 0;  // processor seconds of a worker for them
  double messages = 0;  // of all; virtual time only
  double tau = 0;
  std::string note;
  std::vector<CurvePoint> curve;
};

// Which blocks are whose.
struct Spread {
  bool runs = false;    // those that lie side by side are one worker's; else dealt in turn
  bool rotate = false;  // others in each pass
};
// `link` none: as threads. `step_seconds`: what a step costs in virtual time, see virtual_group.hpp. Fails
// when the job does.
Result<Outcome> train_together(TrainingData& data, const trainer::JobSpec& spec, std::size_t workers,
                               std::optional<VirtualLink> link, Spread spread = {}, double step_seconds = 0);
// As many threads on as many cores, of which each trains the whole job and knows nothing of the others: what
// this machine allows when nobody exchanges anything.
Result<Outcome> train_apart(TrainingData& data, const trainer::JobSpec& spec, std::size_t workers);

}  // namespace samovar::bench
